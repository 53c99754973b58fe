"""Which test shows, by a seeded simulation, that an interval covers as often as it says."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import judgekit.stats

SHOWN = {
    "agreement.cohen_kappa": "test_kappa_covers_at_its_level"
    " test_kappa_and_pi_over_cases_cover_where_items_would_not"
    " test_the_large_sample_interval_of_kappa_covers_for_many_items",
    "agreement.scott_pi": "test_pi_covers_at_its_level"
    " test_kappa_and_pi_over_cases_cover_where_items_would_not",
    "alpha.krippendorff_alpha": "test_nominal_alpha_covers_at_its_level"
    " test_alpha_of_ratings_covers_at_its_level test_alpha_of_ratios_covers_at_its_level"
    " test_alpha_over_cases_covers_at_its_level",
    "attribution.shapley_r2": "test_shares_cover_at_their_level",
    "bias.perturbation_effect": "test_an_effect_covers_at_its_level",
    "bias.position_bias": "test_position_bias_covers_at_its_level",
    "bias.self_preference": "test_preferring_oneself_covers_at_its_level",
    "method_comparison.bland_altman": "test_the_bias_and_its_limits_cover_at_their_level"
    " test_bias_and_limits_over_cases_cover_at_their_level",
    "method_comparison.lin_ccc": "test_concordance_covers_at_its_level",
    "reliability.conformal_quantile": "test_new_items_are_covered_as_often_as_stated",
    "method_comparison.correlation": "test_correlations_cover_at_their_level"
    " test_smoothed_correlations_cover_where_those_of_fisher_do_not",
    "agreement_coefficients.smoothed_interval": "test_smoothed_kappa_and_concordance_cover"
    " test_smoothed_kappa_covers_at_92_percent_prevalence"
    " test_smoothed_intervals_over_cases_cover_where_items_would_not",
    "method_comparison.grouped_correlation": "test_the_mean_over_groups_covers_at_its_level",
    "selective.auroc": "test_the_area_covers_at_its_level"
    " test_the_area_over_cases_covers_where_that_over_items_does_not",
    "agreement_coefficients.coefficient_interval": "test_the_jackknife_interval_of_a_correlation"
    "_covers_at_its_level",
    "intervals.mean": "test_the_t_interval_of_clusters_covers_at_its_level",
    "intervals.rating_mean": "test_the_mean_of_ratings_near_the_ceiling_covers_at_its_level"
    " test_the_mean_of_even_ratings_covers_at_its_level",
    "intervals.value_mean": "test_a_few_zeros_among_good_values_seldom_let_a_mean_pass",
    "raters.icc": "test_reliability_covers_at_its_level"
    " test_absolute_agreement_covers_at_its_level",
    "agreement.calibrate_ties": "test_the_cross_fitted_accuracy_covers_at_its_level",
    "agreement.pairwise_accuracy": "test_the_accuracy_of_pairs_covers_at_its_level",
    "paired.paired_difference": "test_the_paired_interval_covers_when_hardly_an_item_differs"
    " test_the_interval_for_skewed_differences_covers_lognormal_ones"
    " test_the_paired_interval_of_repeated_cases_covers_at_its_level",
    "paired.amount_difference": "test_the_interval_of_amounts_covers_far_from_zero",
    "paired.paired_proportions": "test_the_change_of_a_pass_rate_covers_at_its_level",
    "paired.pass_rate_difference": "test_the_change_of_repeated_cases_covers_at_its_level",
    "ranking.davidson": "test_strengths_cover_at_their_level"
    " test_the_advantage_of_the_first_slot_and_the_weight_of_ties_cover",
    "ranking.rao_kupper": "test_rao_kuppers_strengths_cover_at_their_level",
    "ppi.crossfit_isotonic_mean": "test_recalibrated_scores_cover",
    "ppi.ppi_mean": "test_the_mean_covers_and_is_sharper_than_labels_alone"
    " test_clustered_labels_cover",
    "ppi.stratified_ppi_mean": "test_strata_cover_and_tune_alone_where_they_can",
    "ranking.bradley_terry": "test_strengths_cover_at_their_level"
    " test_strengths_over_prompts_cover_at_their_level",
    "ranking.length_controlled_win_rate": "test_the_length_controlled_rate_covers_at_its_level",
    "raters.fleiss_kappa": "test_fleiss_kappa_covers_at_its_level"
    " test_coefficients_over_cases_cover_at_their_level",
    "raters.gwet_ac": "test_ac1_covers_at_its_level"
    " test_coefficients_over_cases_cover_at_their_level",
    "intervals.clustered_proportion": "test_the_clustered_rate_covers_at_its_level",
    "intervals.difference_of_proportions": "test_the_difference_of_rates_covers_at_its_level",
    "intervals.pooled_proportion": "test_the_rate_over_all_outcomes_covers_at_its_level",
    "intervals.proportion": "test_intervals_of_a_rate_cover_at_their_level",
    "reliability.ece": "test_a_calibrated_judge_of_repeated_cases_seldom_looks_miscalibrated",
    "replacement.alt_test": "test_the_advantage_covers_at_its_level",
    "replacement.ceiling_gap": "test_the_gap_covers_at_its_level",
    "resample.bootstrap": "test_the_bootstrap_covers_at_its_level"
    " test_the_bootstrap_of_a_median_covers_at_its_level"
    " test_the_bca_bootstrap_of_a_spread_covers_at_its_level"
    " test_the_bootstrap_of_clusters_covers_near_its_level"
    " test_the_bootstrap_of_any_function_of_clustered_rows_covers",
    "rogan_gladen.corrected_pass_rate": "test_the_corrected_rate_covers_at_its_level",
    "rogan_gladen.judge_rates": "test_the_rates_of_a_judge_cover_at_their_level",
    "correction.active_mean": "test_active_labels_cover_at_their_level",
    "correction.labels_look_random": "test_the_check_covers_and_seldom_cries_wolf",
    "correction.poststratified_mean": "test_the_post_stratified_rate_covers_at_its_level"
    " test_post_stratified_ratings_cover_at_their_level",
    "bias.length_slope": "test_the_slope_covers_at_its_level",
    "bias.scale_use": "test_the_ratio_covers_at_its_level"
    " test_the_ratio_over_cases_covers_where_that_over_items_does_not",
    "reliability.brier_decomposition": "test_scores_cover_at_their_level"
    " test_scores_of_repeated_cases_cover_at_their_level",
    "reliability.log_loss": "test_scores_cover_at_their_level"
    " test_scores_of_repeated_cases_cover_at_their_level",
    "selective.abstain_threshold": "test_the_error_is_exceeded_as_seldom_as_stated",
    "selective.risk_coverage": "test_the_area_of_a_curve_covers_at_its_level",
    "sequential.mean_confidence_sequence": "test_a_confidence_sequence_covers_at_every_look",
    "sequential.restarted_sequence": "test_a_restarted_sequence_seldom_leaves_the_true_mean_out"
    "_at_any_look",
    "trend.item_slopes": "test_item_slopes_cover_at_their_level",
    "paired.clustered_win_rate": "test_the_win_rate_of_several_comparisons_a_prompt"
    "_covers_at_its_level",
    "paired.win_rate": "test_the_win_rate_covers_at_its_level",
}
"""Functions that give an interval, and the tests (in this folder) that simulate it."""

MADE_OF_THESE = {
    "reliability.conformal_set": "reliability.conformal_quantile",
    "correction.corrected_mean": "ppi.ppi_mean",
    "agreement_coefficients.interval_by": "agreement.cohen_kappa",
    "agreement_coefficients.chance_interval": "selective.auroc",
    "intervals.rate": "intervals.pooled_proportion",
    "intervals.share_interval": "intervals.clustered_proportion",
    "intervals.wilson": "intervals.proportion",
    "reliability.reliability_table": "intervals.pooled_proportion",
    "paired_comparisons.coefficients": "ranking.bradley_terry",
}
"""Functions whose interval is that of another one."""

NO_INTERVAL = {
    "estimate.undefined_estimate", "power.labels_for_ppi",
    "power.mde_paired", "power.sample_size_mcnemar", "power.sample_size_paired",
    "power.sample_size_sign", "power.sample_size_threshold", "power.sample_size_two_proportions",
    "quantiles.check_level", "quantiles.normal_quantile", "quantiles.t_quantile",
}  # fmt: skip
"""Functions that know a level and give no interval."""

LEVELS = {"level", "confidence", "alpha", "delta"}


def with_a_level() -> set[str]:
    found = set()
    for module in pkgutil.iter_modules(judgekit.stats.__path__):
        room = importlib.import_module(f"judgekit.stats.{module.name}")
        found |= {
            f"{module.name}.{name}"
            for name, function in inspect.getmembers(room, inspect.isfunction)
            if function.__module__ == room.__name__
            and not name.startswith("_")
            and LEVELS & {p for p, of in inspect.signature(function).parameters.items()
                          if of.annotation in ("float", "AlphaLevel")}
        }  # fmt: skip
    return found


def test_every_function_with_a_level_is_in_the_table() -> None:
    in_table = {*SHOWN, *MADE_OF_THESE, *NO_INTERVAL, "reliability.ece"}
    assert with_a_level() - in_table == set()
    assert {*SHOWN, *MADE_OF_THESE} - with_a_level() <= {"reliability.ece"}
    assert set(MADE_OF_THESE.values()) <= set(SHOWN)


@pytest.mark.parametrize("function", SHOWN)
def test_the_simulation_of_a_function_is_there(function: str) -> None:
    here = "\n".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    missing = [name for name in SHOWN[function].split() if f"def {name}(" not in here]
    assert missing == []
