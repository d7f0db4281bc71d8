"""How often the test of individual fairness rejects fair models: ``python -m benchmarks.individual [--quick]``.

Level: how often a logistic model is rejected whose audit value in the population is 1.1, exactly the tolerance of 1.25,
1.3 or 1.5, and how often the interval holds the true value; the truth is an integral that is computed, not simulated
(see _logistic_population). In one design ratios have a long right tail, in the other a long left one. Ways: the same at
a boundary for differences of what models say, and for the search of forests; the tolerance is then the value of that
very map, integrated or from a million people of its own. Learned: a fair metric that is learned from the people tested
or, cross-fitted, from the others; the true value is that of the metric learned from everybody there is, or of the
metrics that were learned. Published: what the statistics of published code do with the same people.

An unfair example is a function of one person. So people are moved in one pass and then dealt into samples; of some
samples it is checked that the test finds the same.

Without ``--quick`` the figures are written to benchmarks/results/individual.json with the seed and versions.
"""

import argparse
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from benchmarks.common.logistic_population import MAP, TOLERANCE, Design, Map, Population
from benchmarks.common.results import write
from skfairtest import SensitiveSubspace
from skfairtest.individual.statistics import audit_value

SEED = 20261122
ALPHA = 0.05
RESULTS = Path(__file__).parent / "results" / "individual.json"

STATISTICS = ("loss_ratio", "ratio_of_means", "error_rate_ratio")
PEOPLE = (50, 100, 400, 1600)

#: Labels nearly as the models say; and models that are wrong about many, of whom nearly all are harmed alike.
FEW = Design("few are harmed much", Population(truth=(0.0, 1.0, 4.0)), 0.4, 4.0)
MOST = Design("most are harmed alike", Population(truth=(0.5, 0.0, 6.0)), 2.0, 2.0)
#: Audit values of the models: within the tolerance, at its boundary, beyond it.
LEVEL = [(FEW, 1.1), (FEW, TOLERANCE), (FEW, 1.3), (MOST, TOLERANCE), (MOST, 1.5)]
#: A search of as many people as far.
SEARCH = Map(n_steps=32, step_size=MAP.n_steps * MAP.step_size / 32)
#: People of the models that are trained.
TRAINED = 2000
#: Groups that overlap, so that who is similar is hard to learn from few people.
OVERLAPPING = Design("groups overlap", Population(0.5, 1.0, 0.3, (0.0, 0.5, 1.0)), 0.0, 2.0)
LEARNED = [(2, 100), (2, 400), (20, 100), (20, 400)]
#: People who are moved at once, and who say what a map comes to on average.
AT_ONCE, MANY = 200_000, 1_000_000
#: From so many people on a size of at most this is held for near enough: set by what was measured, not derived.
ENOUGH, NEAR = 400, 0.065


def share(found):
    """A share of data sets and its Monte-Carlo error."""
    value = float(np.mean(found))
    error = float(np.sqrt(value * (1 - value) / len(found)))
    return {"share": round(value, 4), "error": round(error, 4), "data_sets": len(found)}


def pool(population, unfair_map, model, n, rng, **params):
    """Move many people; return them, their losses and their errors, before and after."""
    parts = []
    for start in range(0, n, AT_ONCE):
        X, y, _ = population.draw(min(AT_ONCE, n - start), rng)
        losses, wrong, _ = unfair_map.moved(model, X, y, **params)
        parts.append((X.T, y[None], losses, wrong))
    X, y, losses, wrong = (np.concatenate(columns, axis=1) for columns in zip(*parts, strict=True))
    return X.T, y[0], losses, wrong


def judged(statistic, losses, wrong, tolerance):
    """Return what the test says of people who were moved."""
    name, values = ("ratio_of_means", wrong) if statistic == "error_rate_ratio" else (statistic, losses)
    return audit_value(name, *values, tolerance=tolerance, confidence_level=1 - ALPHA)


