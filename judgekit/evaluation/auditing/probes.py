"""The list of all probes, in the order they are made, and how they are found by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.errors import UnknownNameError
from judgekit.evaluation.auditing.authority import AUTHORITY
from judgekit.evaluation.auditing.criterion_order import CRITERION_ORDER
from judgekit.evaluation.auditing.formatting import FORMATTING
from judgekit.evaluation.auditing.identical import IDENTICAL
from judgekit.evaluation.auditing.injection import INJECTION
from judgekit.evaluation.auditing.paraphrase import PARAPHRASE
from judgekit.evaluation.auditing.position import POSITION
from judgekit.evaluation.auditing.scale_levels import SCALE
from judgekit.evaluation.auditing.self_preference import SELF_PREFERENCE
from judgekit.evaluation.auditing.stability import STABILITY
from judgekit.evaluation.auditing.verbosity import VERBOSITY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.evaluation.auditing.probe import Probe

PROBES = (
    SCALE, STABILITY, POSITION, IDENTICAL, VERBOSITY, FORMATTING, AUTHORITY, SELF_PREFERENCE,
    PARAPHRASE, CRITERION_ORDER, INJECTION,
)  # fmt: skip
"""Every probe; those that share their questions with most others come first."""


def chosen_probes(names: Sequence[str] = (), probes: Sequence[Probe] = PROBES) -> tuple[Probe, ...]:
    """The probes of these names."""
    known = {probe.name for probe in probes}
    wanted = [name.strip().lower().replace("-", "_") for name in names if name.strip()]
    for name in wanted:
        if name not in known:
            raise UnknownNameError("probe", name, known)
    return tuple(probe for probe in probes if not wanted or probe.name in wanted)
