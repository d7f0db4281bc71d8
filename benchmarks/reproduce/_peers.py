"""Other packages, called as their documentation calls them, on counts of two groups.

A call turns true labels, predictions and groups into a decision: whether a user of the package would say that the rate
differs between the groups. Nothing of skfairtest is imported here, so that a package which cannot be installed beside
it runs in an interpreter of its own, by python -m benchmarks.reproduce._peers: the data sets are read as JSON from
standard input, and the decisions and seconds are written as JSON.
"""

import contextlib
import io
import json
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import numpy as np

ALPHA = 0.05
TPR, SELECTION = "true_positive_rate", "selection_rate"
#: The cells of a table: true negative, false positive, false negative, true positive.
TRUE, PREDICTED = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
GROUPS = np.array(["a", "b"])
#: Resamples of what resamples: more do not change how often a test rejects, only how long it takes.
N_PERMUTATIONS, N_BOOTSTRAP = 999, 50


def people(counts):
    """Return true labels, predictions and groups of counts (2, 4)."""
    counts = np.asarray(counts).ravel()
    label, predicted = np.tile(TRUE, 2), np.tile(PREDICTED, 2)
    return (*(np.repeat(each, counts) for each in (label, predicted)), np.repeat(np.repeat(GROUPS, 4), counts))


def those_meant(y_true, y_pred, group, metric):
    """Return predictions and groups of those whom the metric is about: all, or the true positives."""
    about = y_true == 1 if metric == TPR else np.ones(len(y_true), dtype=bool)
    return y_pred[about], group[about]


def two_by_two(y_true, y_pred, group, metric):
    """Return events and people of each group."""
    predicted, group = those_meant(y_true, y_pred, group, metric)
    here = [predicted[group == name] for name in GROUPS]
    return np.array([each.sum() for each in here]), np.array([len(each) for each in here])


def contingency(*data):
    events, people = two_by_two(*data)
    return np.stack([events, people - events], axis=1)


def scipy_fisher(*data):
    from scipy.stats import fisher_exact

    return fisher_exact(contingency(*data))[1] <= ALPHA


def scipy_barnard(*data):
    from scipy.stats import barnard_exact

    return barnard_exact(contingency(*data).T).pvalue <= ALPHA


def scipy_permutation(*data):
    from scipy.stats import permutation_test

    predicted, group = those_meant(*data)

    def difference(first, second, axis):
        return first.mean(axis=axis) - second.mean(axis=axis)

    samples = [predicted[group == name].astype(float) for name in GROUPS]
    return permutation_test(samples, difference, n_resamples=N_PERMUTATIONS, vectorized=True, rng=0).pvalue <= ALPHA


def statsmodels_z(*data):
    from statsmodels.stats.proportion import proportions_ztest

    return proportions_ztest(*two_by_two(*data))[1] <= ALPHA


def statsmodels_two(*data):
    from statsmodels.stats.proportion import test_proportions_2indep

    (x1, x2), (n1, n2) = two_by_two(*data)
    return test_proportions_2indep(x1, n1, x2, n2).pvalue <= ALPHA


def fairlearn_intervals(y_true, y_pred, group, metric):
    from fairlearn import metrics

    frame = metrics.MetricFrame(
        metrics=getattr(metrics, metric), y_true=y_true, y_pred=y_pred, sensitive_features=group,
        n_boot=N_BOOTSTRAP, ci_quantiles=[ALPHA / 2, 1 - ALPHA / 2], random_state=0,
    )  # fmt: skip
    low, high = frame.by_group_ci
    return frame.difference_ci()[0] > 0, low.max() > high.min()


def aequitas_significance(y_true, y_pred, group, metric):
    import pandas as pd
    from aequitas.bias import Bias
    from aequitas.group import Group

    frame = pd.DataFrame({"score": y_pred, "label_value": y_true, "group": group.astype(object)})
    table, _ = Group().get_crosstabs(frame)
    measure = "tpr" if metric == TPR else "pprev"
    found = Bias().get_disparity_predefined_groups(
        table, original_df=frame, ref_groups_dict={"group": "a"}, check_significance=True, alpha=ALPHA,
        mask_significance=False, selected_significance=[measure],
    )  # fmt: skip
    return found.set_index("attribute_value").loc["b", f"{measure}_significance"] <= ALPHA


def aif360_range(y_true, y_pred, group, metric):
    import pandas as pd
    from aif360.sklearn import metrics

    index = pd.Index(group, name="group")
    truth, predicted = pd.Series(y_true, index=index), pd.Series(y_pred, index=index)
    about = {"prot_attr": "group", "priv_group": "a"}
    if metric == TPR:
        return abs(metrics.equal_opportunity_difference(truth, predicted, **about)) > 0.1
    ratio = metrics.disparate_impact_ratio(truth, predicted, **about)
    return not 0.8 <= ratio <= 1.25


