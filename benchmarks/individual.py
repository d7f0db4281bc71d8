"""How often the test of individual fairness rejects fair models: ``python -m benchmarks.individual [--quick]``.

Level: how often a logistic model is rejected whose audit value in the population is 1.1, exactly the tolerance of 1.25,
1.3 or 1.5, and how often the interval holds the true value; the truth is an integral that is computed, not simulated
(see _logistic_population). In one design ratios have a long right tail, in the other a long left one. Ways: the same at
a boundary for differences of what models say, and for the search of forests; the tolerance is then the value of that
very map, integrated or from a million people of its own.

An unfair example is a function of one person. So people are moved in one pass and then dealt into samples; of some
samples it is checked that the test finds the same.

Without ``--quick`` the figures are written to benchmarks/results/individual.json with the seed and versions.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from benchmarks.common.logistic_population import MAP, TOLERANCE, Design, Map, Population
from benchmarks.common.results import write
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


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.individual", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few data sets, nothing written: a few seconds")
    options = parser.parse_args(argv)
    quick = options.quick
    designs = LEVEL[1:2] if quick else LEVEL
    people = PEOPLE[:2] if quick else PEOPLE
    n_data_sets, n_most, n_ways, n_many = (20, 20, 20, 5000) if quick else (4000, 20_000, 4000, MANY)
    started = time.perf_counter()
    sequences = np.random.SeedSequence(SEED).spawn(2)
    results = {"level": [], "ways": []}

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
