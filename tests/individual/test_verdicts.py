"""What the test can say, in words; that unfair examples are possible people; and verdicts on real tables."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from benchmarks.designs.individual import SOURCES
from benchmarks.make_compas_counts import data_folder
from skfairtest import (
    FairnessAudit,
    IndividualFairnessTest,
    LossRatioDisplay,
    Projection,
    SensitiveSubspace,
)
from skfairtest.cli.app import run
from skfairtest.individual import people as people_
from skfairtest.individual.features import read_features
from skfairtest.individual.people import ranges_of, scale_of
from tests.individual import real_tables


def draw(n, seed):
    """People whose job and income tell women from men."""
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    job = np.where(rng.random(n) < 0.15, 2, np.where(rng.random(n) < 0.3 + 0.4 * sex, 1, 0))
    X = pd.DataFrame(np.eye(3)[job], columns=["cook", "smith", "clerk"])
    X["income"] = rng.normal(size=n) + sex
    X["children"] = rng.integers(0, 4, n).astype(float)
    X["owns"] = (rng.random(n) < 0.3 + 0.2 * sex).astype(float)
    score = X["income"] + 1.5 * X["smith"] + X["owns"] + 0.2 * X["children"] + 2 * rng.normal(size=n)
    return X, (score > 1.5).astype(int), sex


@pytest.fixture(scope="module")
def training():
    return draw(1000, 0)


@pytest.fixture(scope="module")
def people():
    return draw(400, 1)


@pytest.fixture(scope="module")
def fit(training, people):
    """Test a model of these columns, changed alike for both."""

    def run(change=lambda X: X, **params):
        X, y, _ = training
        model = make_pipeline(StandardScaler(), LogisticRegression(C=1e6)).fit(change(X), y)
        X, y, sex = people
        return IndividualFairnessTest(model, **params).fit(change(X), y, sensitive_features=sex)

    return run


def test_what_is_observed(people):
    features = read_features(people[0])
    ranges = ranges_of("observed", features)
    assert ranges.blocks == ((0, 1, 2),)
    assert {column: values.tolist() for column, values in ranges.levels.items()} == {4: [0, 1, 2, 3], 5: [0, 1]}
    income = people[0]["income"]
    assert (ranges.low[3], ranges.high[3]) == (income.min(), income.max())
    scale = scale_of("std", features, ranges)
    np.testing.assert_allclose(scale[:3] ** 2, people[0].iloc[:, :3].mean())
    np.testing.assert_allclose(scale[3:], people[0].iloc[:, 3:].std(ddof=0))


def test_named_features_are_as_said_and_the_others_as_observed(people):
    features = read_features(people[0])
    ranges = ranges_of({"income": (-9, 9), "owns": "free", "smith": "frozen"}, features)
    assert ranges.blocks == ()
    assert set(ranges.levels) == {0, 2, 4}
    assert (ranges.low[3], ranges.high[3]) == (-9, 9)
    assert np.isinf(ranges.low[5])
    assert ranges.frozen.tolist() == [False, True, False, False, False, False]


def test_every_unfair_example_is_a_possible_person(fit, people):
    test = fit()
    moved, X = test.unfair_examples_, people[0]
    assert test.statistic_ > 1.2
    assert set(moved["children"]) <= {0, 1, 2, 3}
    assert set(moved["owns"]) <= {0, 1}
    assert set(moved[["cook", "smith", "clerk"]].to_numpy().ravel()) == {0, 1}
    assert (moved[["cook", "smith", "clerk"]].sum(axis=1) == 1).all()
    assert moved["income"].between(X["income"].min(), X["income"].max()).all()
    assert (moved != X).any(axis=None)
    assert test.solver_report_["n_people_outside"] == 0
    # Those who are moved are asked about as they are shown.
    p = test.estimator.predict_proba(moved)[np.arange(400), people[1]]
    np.testing.assert_allclose(test.to_frame()["loss_after"], -np.log(p), rtol=1e-9)
    jobs = (moved[["cook", "smith", "clerk"]] != X[["cook", "smith", "clerk"]]).any(axis=1)
    assert 0 < jobs.mean() < 1
    changed = test.most_unfair(20)
    assert set(changed.loc[changed["feature"] == "smith", "change"]) <= {-1.0, 1.0}


def test_units_do_not_matter(fit):
    factors, shift = np.array([1, 1, 1, -250.0, 12.0, 7.0]), np.array([0, 0, 0, 3.0, -40.0, 5.0])
    here, there = fit(), fit(lambda X: X * factors + shift)
    assert there.statistic_ == pytest.approx(here.statistic_, rel=1e-5)  # the models are fitted with a tolerance
    np.testing.assert_allclose(there.unfair_examples_ / factors, here.unfair_examples_ + shift / factors, atol=1e-4)


def test_as_published_is_the_setting_of_the_paper(training):
    test = IndividualFairnessTest.as_published("model", steps=(200, 0.01))
    settings = {"solver": "euler", "steps": (200, 0.01), "feature_ranges": "free", "feature_scale": None}
    assert settings.items() <= test.get_params(deep=False).items()
    assert test.regularization == 50
    assert test.statistic == "loss_ratio"


def test_unfair_examples_get_no_more_unusual_than_people_are(monkeypatch):
    """With real people on a thin ring, the middle is unusual: who would end there stops before it."""
    rng = np.random.default_rng(3)
    angle = rng.uniform(0, 2 * np.pi, 600)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.02 * rng.normal(size=(600, 2))
    y = (X[:, 0] + 0.3 * rng.normal(size=600) > 0).astype(int)
    model = LogisticRegression().fit(X[:200], y[:200])
    tests = []
    for least in (-1.0, 0.05):
        monkeypatch.setattr(people_, "UNUSUAL", least)
        tests += [IndividualFairnessTest(model, fair_metric=Projection([[1, 0]])).fit(X[200:], y[200:])]
    start = IndividualFairnessTest(model, fair_metric=Projection([[1, 0]]), steps=(1, 1e-9))
    own = start.fit(X[200:], y[200:]).to_frame()["plausibility"]
    free, held = tests
    ends, plausible = (test.to_frame()["plausibility"] for test in tests)
    assert free.solver_report_["n_held_back"] == 0
    assert (ends <= 0.05).mean() > 0.5
    assert ((plausible > 0.05) | (plausible >= own - 0.01)).all()
    assert held.solver_report_["n_held_back"] > 100
    assert held.statistic_ < free.statistic_


@pytest.fixture(scope="module")
def coin():
    """People, a model of half of them, and a coin that each has tossed."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 6))
    y = (X[:, :3].sum(axis=1) * 1.5 + rng.normal(size=1200) > 0).astype(int)
    tossed = pd.Series(rng.integers(0, 2, 1200), name="coin")
    return LogisticRegression().fit(X[:600], y[:600]), X[600:], y[600:], tossed[600:].to_numpy(), tossed.name