def vfairness_permutation(y_true, y_pred, group, metric):
    from vfairness.evaluation.vfairness_metrics import robustness

    options = {"n_permutations": N_PERMUTATIONS, "random_state": 0}
    if metric == TPR:
        return robustness.permutation_test_equal_opportunity(y_true, y_pred, group, **options).p_value <= ALPHA
    return robustness.permutation_test_demographic_parity(y_pred, group, **options).p_value <= ALPHA


def vfairness_contingency(y_true, y_pred, group, metric):
    from vfairness.evaluation.vfairness_metrics import robustness

    if metric == TPR:
        return robustness.test_equalized_odds_chi_square(y_true, y_pred, group)["tpr_test"].p_value <= ALPHA
    return robustness.contingency_test(y_pred, group).p_value <= ALPHA


def _equiboots(y_true, y_pred, group, metric, **options):
    import pandas as pd
    from equiboots import EquiBoots

    booted = EquiBoots(
        y_true=y_true, y_pred=y_pred, y_prob=y_pred.astype(float), fairness_df=pd.DataFrame({"group": group}),
        fairness_vars=["group"], reference_groups=["a"], **options,
    )  # fmt: skip
    booted.grouper(groupings_vars=["group"])
    name = "Recall" if metric == TPR else "Predicted Prevalence"
    return booted, booted.get_metrics(booted.slicer("group")), name


def equiboots_chi_square(*data):
    booted, metrics, name = _equiboots(*data)
    config = {
        "test_type": "chi_square", "alpha": ALPHA, "adjust_method": "none", "confidence_level": 1 - ALPHA,
        "classification_task": "binary_classification",
    }  # fmt: skip
    found = booted.analyze_statistical_significance(metrics, "group", config)
    return found["omnibus"][name].is_significant


def equiboots_bootstrap(*data):
    booted, metrics, name = _equiboots(*data, bootstrap_flag=True)
    differences = booted.calculate_differences(metrics, "group")
    measured = f"{name.replace(' ', '_')}_diff"
    config = {
        "test_type": "bootstrap_test", "alpha": ALPHA, "adjust_method": "none", "confidence_level": 1 - ALPHA,
        "classification_task": "binary_classification", "tail_type": "two_tailed", "metrics": [measured],
    }  # fmt: skip
    found = booted.analyze_statistical_significance(metrics, "group", config, differences)
    return found["b"][measured].is_significant


@dataclass(frozen=True)
class Call:
    """A call of a package, what its user reads as a difference, and on how many data sets it is run.

    `decide` returns one decision for each way of reading its result.
    """

    package: str
    what: str
    decide: Callable[..., object]
    reads: tuple[str, ...] = ("p at most .05",)
    data_sets: int = 200


CALLS = (
    Call("scipy", "fisher_exact", scipy_fisher),
    Call("scipy", "barnard_exact", scipy_barnard),
    Call("scipy", "permutation_test, difference of means", scipy_permutation),
    Call("statsmodels", "proportions_ztest", statsmodels_z),
    Call("statsmodels", "test_proportions_2indep", statsmodels_two),
    Call("fairlearn", "MetricFrame", fairlearn_intervals,
         ("difference_ci without 0", "by_group_ci that do not overlap"), 100),
    Call("aequitas", "Bias, check_significance", aequitas_significance),
    Call("aif360", "disparate_impact_ratio, equal_opportunity_difference", aif360_range,
         ("outside of the usual range; no test",)),
    Call("vfairness", "permutation_test_equal_opportunity, ..._demographic_parity", vfairness_permutation),
    Call("vfairness", "test_equalized_odds_chi_square, contingency_test", vfairness_contingency),
    Call("equiboots", "chi_square", equiboots_chi_square, ("is_significant",)),
    Call("equiboots", "bootstrap_test, its defaults", equiboots_bootstrap, ("is_significant",)),
)  # fmt: skip
PACKAGES = tuple(dict.fromkeys(call.package for call in CALLS))


def version_here(package):
    """Return the version of an installed package, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def decided(decide, data, metric):
    """Return the decisions of a call, or None where it raises: a package without an answer decides nothing."""
    try:
        return [bool(each) for each in np.atleast_1d(decide(*data, metric))]
    except Exception:
        return None


def run_call(call, designs, limit):
    """Decisions of a call and its CPU seconds, by design {name: (metric, counts of each data set)}.

    The very first data set is decided once more before, so that no import is timed.
    """
    out = {}
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        for name, (metric, tables) in designs.items():
            if not out:
                decided(call.decide, people(tables[0]), metric)
            found = {"rejected": [], "seconds": []}
            for counts in tables[: min(limit, call.data_sets)]:
                data, began = people(counts), time.process_time()
                found["rejected"].append(decided(call.decide, data, metric))
                found["seconds"].append(time.process_time() - began)
            out[name] = found
    return out


def run(package, designs, limit):
    """What all calls of a package decide, by call and design."""
    return {call.what: run_call(call, designs, limit) for call in CALLS if call.package == package}


def main():
    package, designs, limit = json.load(sys.stdin)
    found = version_here(package)
    json.dump({"version": found, "calls": run(package, designs, limit) if found else {}}, sys.stdout)


if __name__ == "__main__":
    main()
