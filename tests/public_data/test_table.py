from __future__ import annotations

from judgekit.public_data import load_catalog
from tests.public_data import places
from tests.public_data.material import needs_reference
from tests.public_data.table import README, with_tables


@needs_reference
def test_the_tables_of_the_readme_are_what_the_data_make_now() -> None:
    text = README.read_text(encoding="utf-8")
    assert with_tables(text) == text, "run `python -m tests.public_data.table`"


def test_the_readme_names_every_set_with_its_licence() -> None:

    text = README.read_text(encoding="utf-8")
    for one in load_catalog().sets:
        assert f"`{one.name}`" in text
        assert one.licence in text


def test_the_docs_say_where_every_figure_stands() -> None:
    text = (README.parents[1] / "docs" / "published.md").read_text(encoding="utf-8")
    for name, value in vars(places).items():
        if name.isupper() and isinstance(value, dict):
            for where in value.values():
                path = where if isinstance(where, str) else where[0]
                stands = _as_told(path if not path.startswith("orders.") else f"overall.{path}")
                assert f"`{stands}`" in text, (name, path)


def _as_told(path: str) -> str:
    """A path as the docs write it: one correlation stands for all three, a value for its place."""
    path = path.removesuffix(".value") if ".ece." not in path else path
    within = path.startswith("overall.groupings")
    return path.replace("spearman", "pearson").replace("kendall", "pearson") if within else path