def rates(statistic, losses, wrong, n, n_data_sets, tolerance, truth):
    """Deal people into samples: how often the test rejects, and its interval holds the truth."""
    rejected, covered = [], []
    for sample in range(min(n_data_sets, losses.shape[1] // n)):
        some = slice(sample * n, (sample + 1) * n)
        found = judged(statistic, losses[:, some], wrong[:, some], tolerance)
        rejected.append(found.p_value <= ALPHA)
        covered.append(found.interval[0] <= truth <= found.interval[1])
    return {"rejected": share(rejected), "coverage": share(covered)}


def check(test, X, y, losses, wrong, n):
    """Compare the test of the first sample with what is made of the pool."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few people whose ratios are large
        test.fit(X[:n], y[:n])
    found = judged(test.statistic, losses[:, :n], wrong[:, :n], test.tolerance)
    ours = [test.statistic_, test.lower_bound_, *test.confidence_interval_, test.p_value_]
    theirs = [found.estimate, found.lower_bound, *found.interval, found.p_value]
    if not np.allclose(ours, theirs, rtol=1e-9, atol=1e-12):
        raise SystemExit(f"IndividualFairnessTest finds {ours} where the pool has {theirs}")


def level(designs, people, n_data_sets, n_most, sequence):
    """Size, power and coverage of a logistic model, where the truth is known."""
    cells = [(*design, statistic) for design in designs for statistic in STATISTICS]
    for (design, value, statistic), child in zip(cells, sequence.spawn(len(cells)), strict=True):
        weight = design.weight(statistic, value)
        model = design.model(weight)
        off = abs(design.truth(weight).value(statistic) - value)
        most = n_data_sets if value == TOLERANCE else n_data_sets // 4
        X, y, losses, wrong = pool(design.population, MAP, model, most * max(people), np.random.default_rng(child))
        for n in people:
            check(MAP.test(model, statistic=statistic, tolerance=TOLERANCE), X, y, losses, wrong, n)
            yield {
                "design": design.name, "statistic": statistic, "value": value, "weight": round(weight, 6),
                "off": float(f"{off:.1g}"), "people": n,
                **rates(statistic, losses, wrong, n, n_most, TOLERANCE, value),
            }  # fmt: skip


def trained(model):
    X, y, _ = FEW.population.draw(TRAINED, np.random.default_rng(SEED))
    return model.fit(X, y)


def ways():
    """Models, how their unfair examples are found, and their audit values where these are known."""
    weight = FEW.weight("loss_ratio", TOLERANCE)
    known = {statistic: FEW.truth(weight).value(statistic) for statistic in STATISTICS}
    differences, search = {"gradient": "finite_differences"}, {"gradient": "search"}
    yield "logistic regression", "differences", FEW.model(weight), MAP, differences, known
    yield "naive Bayes", "differences", trained(GaussianNB()), MAP, differences, None
    leaves = RandomForestClassifier(10, min_samples_leaf=100, random_state=0)
    yield "forest, 100 people a leaf", "search", trained(leaves), SEARCH, search, None
    yield "forest, grown out", "search", trained(RandomForestClassifier(10, random_state=0)), SEARCH, search, None


def by_way(people, n_data_sets, n_many, sequence):
    """Size at the boundary and coverage, however unfair examples are found."""
    for (name, way, model, unfair_map, params, known), child in zip(ways(), sequence.spawn(4), strict=True):
        rngs = [np.random.default_rng(own) for own in child.spawn(2)]
        truth = known
        if known is None:
            _, _, losses, wrong = pool(FEW.population, unfair_map, model, n_many, rngs[0], **params)
            truth = {statistic: judged(statistic, losses, wrong, 1.0).estimate for statistic in STATISTICS}
        X, y, losses, wrong = pool(FEW.population, unfair_map, model, n_data_sets * max(people), rngs[1], **params)
        for statistic, value in truth.items():
            test = unfair_map.test(model, statistic=statistic, tolerance=value, **params)
            check(test, X, y, losses, wrong, people[0])
            for n in people:
                yield {
                    "model": name, "way": way, "statistic": statistic, "value": float(f"{value:.5g}"),
                    "known": known is not None, "people": n,
                    **rates(statistic, losses, wrong, n, n_data_sets, value, value),
                }  # fmt: skip


def values_of_metrics(design, weight):
    """Return the audit value as a function of the squared length of the weights along what a metric leaves free."""
    roots = np.linspace(0, np.hypot(weight, design.held), 65)  # of roots it is a smooth function
    curve = CubicSpline(roots, [design.truth(weight, free=root**2).value("loss_ratio") for root in roots])
    return lambda free: curve(np.sqrt(free))


def learned(designs, n_data_sets, sequence):
    """Coverage and size where the fair metric is learned."""
    weight = OVERLAPPING.weight("loss_ratio", TOLERANCE)
    value = values_of_metrics(OVERLAPPING, weight)
    for (d, n), child in zip(designs, sequence.spawn(len(designs)), strict=True):
        design = replace(OVERLAPPING, population=replace(OVERLAPPING.population, n_features=d))
        model = design.model(weight)
        data = [design.population.draw(n, np.random.default_rng(own)) for own in child.spawn(n_data_sets)]
        test = MAP.test(model, fair_metric=SensitiveSubspace(level=None), tolerance=TOLERANCE)
        found = {key: [] for key in ("rejected", "coverage_of_limit", "coverage_of_own", "above_own")}
        mine = []
        for X, y, group in data:
            test.fit(X, y, sensitive_features=group)
            free = [((metric.directions_ @ model.coef_[0]) ** 2).sum() for metric in test.fair_metrics_]
            mine.append(float(np.mean(value(np.array(free)))))  # folds are equally large
            low, high = test.confidence_interval_
            found["rejected"].append(test.rejected_)
            found["coverage_of_limit"].append(low <= TOLERANCE <= high)
            found["coverage_of_own"].append(low <= mine[-1] <= high)
            found["above_own"].append(test.lower_bound_ > mine[-1])
        yield {
            "features": d, "people": n, **{key: share(values) for key, values in found.items()},
            "mean_own_value": round(float(np.mean(mine)), 4),
        }  # fmt: skip


def infairness(model, X, y, lr, rows, rng):
    """Losses before and after the map of inFairness: the mean loss is differentiated, and the start is noise."""
    sign = 1 - 2 * y

    def score(x):
        return x @ model.coef_[0] + model.intercept_[0]

    x = X + rng.uniform(-0.1, 0.1, X.shape)
    for _ in range(MAP.n_steps):
        slope = (sign * expit(sign * score(x)))[:, None] * model.coef_
        x += lr / rows * (slope - 2 * MAP.regularization * (x - X) * [0, 1])
    return np.stack([np.logaddexp(0, sign * score(X)), np.logaddexp(0, sign * score(x))])


def rows_matter(n_seeds, sequence):
    """S_n by how many rows are audited: inFairness with the step that is right for 100 rows, and ours."""
    model = MOST.model(MOST.weight("loss_ratio", 1.5))
    X, y, _ = MOST.population.draw(1000, np.random.default_rng(sequence))
    for n, copies in ((100, 1), (100, 2), (100, 10), (1000, 1), (1000, 2)):
        rows = np.tile(np.arange(n), copies)
        ours = MAP.test(model).fit(X[rows], y[rows])
        theirs = []
        for seed in range(n_seeds):
            before, after = infairness(
                model, X[rows], y[rows], 100 * MAP.step_size, len(rows), np.random.default_rng(seed)
            )
            theirs.append(float(np.mean(after / before)))
        yield {
            "people": n, "copies": copies, "ours": round(ours.statistic_, 6), "infairness": round(np.mean(theirs), 4),
            "over_seeds": round(float(np.std(theirs)), 4),
        }  # fmt: skip


def infairness_rates(values, people, n_data_sets, sequence):
    """How often inFairness rejects, with the step that is right for 100 rows."""
    for value in values:
        model = MOST.model(MOST.weight("loss_ratio", value))
        for n, child in zip(people, sequence.spawn(len(people)), strict=True):
            rng = np.random.default_rng(child)
            rejected = []
            for _ in range(n_data_sets):
                X, y, _ = MOST.population.draw(n, rng)
                before, after = infairness(model, X, y, 100 * MAP.step_size, n, rng)
                rejected.append(audit_value("loss_ratio", before, after, tolerance=TOLERANCE,
                                            confidence_level=1 - ALPHA).p_value <= ALPHA)  # fmt: skip
            yield {"value": value, "people": n, "rejected": share(rejected)}


def dropped(n, sequence):
    """What is left of a forest's ratios when those that are not finite are dropped, as by the published code."""
    model = trained(RandomForestClassifier(10, random_state=0))
    X, y, _ = FEW.population.draw(n, np.random.default_rng(sequence))
    losses, _, ends = SEARCH.moved(model, X, y, gradient="search")
    with np.errstate(divide="ignore", invalid="ignore"):
        before, after = (-np.log(model.predict_proba(x)[np.arange(n), y]) for x in (X, ends))
        ratios = after / before
    finite = np.isfinite(ratios)
    harmed = ~finite & (after > before)
    return {
        "people": n, "dropped": share(~finite), "dropped_although_harmed": share(harmed),
        "mean_of_the_rest": round(float(ratios[finite].mean()), 4),
        "loss_ratio": float(f"{judged('loss_ratio', losses, None, 1.0).estimate:.4g}"),
        "ratio_of_means": round(judged("ratio_of_means", losses, None, 1.0).estimate, 4),
    }  # fmt: skip


def text(found):
    return f"{found['share']:.3f} ({found['error']:.3f})"


def failures_of(results):
    """What a promise of the package does not keep, beyond three Monte-Carlo errors."""
    for cell in results["level"]:
        found = cell["rejected"]
        if cell["value"] <= TOLERANCE and cell["people"] >= ENOUGH and found["share"] > NEAR + 3 * found["error"]:
            where = f"{cell['design']}, {cell['statistic']} {cell['value']} of {cell['people']} people"
            yield f"{where}: rejected in {text(found)}"
    for cell in results["ways"]:
        found = cell["rejected"]
        if cell["people"] >= ENOUGH and found["share"] > NEAR + 3 * found["error"]:
            yield f"{cell['model']}, {cell['statistic']}, {cell['people']} people: rejected in {text(found)}"
    for cell in results["rows"]:
        single = next(c for c in results["rows"] if c["people"] == cell["people"])
        if not np.isclose(cell["ours"], single["ours"], rtol=1e-6):
            yield f"{cell['people']} people {cell['copies']} times have another statistic: {cell['ours']}"


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.individual", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few data sets, nothing written: a few seconds")
    options = parser.parse_args(argv)
    quick = options.quick
    designs = LEVEL[1:2] if quick else LEVEL
    people = PEOPLE[:2] if quick else PEOPLE
    n_data_sets, n_most, n_ways, n_many = (20, 20, 20, 5000) if quick else (4000, 20_000, 4000, MANY)
    n_learned, n_compared = (4, 4) if quick else (1000, 1000)
    started = time.perf_counter()
    sequences = np.random.SeedSequence(SEED).spawn(6)
    results = {key: [] for key in ("level", "ways", "learned", "rows", "infairness")}

    def collect(key, cells, line):
        for cell in cells:
            results[key].append(cell)
            print(f"  {line(cell)}", flush=True)

    print(f"Rejected at {TOLERANCE:g}, and coverage, of a logistic model whose audit value is known")
    collect("level", level(designs, people, n_data_sets, n_most, sequences[0]), lambda cell: (
        f"{cell['design']:<22} {cell['statistic']:<17} {cell['value']:<5} {cell['people']:>5} people   "
        f"{text(cell['rejected'])}   {text(cell['coverage'])}"
    ))  # fmt: skip
    print("Rejected at the audit value itself, and coverage, by how unfair examples are found")
    collect("ways", by_way(people[1:3], n_ways, n_many, sequences[1]), lambda cell: (
        f"{cell['model']:<25} {cell['way']:<12} {cell['statistic']:<17} {cell['value']:<10g} {cell['people']:>5} "
        f"people   {text(cell['rejected'])}   {text(cell['coverage'])}"
    ))  # fmt: skip
    print("A learned fair metric: rejected at the limit; coverage of the limit, of its own value; bound above it")
    collect("learned", learned(LEARNED[::2] if quick else LEARNED, n_learned, sequences[2]), lambda cell: (
        f"{cell['features']:>2} features {cell['people']:>4} people   "
        f"{text(cell['rejected'])}   {text(cell['coverage_of_limit'])}   {text(cell['coverage_of_own'])}   "
        f"{text(cell['above_own'])}   own value {cell['mean_own_value']:.3f}"
    ))  # fmt: skip
    print("Statistic by how many rows are audited, ours and inFairness (over seeds)")
    collect("rows", rows_matter(n_compared // 20 or 2, sequences[3]), lambda cell: (
        f"{cell['people']:>4} people {cell['copies']:>2} times   {cell['ours']:.4f}   {cell['infairness']:.4f} "
        f"({cell['over_seeds']:.4f})"
    ))  # fmt: skip
    print("Rejected by inFairness")
    collect("infairness", infairness_rates((TOLERANCE, 1.5), people, n_compared, sequences[4]), lambda cell: (
        f"{cell['value']:<5} {cell['people']:>5} people   {text(cell['rejected'])}"
    ))  # fmt: skip
    results["dropped"] = dropped(2000 if quick else 20_000, sequences[5])
    print("Ratios of a forest, those that are not finite dropped")
    print("  " + "   ".join(f"{key} {value['share'] if isinstance(value, dict) else value}"
                            for key, value in results["dropped"].items()))  # fmt: skip
    print(f"\n{time.perf_counter() - started:.0f} s.")
    failures = list(failures_of(results))
    for failure in failures:
        print(f"FAILED {failure}", file=sys.stderr)
    if not quick:
        write(
            RESULTS, "level, power and coverage of the test of individual fairness; see benchmarks/individual.py", SEED,
            level_of_the_test=ALPHA, tolerance=TOLERANCE, map=vars(MAP), search=vars(SEARCH), many=MANY, **results,
        )  # fmt: skip
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
