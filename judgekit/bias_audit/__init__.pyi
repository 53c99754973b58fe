from .api import (
    AuditPlan as AuditPlan,
    AuditStopReason as AuditStopReason,
    ProbeSession as ProbeSession,
    ask_all as ask_all,
    audit as audit,
    audit_sync as audit_sync,
    build_audit_inputs as build_audit_inputs,
    count_failures as count_failures,
    plan_audit as plan_audit,
    run_audit as run_audit,
    select_probes as select_probes,
    total_spent as total_spent,
)
from .consistency import REPEATS_COUNT as REPEATS_COUNT
from .inputs import (
    DEFAULT_N_ATTACKS as DEFAULT_N_ATTACKS,
    DEFAULT_N_REPEATS as DEFAULT_N_REPEATS,
    AttackCorpus as AttackCorpus,
    AuditInputs as AuditInputs,
    AuditOptions as AuditOptions,
    read_attacks as read_attacks,
    select_cases as select_cases,
)
from .probe import GradeProbe as GradeProbe, PairProbe as PairProbe, ProbeRunner as ProbeRunner
from .results import (
    Audit as Audit,
    Effect as Effect,
    EffectScale as EffectScale,
    EffectVerdict as EffectVerdict,
    Margins as Margins,
    ProbeResult as ProbeResult,
)
from .self_test import (
    ALSO_SEEN as ALSO_SEEN,
    FAIR_JUDGE as FAIR_JUDGE,
    PLANTED_BIASES as PLANTED_BIASES,
    SELF_TEST_CASES as SELF_TEST_CASES,
    SELF_TEST_HALVES as SELF_TEST_HALVES,
    SelfTest as SelfTest,
    run_self_test as run_self_test,
)