@pytest.fixture(scope="module")
def untested(coin):
    model, X, y, tossed, name = coin
    return IndividualFairnessTest(model).fit(X, y, sensitive_features={name: tossed})


def test_a_coin_flip_is_no_verdict(untested):
    assert (untested.verdict_, untested.concern_, untested.rejected_) == ("no_trace", False, False)
    for name in ("p_value_", "statistic_", "lower_bound_", "standard_error_"):
        assert np.isnan(getattr(untested, name)), name
    assert np.isnan(untested.confidence_interval_).all()
    assert not len(untested.path_)
    assert not len(untested.most_unfair()) or not untested.changed_features()["n_people"].any()
    (row,) = untested.traces_.to_dict("records")
    assert (row["feature"], row["measure"], row["found"]) == ("coin", "AUC", False)
    assert row["p_value"] > 0.05


def test_no_trace_is_said_everywhere(untested, tmp_path):
    first, *_ = str(untested).splitlines()
    assert first.startswith("Individual fairness was not tested: X holds no trace of coin (AUC 0.")
    assert len(str(untested).splitlines()) == 2
    assert "neither a pass nor a failure" in str(untested)
    assert untested.sentences()[0] == first
    for report in (untested.to_markdown(), untested.to_html()):
        assert "was not tested" in report
        assert "No violation" not in report
    found = untested.to_dict()
    assert (found["verdict"], found["p_value"], found["concern"]) == ("no_trace", None, False)
    assert found["traces"][0]["feature"] == "coin"


