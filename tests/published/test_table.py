from __future__ import annotations

from judgekit.published.catalog import load_catalog
from tests.published.material import needs_reference
from tests.published.table import README, with_tables


@needs_reference
def test_the_tables_of_the_readme_are_what_the_data_make_now() -> None:
    text = README.read_text(encoding="utf-8")
    assert with_tables(text) == text, "run `python -m tests.published.table`"


def test_the_readme_names_every_set_with_its_licence() -> None:

    text = README.read_text(encoding="utf-8")
    for one in load_catalog().sets:
        assert f"`{one.name}`" in text
        assert one.licence in text
