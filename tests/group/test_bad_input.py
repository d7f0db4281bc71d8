"""What is refused: one row a mistake, with the words that name the parameter, what was found and what to do."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import DataConversionWarning, UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_score

from skfairtest import CountTable, FairnessAudit, FairnessTest, Rate, ScoreMetric, SubgroupScan, make_fairness_scorer

N = 40
PLACE = np.arange(N)
SEX, SITE = np.tile(list("ffffmmmm"), 5), np.tile(list("xxyy"), 10)
TRUE, PRED = np.tile([0, 1, 1, 0, 1, 0, 0, 1], 5), np.tile([0, 1, 0, 0, 1, 1, 0, 1], 5)
SCORE = (PLACE % 9 + 1) / 10
GOOD = {"y_true": TRUE, "y_pred": PRED, "sensitive_features": {"sex": SEX}, "control_features": {"site": SITE}}
#: The same people without strata, with a metric that needs no true labels; of three groups; of words; of numbers.
RATE = {"metric": "selection_rate", "control_features": None}
THREE = {"sensitive_features": {"sex": np.tile(list("ffmmmxxx"), 5)}}
WORDS = np.array(["granted", "denied"])
ODDS = {"disparity": "odds_ratio", **RATE}
EQUIVALENCE = {"alternative": "equivalence"}
CURVE = {"metric": "kuiper_calibration", "y_score": SCORE, "y_pred": None, "control_features": None}
UNKNOWN = {"missing": "bounds", "sensitive_features": {"sex": np.where(PLACE == 3, None, SEX)}, **RATE}


def run(**changes):
    """Test the good people with some arguments changed."""
    arguments = {**GOOD, **changes}
    return FairnessTest.from_predictions(arguments.pop("y_true"), arguments.pop("y_pred"), **arguments)


def test_the_good_people_are_good():
    assert 0 < run().p_value_ <= 1


def share(y_true, y_pred):
    return float(np.mean(y_pred))


def gap(y_true, y_pred, sensitive_features):
    return float(np.ptp([y_pred[sensitive_features == group].mean() for group in np.unique(sensitive_features)]))


def fails(y_true, y_pred, sensitive_features):
    raise RuntimeError("no luck")


def changed(values, value, where=3):
    """Return values one of which is another."""
    out = np.asarray(values).astype(object)
    out[where] = value
    return out.tolist()


WEIGHT = 1.0 + PLACE % 3
#: The arguments that are changed, and what the error says.
REFUSED = [
    # Columns: their length, their order, what is missing.
    *(({name: GOOD[name][:-1]}, r"different lengths, (40 and 39|39 and 40)") for name in ("y_true", "y_pred")),
    *(
        ({name: {key: values[:-1] for key, values in GOOD[name].items()}}, r"different lengths, (40 and 39|39 and 40)")
        for name in ("sensitive_features", "control_features")
    ),
    *(({name: changed(GOOD[name], None)}, f"{name} has 1 missing value among 40") for name in ("y_true", "y_pred")),
    ({"y_true": changed(TRUE, None), "metric": "selection_rate"}, "y_true has 1 missing value"),
    *(({"sensitive_features": {"sex": changed(SEX, gone)}},
       r"'sex'\) has 1 missing value among 40: missing='exclude' .*missing='bounds'")
      for gone in (None, np.nan, pd.NA, pd.NaT)),
    ({"sensitive_features": pl.DataFrame({"sex": changed(SEX, None)})}, r"'sex'.*1 missing"),
    ({"control_features": {"site": changed(SITE, None)}}, r"control_features.*'site'.* has 1 missing value.*: leave"),
    ({"missing": "drop"}, "missing must be one of .*'drop'"),
    ({"y_true": pd.Series(TRUE), "y_pred": pd.Series(PRED).iloc[::-1]},
     r"y_true and y_pred have pandas indexes that hold the same labels in another order.*align"),
    ({"y_pred": pd.Series(PRED), "sensitive_features": pd.Series(SEX, index=range(2, N + 2), name="sex")},
     r"sensitive_features have pandas indexes that share 38 of 40 labels.*align them.*or pass arrays"),
    ({"y_true": pd.DataFrame({"y": TRUE}), "y_pred": pd.Series(PRED).iloc[::-1]}, "align"),
    ({"y_pred": pd.DataFrame({"p": PRED, "q": PRED})}, "y_pred is a table"),
    ({"y_true": [], "y_pred": [], "sensitive_features": [], "control_features": None}, "empty"),
    # Groups.
    ({"sensitive_features": {"sex": ["f"] * N}}, r"\(sex\) holds one group only, 'f'.*at least two groups"),
    ({"sensitive_features": {"sex": ["f"] * 39 + ["m"]}}, "two groups of 2 or more people; found 'f': 39, 'm': 1"),
    *(({name: "sex"}, rf"{name} is the string 'sex': .*df\['sex'\]")
      for name in ("sensitive_features", "control_features")),
    ({"control_features": {"sex": SITE}}, "'sex'"),
    ({"sensitive_features": {"age": PLACE}}, "'age' has 40 different numbers, more than 20. Use Correlation"),
    # Labels.
    ({"y_pred": PLACE % 3}, "pos_label is needed: there are 3 labels, 0, 1, 2"),
    ({"y_true": None, "y_pred": PLACE % 11, **RATE}, "pos_label is needed"),
    ({"y_true": WORDS[TRUE], "y_pred": WORDS[PRED]}, "pos_label is needed.*'denied', 'granted'"),
    ({"y_true": TRUE + 1, "y_pred": PRED + 1}, "pos_label is needed.*1, 2"),
    ({"y_true": 2 * TRUE, "y_pred": 2 * PRED}, "pos_label is needed.*0, 2"),
    ({"pos_label": "yes"}, "pos_label='yes' is not among the labels, which are 0, 1"),
    ({"metric": precision_score, "pos_label": "yes"}, "pos_label='yes' is not among the labels"),
    *(({name: SCORE}, f"{name} looks like scores") for name in ("y_true", "y_pred")),
    *(({"metric": metric, "y_true": truth, "y_pred": SCORE + PLACE},
       r"^y_pred holds numbers.*'mean_residual', 'mean_squared_error'.*'r2'")
      for metric in ("equalized_odds", "selection_rate", ["f2", "mean_residual"], "accuracy", "f1_macro")
      for truth in (SCORE + PLACE, PLACE)),
    ({"y_true": None}, "y_true is missing: .*true_positive_rate.*need the true labels"),
    ({"y_true": None, **RATE, "within": "y_true"}, "y_true is missing: within='y_true' needs the true labels"),
    # Scores.
    ({"metric": ["roc_auc", "selection_rate"]}, "y_score is missing.*roc_auc.*; pass y_score, or an estimator"),
    ({"metric": "roc_auc", "y_pred": None}, "y_pred is missing: pass the predictions, or y_score"),
    ({"metric": ["roc_auc", "selection_rate"], "y_pred": None, "y_score": SCORE}, "y_pred"),
    ({"metric": "roc_auc", "y_true": None, "y_pred": SCORE}, "y_true is missing.*roc_auc"),
    ({"metric": "roc_auc", "y_true": WORDS[TRUE], "y_pred": SCORE}, "pos_label.*'denied'.*'granted'"),
    ({"metric": "roc_auc", "y_true": PLACE % 3, "y_pred": SCORE}, "pos_label is needed: there are 3 labels"),
    *(({"metric": "roc_auc", "y_score": changed(SCORE, bad)}, "y_score (must hold finite|has 1 missing)")
      for bad in (np.inf, -np.inf, np.nan)),
    ({"metric": "roc_auc", "y_score": WORDS[PRED]}, "y_score must hold numbers.*'denied'"),
    *(({"metric": name, "y_pred": changed(SCORE, 1.5)}, "y_score must hold probabilities.*1.5")
      for name in ("log_loss", "brier_score", "calibration")),
    ({"metric": "log_loss", "y_score": 10 * SCORE}, "between 0 and 1; found 1 to 9"),
    # Settings.
    *(({name: value}, f"{name} must be one of '.*found ")
      for name in ("compare", "disparity", "alternative", "method", "variance", "within", "adjust")
      for value in ("nonsense", 3, ["auto"])),
    ({"adjust": "max_t"}, "adjust must be one of 'auto', 'holm', 'discrete_holm', 'bonferroni', 'fdr_bh', None"),
    *(({"confidence_level": level}, "confidence_level must be a number between 0 and 1")
      for level in (0, 1, -0.1, 95, "0.95", None, np.nan)),
    *(({"n_resamples": n}, "n_resamples must be an integer of at least 1") for n in (0, -5, 10.5, "many", True, None)),
    *(({"random_state": seed}, "random_state must") for seed in ("seed", 1.5, -1)),
    *(({"n_jobs": n_jobs}, "n_jobs") for n_jobs in ("x", 0, 1.5, True)),
    *(({"margin": margin}, "margin") for margin in (-0.1, 1, 1.5, "0.1", True, np.nan)),
    *(({"margin": margin, "disparity": "ratio"}, "margin") for margin in (0, -0.5, 1.25, "0.8", True, np.nan)),
    *(({"margin": margin, **EQUIVALENCE, **others}, "the lowest and the highest disparity that are tolerated")
      for margin, others in [
          ((-0.1, 0.1, 0.1), {}), ((None, None), {}), ((0, 0), {}), ((0.1, 0.2), {}), ((0.1, -0.1), {}),
          ((-1, None), {}), ((np.nan, None), {}), (("low", None), {}), ((1.1, None), {"disparity": "ratio"}),
          ((0, None), {"disparity": "ratio"}), ((-0.1, None), {"alternative": "two-sided"}),
      ]),
    ({"margin": (-0.1, None), **EQUIVALENCE, **THREE}, "needs a direction, which all pairs of 3 groups do not have"),
    (EQUIVALENCE, "margin is missing: alternative='equivalence' needs"),
    ({"margin": 0, **EQUIVALENCE}, "margin=0 leaves no disparity"),
    ({"margin": 1, "disparity": "ratio", **EQUIVALENCE}, "margin=1 leaves no disparity"),
    ({"reference_group": "f", "compare": "to_rest"}, "reference_group='f' is only used with"),
    ({"compare": "to_reference"}, "compare='to_reference' needs reference_group"),
    ({"compare": "to_reference", "reference_group": "x"}, "='x' is not a group; the groups are 'f', 'm'"),
    ({"reference_group": "x", "sensitive_features": {"sex": changed(SEX, "x")}}, "='x' has fewer than 2 people"),
    *(({"alternative": way, **THREE}, f"alternative='{way}'.*3 groups.*to_reference") for way in ("greater", "less")),
    *(({"compare": "to_highest", "alternative": way, "margin": 0.1, **RATE}, "has no test with compare='to_highest'")
      for way in ("greater", "less", "equivalence")),
    ({"compare": "to_highest"}, "with control_features a group has a different value"),
    *(({"method": method, **asked}, f"method='{method}'.*method='permutation'") for method in ("exact", "asymptotic")
      for asked in ({"variance": "delta"}, {"variance": None}, {"within": None}, {"within": "y_true"})),
    ({"method": "permutation", "margin": 0.1}, "method='permutation' tests equality"),
    ({"method": "bootstrap", "within": "y_true"}, "within='y_true'.*method='bootstrap' permutes none"),
    ({"method": "bootstrap", "variance": "score"}, "variance='score'.*variance='delta'"),
    ({"method": "exact", "margin": 0.05}, "method='exact' with a margin.*several strata"),
    *(({"metric": name, "method": "exact", "y_score": SCORE}, f"method='exact' has no distribution for {name}")
      for name in ("roc_auc", "balanced_accuracy", "matthews_corrcoef", "log_loss")),
    ({"metric": "balanced_accuracy", "margin": 1.0}, "margin"),
    ({"metric": "roc_auc", "y_score": SCORE, "variance": "score"}, "variance='score'"),
    # Weights and clusters.
    *(({"sample_weight": weight}, match) for weight, match in [
        (changed(WEIGHT, -1.0), "sample_weight.*1 negative weight"),
        (changed(SCORE + PLACE, -1.0), "sample_weight.*1 negative weight"),
        (changed(WEIGHT, np.nan), "sample_weight.*1 missing value"),
        (changed(WEIGHT, np.inf), "sample_weight.*finite"),
        (0 * WEIGHT, "sample_weight is 0 for every person"),
        (WEIGHT[:-1], "(?s)sample_weight.*39|39.*sample_weight"),
        (["2 kg"] * N, "sample_weight must hold numbers"),
        (np.stack([WEIGHT, WEIGHT], axis=1), "sample_weight"),
    ]),
    ({"method": "exact", "sample_weight": WEIGHT}, "method='exact'.*weights.*method='auto'"),
    ({"metric": share, "sample_weight": WEIGHT}, "sample_weight.*'share'.*add a parameter sample_weight"),
    ({"clusters": changed(PLACE, None)}, "clusters.*missing"),
    ({"clusters": PLACE[:-1]}, "clusters"),
    ({"clusters": np.stack([PLACE, PLACE], axis=1)}, "clusters"),
    ({"clusters": PLACE % 10}, "clusters: some lie in several strata.*leave control_features out"),
    ({"clusters": PLACE // 2, "control_features": None, "method": "exact"}, "method='exact'.*clusters.*method='auto'"),
    ({"clusters": PLACE // 2, "control_features": None, "within": "y_true"}, "within='y_true'.*by cluster"),
    ({"clusters": PLACE // 2, **RATE, "metric": "normalized_mutual_info"}, "clusters.*normalized_mutual_info"),
    # Odds ratios.
    *(({**ODDS, **asked}, match) for asked, match in [
        ({"metric": "f1"}, "f1 is a function of one"),
        ({"metric": "roc_auc", "y_score": SCORE}, "roc_auc, which is not a rate"),
        ({"compare": "to_overall"}, "use compare='to_rest'"),
        ({"method": "bootstrap"}, "is not bootstrapped"),
        ({"margin": 1.5}, "margin of a ratio"),
        ({"sample_weight": WEIGHT}, "people with weights or in clusters"),
    ]),
    # Calibration curves.
    *(({**CURVE, **asked}, match) for asked, match in [
        ({"alternative": "greater"}, "no alternative or margin"),
        ({"margin": 0.1}, "no alternative or margin"),
        ({"method": "bootstrap"}, "method='auto'"),
        ({"within": "y_true"}, "within='auto'"),
        ({"compare": "to_rest", "metric": "calibration_within_groups"}, "compares each group with its own scores"),
        ({"sample_weight": WEIGHT}, "sample_weight was given"),
        ({"clusters": PLACE}, "clusters was given"),
        ({"y_score": 10 * SCORE}, "probabilities of the positive label"),
        ({"y_score": np.where(SEX == "f", 0.2, 0.8)}, "the two sides have no scores in common"),
    ]),
    # Distributions.
    *(({**CURVE, "metric": "distribution", **asked}, match) for asked, match in [
        ({"margin": 0.1}, "compares whole distributions"),
        ({"compare": "to_overall"}, "compare='to_rest' in place of 'to_overall'"),
        ({"alternative": "greater"}, "compares whole distributions"),
        ({"method": "exact"}, "has its own null distribution"),
        ({"within": "y_true"}, "has its own null distribution"),
        ({"sample_weight": WEIGHT}, "takes none"),
        ({"clusters": PLACE % 20}, "clusters: some have people on both sides"),
        ({"y_true": None, "y_pred": WORDS[PRED], "y_score": None}, "y_pred must hold numbers"),
    ]),
    # Weights of strata.
    *(({"metric": "selection_rate", "strata_weights": weights}, match) for weights, match in [
        ({"x": 1}, "has no weight of stratum 'y': give it one"),
        ({"x": -1, "y": -1}, r"2 finite numbers, .* none of them negative and not all 0; found \[-1"),
        ({"x": 0, "y": 0}, r"not all 0; found \[0, 0"),
        ({"x": "a", "y": "a"}, r"finite numbers.*found \['a'"),
        (lambda n_group, n_other: n_group * np.nan, "finite numbers"),
        (lambda n_group, n_other: 1.0, "2 finite numbers, one for each stratum, .*; found 1.0"),
        ("people", "must be a mapping from strata to weights, or a function .*; found 'people'"),
    ]),
    *(({"metric": "selection_rate", "strata_weights": {"x": 1, "y": 1}, **asked}, f"strata_weights .*found {found}")
      for asked, found in [
        ({"compare": "to_overall"}, "compare='to_overall': leave out one of the two"),
        ({"disparity": "odds_ratio"}, "disparity='odds_ratio': leave out one of the two"),
        ({"method": "permutation"}, "method='permutation': leave out one of the two"),
        ({"method": "bootstrap"}, "method='bootstrap': leave out one of the two"),
        ({"control_features": None}, "no control_features"),
        ({"metric": "mean_prediction", "y_pred": SCORE}, "metric='mean_prediction'"),
        ({"sample_weight": WEIGHT}, "people with sample_weight"),
    ]),
    # Functions.
    ({"metric": [lambda y, p: 1.0, lambda y, p: 2.0]}, "two different metrics named '<lambda>': rename one"),
    ({"metric": ScoreMetric("bad", lambda y_true, y_pred, counts: 0.5)}, "'bad'.*must return an array of shape"),
    ({"metric": share, "variance": "delta"}, "variance='delta' needs the derivative of share"),
    ({"metric": share, "n_resamples": "adaptive", "method": "bootstrap"}, "n_resamples='adaptive'.*n_resamples=9999"),
    ({"metric": fails}, "fails raises RuntimeError: no luck"),
    ({"metric": lambda y_true, y_pred, sensitive_features: y_pred}, "not one number"),
    ({"metric": gap, "sample_weight": WEIGHT}, "sample_weight.*takes none"),
    *(({"metric": gap, "control_features": None, **asked}, match) for asked, match in [
        ({"alternative": "less"}, "no alternative or margin"),
        ({"margin": 0.1}, "no alternative or margin"),
        ({"margin": 0.1, **EQUIVALENCE}, "no alternative or margin"),
        ({"compare": "to_rest"}, "compare='between_groups'"),
        ({"method": "bootstrap"}, "method='auto'"),
        ({"method": "exact"}, "method='auto'"),
        ({"clusters": PLACE}, "clusters"),
    ]),
    # Bounds over unknown groups.
    ({"missing": "exclude", "sensitive_features": {"sex": [None] * N}}, r"\(sex\) is missing for every person"),
    ({**UNKNOWN, "sensitive_features": {"sex": [None] * N}}, r"\(sex\) is missing for every person"),
    *(({**UNKNOWN, **asked}, f"missing='bounds' .*{match}") for asked, match in [
        ({"metric": "mean_squared_error", "y_pred": SCORE, "n_resamples": 99}, "not for metric='mean_squared_error'"),
        ({"sample_weight": WEIGHT}, "not for people with sample_weight"),
        ({"clusters": PLACE // 2}, "not for people in clusters"),
        ({"control_features": SITE}, "not for averages over strata"),
        ({"method": "permutation"}, "which method='permutation' has not"),
        ({"compare": "to_highest"}, "which compare='to_highest' has not"),
    ]),
    # What is not defined for anyone.
    ({"y_pred": 0 * PRED, "metric": "precision"}, "no comparison is defined.*people predicted positive"),
    ({"y_true": 0 * TRUE, "metric": "roc_auc", "y_score": SCORE}, "no comparison is defined.*positive"),
    ({"y_true": np.ones(N), "y_pred": SCORE, "metric": "r2"}, "all people have one true value"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "match"), REFUSED)
def test_a_mistake_is_named_with_what_to_do(changes, match):
    with pytest.raises(ValueError, match=match):
        run(**changes)


@pytest.mark.parametrize(
    ("work", "match"),
    [
        (lambda: FairnessTest().fit(PRED, TRUE), r"is missing.*fit\(X, y, sensitive_features=df\['sex'\]\)"),
        (lambda: FairnessTest.from_predictions(TRUE, PRED, sensitive_features=SEX, estimator=share),
         r"is not for from_predictions, which takes predictions: .*fit\(X, y"),
        (lambda: SubgroupScan.from_predictions(TRUE, PRED, sensitive_features={"sex": changed(SEX, None)}),
         "leave these people out of every argument"),
        (lambda: CountTable.from_counts({("a", 1): 0}, names=("g", "y"), y_pred="y", sensitive_features="g"),
         "no people"),
        *((lambda table=table: FairnessTest.from_table(table),
           rf"table must be a CountTable, found {type(table).__name__}") for table in (None, "table", pd.DataFrame())),
        (lambda: FairnessTest.from_table(CountTable.from_predictions(None, PRED, sensitive_features=SEX)),
         "y_true is missing: true_positive_rate needs it; given are y_pred"),
        (lambda: FairnessTest.from_table(
            CountTable.from_predictions(TRUE, PRED, sensitive_features=SEX), metric="roc_auc"
         ), "y_score is missing: roc_auc .* only y_true, y_pred were given; pass a table that counts y_score too$"),
        (lambda: run(metric="selection_rate", strata_weights={"x": 1, "y": 1}).sensitivity("confounding"),
         "not for strata_weights"),
        *((lambda value=value, slope=slope: Rate("odds", "y_pred", value=value, slope=slope),
           "^value .*of rate 'odds'") for value, slope in [
            (lambda r: r**2, None), (None, lambda r: 2 * r), (lambda r: 1 - r, lambda r: -np.ones_like(r)),
            (lambda r: r / (1.0001 - r), lambda r: r), (lambda r: 0.5, lambda r: r),
        ]),
    ],
)  # fmt: skip
def test_other_mistakes_are_named_too(work, match):
    with pytest.raises(ValueError, match=match):
        work()


def test_more_comparisons_than_anybody_can_read_are_refused_with_a_way_out():
    features = {name: np.random.default_rng(place).integers(0, 15, 4000) for place, name in enumerate("xyz")}
    with pytest.raises(ValueError, match=r"x x y x z.*comparisons.*to_rest"):
        FairnessTest.from_predictions(None, np.arange(4000) % 2, sensitive_features=features, metric="selection_rate")


# Functions that fail for some ---------------------------------------------------------------------------------------


def boom():
    raise KeyError("no such column")


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (lambda: float("nan"), "returns NaN"),
        (boom, "raises KeyError.*no such column"),
        (lambda: np.array([0.1, 0.2]), r"array of shape \(2,\), not one number"),
        (lambda: "high", "'high', not one number"),
        (lambda: None, "None, not one number"),
        (lambda: 1 + 2j, "not one number"),
    ],
)
def test_the_group_and_the_stratum_are_named_in_which_a_function_fails(result, reason):
    def fragile(y_true, y_pred):
        return result() if len(y_true) == 18 else 0.5

    groups = {"sensitive_features": np.repeat(["a", "b"], [22, 18]), "control_features": None, "n_resamples": 99}
    with pytest.raises(ValueError, match=rf"group 'b'.*{reason}"):
        run(metric=fragile, **groups)
    # Eighteen of b are in stratum x.
    groups = {"sensitive_features": np.repeat(["a", "b"], 20), "control_features": np.where(PLACE % 20 < 2, "y", "x")}
    groups["control_features"][:4] = "y"
    with pytest.raises(ValueError, match=rf"group 'b' of stratum 'x'.*{reason}"):
        run(metric=fragile, n_resamples=99, **groups)


# Warnings -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"sensitive_features": {"town": [*map(str, range(21)), *map(str, range(19))]}, "method": "asymptotic", **RATE},
         "'town' has 21 distinct values"),
        ({"y_pred": 0 * PRED, "sensitive_features": {"sex": SEX}, "metric": "selection_rate", "disparity": "ratio",
          "control_features": None}, "ratio is undefined"),
        ({"metric": "roc_auc", "y_pred": PRED, "control_features": None},
         r"roc_auc: y_score holds only 0 and 1.*labels"),
        *(({"metric": metric, given: 1 + PLACE % 2 if given == "sample_weight" else PLACE, "n_resamples": 99,
            "control_features": None, "random_state": 0}, f"no test with {given} is exact")
          for metric in ("true_positive_rate", "f1_macro") for given in ("sample_weight", "clusters")),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:sensitive_features. .* left out of comparisons")
def test_what_should_be_known_is_a_warning(changes, match):
    with pytest.warns(UserWarning, match=match) as warned:
        run(**changes)
    assert not any("has an exact test" in str(one.message) for one in warned)


def test_too_few_resamples_are_a_warning_with_the_smallest_p_value_reachable(selected):
    table = selected({"a": (0, 50), "b": (50, 50), "c": (7, 20)})
    params = {"metric": "selection_rate", "method": "permutation", "adjust": "holm", "random_state": 0}
    enough = 20 * 3 - 1
    with pytest.warns(UserWarning, match=rf"n_resamples={enough - 1} cannot reject at 0\.05.*smallest.* 0\.0508"):
        test = FairnessTest.from_table(table, n_resamples=enough - 1, **params)
    assert test.p_value_ == pytest.approx(3 / 59)
    assert FairnessTest.from_table(table, n_resamples=enough, **params).rejected_


def test_a_warning_points_at_the_line_that_asked(selected):
    with pytest.warns(UserWarning, match="left out") as caught:
        FairnessTest.from_table(selected({"a": (2, 5), "b": (3, 5), "c": (1, 1)}), metric="selection_rate")
    assert caught[0].filename == __file__


# Left out, and said -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("compare", "comparisons"), [("between_groups", 2), ("to_rest", 1), ("to_overall", 1)])
def test_a_group_of_one_person_is_left_out_and_listed(selected, compare, comparisons):
    table = selected({"f": (3, 9), "m": (4, 9), "x": (1, 1)})
    with pytest.warns(UserWarning, match=r"x left out of comparisons, having fewer than 2 people; see excluded_"):
        test = FairnessTest.from_table(table, metric="selection_rate", compare=compare)
    (row,) = test.excluded_.itertuples()
    assert (row.group, row.n, row.comparisons) == ("x", 1, comparisons)
    assert "fewer than 2 people" in row.reason
    assert "x" not in {*test.comparisons_["group"], *test.comparisons_["other"]}
    assert list(test.by_group_.index) == test.groups_ == ["f", "m", "x"]  # shown all the same


def test_an_undefined_rate_is_nan_with_a_warning_and_a_row_of_excluded():
    y_pred = np.where(SEX == "f", 0, PRED)
    with pytest.warns(UndefinedMetricWarning, match=r"precision of f is undefined.*see excluded_"):
        test = run(y_pred=y_pred, control_features=None, metric=["precision", "selection_rate"])
    row = test.by_group_.loc[("precision", "f")]
    assert np.isnan(row[["value", "ci_low"]].astype(float)).all()
    assert (row["n"], row["n_effective"], row["small"]) == (20, 0, True)
    assert list(test.comparisons_["metric"]) == ["selection_rate"]
    (excluded,) = test.excluded_.itertuples()
    assert (excluded.metric, excluded.group, excluded.n, excluded.n_effective) == ("precision", "f", 20, 0)
    assert (excluded.stratum, excluded.comparisons) == (None, 1)
    with pytest.warns(UndefinedMetricWarning, match=r"precision of f \(x\)"):
        test = run(y_pred=np.where((SEX == "f") & (SITE == "x"), 0, np.maximum(PRED, SITE == "y")), metric="precision")
    assert list(test.comparisons_["stratum"]) == [None, "y"]
    (excluded,) = test.excluded_.itertuples()
    assert (excluded.group, excluded.stratum, excluded.n) == ("f", "x", 10)


# Columns, tables and numbers that are fine ----------------------------------------------------------------------------

COLUMNS = {
    "array": lambda values: np.reshape(values, (-1, 1)),
    "pandas": lambda values: pd.DataFrame({"y": values}),
    "polars": lambda values: pl.DataFrame({"y": values}),
    "arrow": lambda values: pa.table({"y": values}),
}


@pytest.mark.parametrize("container", COLUMNS)
@pytest.mark.parametrize("cls", [FairnessTest, FairnessAudit])
def test_one_column_of_labels_is_read_as_scikit_learns_metrics_read_it(cls, container):
    column = COLUMNS[container]
    plain = cls.from_predictions(TRUE, PRED, sensitive_features={"g": SEX})
    found = cls.from_predictions(column(TRUE), column(PRED), sensitive_features={"g": SEX})
    pd.testing.assert_frame_equal(found.to_frame(), plain.to_frame())


def test_one_column_of_labels_in_fit_has_the_warning_of_scikit_learns_estimators():
    X = SCORE[:, None]
    model = LogisticRegression().fit(X, TRUE)
    plain = FairnessTest(model).fit(X, TRUE, sensitive_features=SEX)
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        found = FairnessTest(model).fit(X, TRUE[:, None], sensitive_features=SEX)
    assert found.p_value_ == plain.p_value_
    scorer = make_fairness_scorer("equalized_odds")  # scikit-learn's scorers do not warn
    assert scorer(model, X, TRUE[:, None], sensitive_features=SEX) == scorer(model, X, TRUE, sensitive_features=SEX)
    with pytest.raises(ValueError, match="X is a table"):  # a column of ages is not a prediction
        FairnessTest().fit(TRUE[:, None], TRUE, sensitive_features=SEX)


def test_scores_of_two_kinds_are_not_asked_at_once():
    model = LogisticRegression().fit(SCORE[:, None], TRUE)
    metrics = [ScoreMetric(name, share, response=name) for name in ("predict_proba", "decision_function")]
    with pytest.raises(ValueError, match=r"different kinds .*predict_proba.*decision_function"):
        FairnessTest(model, metric=metrics).fit(SCORE[:, None], TRUE, sensitive_features=SEX)