@pytest.mark.parametrize("display", [LossRatioDisplay])
def test_nothing_is_drawn_of_what_was_not_tested(display, untested):
    with pytest.raises(ValueError, match=r"test has nothing to draw. Individual fairness was not tested: X holds no"):
        display.from_test(untested)


def test_an_audit_and_its_record_say_that_nothing_was_tested(coin, tmp_path):
    model, X, y, tossed, name = coin
    audit = FairnessAudit(model, metrics="accuracy", individual=True).fit(X, y, sensitive_features={name: tossed})
    assert audit.record_.individual_verdict == "no_trace"
    assert "Individual fairness was not tested" in str(audit)
    again = FairnessAudit.from_json(audit.to_json())
    assert str(again) == str(audit)
    assert not audit.concern_
    path = tmp_path / "audit.json"
    audit.to_json(path)
    assert run(["report", str(path)]) == 4


def test_without_evidence_noise_is_a_direction_as_published(coin):
    model, X, y, tossed, name = coin
    groups = {name: tossed}
    test = IndividualFairnessTest(model, fair_metric=SensitiveSubspace(level=None)).fit(X, y, sensitive_features=groups)
    assert test.verdict_ == "unfair"
    assert not len(test.traces_)
    assert IndividualFairnessTest.as_published(model).fair_metric.level is None


def test_a_metric_that_is_known_needs_no_trace(coin):
    model, X, y, tossed, name = coin
    test = IndividualFairnessTest(model, fair_metric=Projection([1, 0, 0, 0, 0, 0]))
    assert test.fit(X, y, sensitive_features={name: tossed}).verdict_ == "unfair"
    metric = SensitiveSubspace(sensitive_columns=0)
    test = IndividualFairnessTest(model, fair_metric=metric).fit(X, y, sensitive_features={name: tossed})
    assert (test.verdict_, test.solver_report_["n_directions"]) == ("unfair", 1)


def test_features_without_a_trace_teach_nothing(coin):
    model, X, y, tossed, name = coin
    sex = (X[:, 0] + np.random.default_rng(1).normal(size=600) > 0).astype(int)
    test = IndividualFairnessTest(model, steps=(10, 0.2)).fit(X, y, sensitive_features={"sex": sex, name: tossed})
    assert test.traces_["found"].tolist() == [True, False]
    alone = IndividualFairnessTest(model, steps=(10, 0.2)).fit(X, y, sensitive_features={"sex": sex})
    assert test.statistic_ == alone.statistic_
    assert "X holds no trace of coin (" in str(test)


def test_a_trace_depends_on_neither_order_nor_names(coin):
    model, X, y, _, _ = coin
    rng = np.random.default_rng(4)
    sex = np.where(X[:, 0] + 6 * rng.normal(size=600) > 0, "f", "m")
    test = IndividualFairnessTest(model, steps=(1, 0.2))
    found = clone(test).fit(X, y, sensitive_features={"sex": sex})
    order = rng.permutation(600)
    again = clone(test).fit(X[order], y[order], sensitive_features={"sex": sex[order]})
    pd.testing.assert_frame_equal(again.traces_, found.traces_)
    renamed = clone(test).fit(X, y, sensitive_features={"sex": np.where(sex == "f", "z", "m")})
    pd.testing.assert_frame_equal(renamed.traces_, found.traces_)


@pytest.mark.filterwarnings("ignore:no person's loss changed:UserWarning")
@pytest.mark.parametrize("metric", ["sensitive_subspace", make_pipeline(StandardScaler(), SensitiveSubspace())])
def test_a_model_without_weight_on_what_is_shifted_is_not_unfair(metric, logistic, thorough):
    n_data, most = (20, 2) if thorough else (2, 1)  # at 5%, more have a probability of .08, or .0025
    n = 1000 if thorough else 300
    unfair = []
    for seed in range(n_data):
        rng = np.random.default_rng(seed)
        sex = rng.integers(0, 2, n)
        X = rng.normal(size=(n, 5))
        X[:, 0] += 0.5 * sex
        y = (rng.random(n) < 1 / (1 + np.exp(-X[:, 1:].sum(axis=1)))).astype(int)
        test = IndividualFairnessTest(logistic([0.0, 1.0, 1.0, 1.0, 1.0]), fair_metric=metric)
        unfair.append(test.fit(X, y, sensitive_features=sex).concern_)
    assert sum(unfair) <= most  # without selection 2 to 3 in 4 samples of .2


# Levels -------------------------------------------------------------------------------------


def applicants(n, seed, levels=("nonwhite", "white")):
    rng = np.random.default_rng(seed)
    race = rng.choice(levels, n)
    X = pd.DataFrame({"income": rng.normal(size=n), "race": race})
    y = (rng.random(n) < 1 / (1 + np.exp(-X["income"] + 2 * (race == levels[0])))).astype(int)
    return X, y


def text_pipeline(model, encoder=None):
    encoder = OneHotEncoder() if encoder is None else encoder
    return make_pipeline(make_column_transformer((encoder, ["race"]), remainder="passthrough"), model)


WAYS = {
    "default": (text_pipeline(LogisticRegression()), {}),
    "search": (text_pipeline(LogisticRegression()), {"gradient": "search"}),
    "level dropped": (text_pipeline(LogisticRegression(), OneHotEncoder(drop="first")), {}),
    "boosted": (text_pipeline(HistGradientBoostingClassifier(max_iter=20), OrdinalEncoder()), {}),
}


@pytest.mark.parametrize("way", WAYS)
def test_changing_a_category_alone_by_hand_is_a_lower_bound(way):
    model, params = WAYS[way]
    X, y = applicants(400, 0)
    model = model.fit(X[:250], y[:250])
    X, y = X[250:].reset_index(drop=True), y[250:]
    test = IndividualFairnessTest(model, statistic="loss_ratio", **params).fit(X, y, sensitive_features=X["race"])
    swapped = X.assign(race=np.where(X["race"] == "white", "nonwhite", "white"))
    rows = np.arange(150)
    before, after = (-np.log(model.predict_proba(people)[rows, y]) for people in (X, swapped))
    assert test.statistic_ >= np.mean(np.maximum(after, before) / before) - 1e-9
    assert test.verdict_ == "unfair"


@pytest.mark.parametrize("seed", range(3))
def test_of_several_levels_the_worst(seed):
    X, y = applicants(400, seed, levels=("a", "b", "c"))
    model = text_pipeline(LogisticRegression()).fit(X[:250], y[:250])
    X, y = X[250:], y[250:]
    test = IndividualFairnessTest(model, statistic="loss_ratio").fit(X, y, sensitive_features=X["race"].to_numpy())
    losses = np.stack([-np.log(model.predict_proba(X.assign(race=name))[np.arange(150), y]) for name in "abc"], axis=1)
    own = X["race"].to_numpy()[:, None] == np.array(list("abc"))
    before = losses[own]
    assert test.statistic_ >= np.mean(losses.max(axis=1) / before) - 1e-9


def test_more_combinations_than_can_be_tried_are_tried_category_by_category(monkeypatch):
    from skfairtest.individual import unfair

    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.choice(list("abc"), 400) for name in ("one", "two")}).assign(skill=rng.normal(size=400))
    y = (rng.random(400) < np.where(X["one"] == "a", 0.8, 0.3)).astype(int)
    encode = make_column_transformer((OneHotEncoder(), ["one", "two"]), remainder="passthrough")
    model = make_pipeline(encode, LogisticRegression()).fit(X, y)
    metric = SensitiveSubspace(sensitive_columns=["one", "two"])
    both = IndividualFairnessTest(model, fair_metric=metric).fit(X, y)
    monkeypatch.setattr(unfair, "MOST_COMBINATIONS", 3)
    # A logistic model adds up what its columns say: one after the other finds the same.
    assert IndividualFairnessTest(model, fair_metric=metric).fit(X, y).statistic_ == pytest.approx(both.statistic_)


@pytest.fixture(scope="module")
def skilled():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=["skill", "debts", "b\nc"], index=[f"p{i}" for i in range(300)])
    return X, (rng.random(300) < 1 / (1 + np.exp(-X.sum(axis=1)))).astype(int)


@pytest.fixture(scope="module")
def report(skilled):
    def made(X=skilled[0], **params):
        model = LogisticRegression().fit(*skilled)
        return IndividualFairnessTest(model, fair_metric=Projection("b\nc"), **params).fit(X, skilled[1])

    return made


def test_no_finding_is_no_proof(report):
    test = report(tolerance=50.0)
    first, second, *_ = str(test).splitlines()
    assert first.startswith("No violation of individual fairness was found: ")
    assert second.startswith("This does not prove that there is none")
    assert test.sentences()[:2] == (first, second)


@pytest.fixture(scope="module", params=list(SOURCES))
def found(request):
    """The models of a data set, and samples of its people."""
    if not (data_folder() / "adult.csv.gz").exists():
        pytest.skip("the raw data are not here")
    return real_tables.judged(request.param, 6, np.random.default_rng(1))


@pytest.mark.slow
def test_units_and_encodings_do_not_change_the_verdict(found):
    fitted = found["fitted"]
    for told in ("other units", "numbers for yes and no"):
        assert fitted[told]["rejected"] == fitted["as fitted"]["rejected"]
    dropped, weak = fitted["no penalty, first categories dropped"], fitted["no penalty"]
    assert dropped["rejected"] == weak["rejected"]
    for told in ("other units", "numbers for yes and no"):
        assert fitted[told]["statistic"] == pytest.approx(fitted["as fitted"]["statistic"], rel=0.05)
    assert dropped["statistic"] == pytest.approx(weak["statistic"], rel=0.05)


@pytest.mark.slow
def test_a_search_finds_what_the_flow_finds(found):
    fitted = found["fitted"]
    for model in ("as fitted", "unfair"):
        searched = fitted["searched" if model == "as fitted" else "unfair, searched"]
        assert searched["statistic"] == pytest.approx(fitted[model]["statistic"], rel=0.05)
        assert searched["rejected"] == fitted[model]["rejected"]


@pytest.mark.slow
def test_nobody_becomes_impossible(found):
    assert found["fitted"]["impossible"] == 0


@pytest.mark.slow
def test_a_planted_unfairness_is_found_and_a_fair_model_is_not_rejected(found):
    assert found["unfair"]["rejected"] == 6
    assert found["fair"]["rejected"] <= 2  # of 6, at 5%: more have a probability of .002


@pytest.mark.parametrize(("d", "levels"), [(1, None), (6, None), (4, 4)])
def test_nobody_ends_too_unusual_and_no_one_goes_farther_before(d, levels):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(200, d)) if levels is None else rng.integers(0, levels, (200, d)).astype(float)
    neighbours = people_.Neighbours.of(X, X.std(axis=0))
    far, units = rng.normal(size=d) * rng.uniform(0, 3, (200, 1)), X.std(axis=0)

    def nearest(x, people):
        return x if levels is None else np.round(x)

    def unusual(x, person):
        start = X[person][None]
        apart, own = (neighbours.distances(at, start) for at in (x[None], start))
        return neighbours.plausibility(apart)[0] <= people_.UNUSUAL and apart > own

    places = [X.copy(), *(nearest(X + part * far, None) for part in (0.3, 1.0))]
    expected, ends = [place.copy() for place in places], places[-1].copy()
    held = np.array([bool(unusual(ends[person], person)) for person in range(200)])
    for person in np.flatnonzero(held):
        kept, part = ends[person], people_.PARTS
        while part and unusual(kept, person):
            part -= 1
            kept = nearest(X[person] + part / people_.PARTS * (ends[person] - X[person]), person)
        for place in expected:  # on the way there as before, and no farther
            lengths = (np.linalg.norm((there - X[person]) / units) for there in (place[person], kept))
            place[person] = place[person] if next(lengths) < next(lengths) else kept
    np.testing.assert_array_equal(neighbours.keep(places, nearest), held)
    np.testing.assert_allclose(places, expected, rtol=0, atol=1e-12)
    assert 0 < held.sum() < 200
