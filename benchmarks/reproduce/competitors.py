"""Other packages: LiFT's constants, sizes of what others compute, and installed packages on the same data sets.

Packages that are not installed here run in other interpreters: SKFAIRTEST_PEERS lists them, separated like PATH. A
package that none of them has keeps its row without figures.
"""

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

import skfairtest
from benchmarks.common import competitors
from benchmarks.common.methods import rate_value
from benchmarks.designs import correlation
from benchmarks.reproduce import _individuals, _lift, _peers, _schemes, maity_simulation
from benchmarks.reproduce._peers import SELECTION, TPR
from benchmarks.reproduce._rows import Found, Row
from skfairtest import FairnessTest

TITLE = "Other packages on the same data"
SOURCE = ""
SEED = 20261123
INTRODUCTION = """\
What other packages compute, beside this one. LiFT's scheme with LiFT's random numbers gives each of the constants in
its unit tests, which its authors published. Of everything else nobody published a number: "another computation" has
sizes at the level of .05 that a first program of this project found when the packages' source was read (600 to 3,000
data sets; 200 for the two of vfairness), and "ours" the same scheme in a few lines here, on {data_sets:,} data sets
({fairtest_sets} of FairTest's); both have a Monte-Carlo error, and the distance allowed is four of them. A scheme here
stands for what its package computes, not for the package: it has no input checks, and none of the other features. The
last tables run the packages themselves.

Two groups have equal true positive rates and, in most designs, unequal base rates. A design is written as people,
base rates and true positive rate; one of five who are not positive is predicted positive."""
CALLED = """\
Share of data sets where the call, read as its column says, finds a difference, with the Monte-Carlo error; time is the
median CPU time of a call over that of `FairnessTest` on the same arrays. A package that resamples draws
{permutations} permutations or {bootstrap} bootstrap samples here, and takes longer in proportion with more. "No answer"
counts calls that raise. AIF360 has no test; its row shows what the usual ranges of its metrics (.8 to 1.25, and .1 from
0) flag."""
TABLES = {
    "What LiFT's four examples show": """\
LiFT's p-value is a share of permutations, without the data themselves; where the groups do not differ at all, the valid
p-value is 1. Ours is that of `FairnessTest` for precision. The ranking, whose rows LiFT permutes across queries, is not
tested here.""",
    "Sizes of permutation tests of true positive rates": """\
Labels permuted among everybody and the difference of the rates divided by nothing ("raw": the scheme of vfairness), by
its standard error in each permutation, and by LiFT's two deviations; then permuted among the positives; and this
package's exact test. Monte-Carlo errors are at most {size_error:.3f}.""",
    "FairTest's test of a correlation": """\
Feature and outcome are uncorrelated, and the outcome varies more where the feature is small: noise over the feature,
2,000 people. FairTest shuffles feature and outcome into each other.""",
    "Other schemes": """\
Share of data sets with a significant difference: without one (should be at most .05) and with one. Two groups of 200
people with rates of .3, or .3 and .5; five groups of 200 with rates of .3, or one of them .5. Ours on the same
data.""",
    "True positive rates by installed packages": CALLED,
    "Selection rates by installed packages": "The same for shares of people predicted positive.",
    "Individual fairness by inFairness": """\
The simulated people of [Maity et al.](maity.md), new ones in each of {individual_sets} data sets; logistic
models of the two features, the first of which the fair metric ignores. A model has the coefficients (t, 1): a fair one
does not use that feature (t = 0), and t of the others is chosen so that the mean ratio of losses in the population is
the one in the column's head, when the flow has {n_steps} steps of {step_size} and a penalty of {regularization:g};
{tolerance} is the tolerance. The table shows how often a model is called unfair, with the Monte-Carlo error. inFairness
divides the step by the number of people, so that by default it moves hardly anybody, and begins at a random point near
each person. With the step multiplied by that number and no random start it follows the paper's flow, as
`IndividualFairnessTest.as_published` does. Adam goes farther than the flow, so its ratios are larger ones; SenSeI looks
for people with other predictions, not with higher losses.""",
}

#: People, base rates and true positive rates of the two groups: equal true positive rates.
DESIGNS = (
    ((2000, 200), (0.9, 0.1), 0.8),
    ((2000, 200), (0.9, 0.05), 0.95),
    ((1000, 1000), (0.9, 0.1), 0.8),
    ((200, 2000), (0.9, 0.1), 0.8),
    ((20, 200), (0.3, 0.3), 0.9),
    ((50, 1000), (0.5, 0.5), 0.8),
    ((200, 200), (0.5, 0.5), 0.8),
    ((30, 30), (0.5, 0.5), 0.8),
)
#: What the other program found, in the order of the designs; where it was not run, None.
KNOWN = {
    "raw": ((0.468, 0.899, 0.245, None, None, None, None, None), 2000),
    "plug-in": ((0.095, 0.613, 0.052, 0.031, 0.030, 0.038, None, None), 2000),
    "plug-in, 1/2 added": ((0.086, 0.002, 0.052, 0.033, 0.052, 0.038, None, None), 2000),
    "plug-in, 1 added": ((0.080, 0.002, 0.052, 0.035, 0.052, 0.039, None, None), 2000),
    "pooled": ((0.044, 0.056, 0.046, 0.052, 0.051, 0.042, None, None), 2000),
    "within": ((0.035, 0.022, 0.039, 0.043, 0.025, 0.032, None, None), 2000),
    "LiFT": ((0.092, None, 0.058, None, 0.186, 0.083, 0.055, 0.077), 3000),
}
#: vfairness itself, by 200 data sets: its scheme is the raw difference.
VFAIRNESS = {(1000, 1000): 0.255, (2000, 200): 0.48}
FAIRTEST = {"U(0.00001, 1)": 0.705, "Exp(1) + 1": 0.005}
FAIRTEST_SETS = 600
ERRORS = 4
#: What the installed packages decide about: metric, people, base rates, true positive rates.
COMPARED = {
    "200 and 200": (TPR, (200, 200), (0.5, 0.5), (0.8, 0.8)),
    "1,000 and 1,000, base rates .9 and .1": (TPR, (1000, 1000), (0.9, 0.1), (0.8, 0.8)),
    "2,000 and 200, base rates .9 and .05, rate .95": (TPR, (2000, 200), (0.9, 0.05), (0.95, 0.95)),
    "200 and 200: .8 against .65": (TPR, (200, 200), (0.5, 0.5), (0.8, 0.65)),
    "1,000 and 1,000, base rates .9 and .1: .8 against .65": (TPR, (1000, 1000), (0.9, 0.1), (0.8, 0.65)),
    "200 and 200, .5": (SELECTION, (200, 200), (0.5, 0.5), (0.8, 0.8)),
    "200 and 200: .5 against .375": (SELECTION, (200, 200), (0.5, 0.5), (0.8, 0.55)),
}
ROOT = Path(__file__).parents[2]
#: Mean ratios of losses in the population (None: those of a fair model), people audited, and people who stand for the
#: population.
INDIVIDUAL = ((None, 400), (_individuals.TOLERANCE, 400), (_individuals.TOLERANCE, 2000), (1.255, 400), (1.5, 400))
POPULATION = 100_000


def written(design):
    people, base, rate = design
    return "{:,} and {:,}, {:g} and {:g}, {:g}".format(*people, *base, rate)


def allowed(known, their_sets, our_sets):
    """Return how far two simulated shares may be apart by chance."""
    share = np.clip(known, 0.5 / our_sets, 1 - 0.5 / our_sets)
    return float(ERRORS * np.sqrt(share * (1 - share) * (1 / their_sets + 1 / our_sets)))


def with_error(share, error):
    return f"{share:.3f} ({error:.3f})"


# LiFT -------------------------------------------------------------------------------------------------------


def lift_rows():
    """Each constant of LiFT's unit tests, and what its test and ours say of the same people."""
    rows, shown = [], []
    for name, (people, groups, metric, constants) in _lift.CASES.items():
        found = _lift.permutation_test(people, *groups, metric, _lift.TRIALS, _lift.SEED)
        for (what, value), constant in zip(found.items(), constants, strict=True):
            rows.append(Row(f"LiFT, {name}: {what}", value, other=constant, within=1e-12))
        shown.append([name, f"{found['difference']:.3f}", f"{found['p-value']:.3f}", our_precision(people)])
    return rows, shown


def our_precision(people):
    """Our p-value for precision, or None of a ranking."""
    if "rank" in people[0]:
        return None
    label, predicted, group = ([row[name] for row in people] for name in ("label", "prediction", "group"))
    test = FairnessTest.from_predictions(label, predicted, sensitive_features=group, metric="precision")
    return f"{test.p_value_:.3f}"


# Sizes ------------------------------------------------------------------------------------------------------


def size_rows(size, resamples, sequence):
    """Sizes of all permutation schemes, and of ours."""
    rows, shown, names = [], [], (*KNOWN, "ours")
    for place, (design, child) in enumerate(zip(DESIGNS, sequence.spawn(len(DESIGNS)), strict=True)):
        people, base, rate = design
        found = _schemes.permutation_sizes(
            (people, base, (rate, rate)), size, resamples, 2 * resamples + 1, np.random.default_rng(child)
        )
        shares = {name: _schemes.share(found[name]) for name in names}
        shown.append([written(design), *(f"{shares[name][0]:.3f}" for name in names)])
        for name, (known, their_sets) in KNOWN.items():
            if known[place] is not None:
                within = allowed(known[place], their_sets, len(found[name]))
                rows.append(Row(f"size, {name}: {written(design)}", shares[name][0], other=known[place], within=within))
        if people in VFAIRNESS and base[1] == 0.1:
            known = VFAIRNESS[people]
            within = allowed(known, 200, len(found["raw"]))
            what = f"size, vfairness: {written(design)}"
            rows.append(Row(what, shares["raw"][0], other=known, within=within, why="its scheme, raw"))
    return rows, (["people, base rates, rate", *KNOWN, "ours"], shown)


def fairtest_rows(size, sequence):
    """FairTest's rejections of uncorrelated data, and ours."""
    rows, shown = [], []
    for (name, known), child in zip(FAIRTEST.items(), sequence.spawn(len(FAIRTEST)), strict=True):
        theirs, ours = [], []
        for seed in child.spawn(size):
            own, permuted = seed.spawn(2)
            rng = np.random.default_rng(own)
            x = correlation.FEATURES[name](rng, correlation.N_PEARSON)
            e = correlation.NOISES["z / |x|"](rng, x)
            theirs.append(correlation.fairtest_rejects(x, e, rng))
            ours.append(correlation.rejects(x, e, "pearson", correlation.N_RESAMPLES, permuted))
        share = _schemes.share(theirs)
        within = allowed(known, FAIRTEST_SETS, size)
        rows.append(Row(f"size, FairTest's correlation: {name}", share[0], other=known, within=within))
        shown.append([name, with_error(*share), with_error(*_schemes.share(ours))])
    return rows, (["feature", "FairTest's scheme", "ours"], shown)


def samples_of(events, people):
    return [np.repeat([1.0, 0.0], [x, n - x]) for x, n in zip(events, people, strict=True)]


def without_zero(events, people, rng):
    """Whether fairlearn's interval of the absolute difference excludes 0."""
    counts = np.array([[n - x, 0, 0, x] for x, n in zip(events, people, strict=True)])
    return competitors.fairlearn(competitors.Table(counts), rate_value(SELECTION), _peers.N_BOOTSTRAP, rng)[1] > 0


#: Schemes by how many groups they are run on: what says of events, people and a generator that there is a difference.
SCHEMES = {
    2: {
        "FairLens, its default: differences of resampled groups": lambda x, n, rng: (
            _schemes.fairlens_bootstrap(*samples_of(x, n), 99, rng) <= _peers.ALPHA
        ),
        "FairLens, BinomialDistance: the other rate assumed known": lambda x, n, _: (
            _schemes.fairlens_binomial(x, n) <= _peers.ALPHA
        ),
        "HolisticAI, zscore_diff beyond 2": lambda x, n, _: abs(_schemes.holisticai_z(*samples_of(x, n))) > 2,
        "jfa, interval of the parity ratio": lambda x, n, _: _schemes.jfa_excludes(x, n),
        "fairlearn, interval of the difference without 0": without_zero,
    },
    5: {
        "audit-AI, best against worst": lambda x, n, _: _schemes.best_against_worst(x, n) <= _peers.ALPHA,
        "fairaudit, type interval, any group": lambda x, n, _: _schemes.fairaudit_interval(x, n).min() <= _peers.ALPHA,
    },
}
RATES = {2: ((0.3, 0.3), (0.3, 0.5)), 5: ((0.3,) * 5, (0.3,) * 4 + (0.5,))}
IN_EACH = 200


def scheme_table(size, sequence):
    """Each further scheme and ours on the same data: without a difference and with one."""
    shown = {}
    for (k, schemes), child in zip(SCHEMES.items(), sequence.spawn(len(SCHEMES)), strict=True):
        rng, people = np.random.default_rng(child), np.full(k, IN_EACH)
        for rates in RATES[k]:
            drawn = _schemes.events_of(rates, people, size, rng)
            own = with_error(*_schemes.share([_schemes.all_pairs(x, people) <= _peers.ALPHA for x in drawn]))
            for name, decide in schemes.items():
                found = with_error(*_schemes.share([decide(x, people, rng) for x in drawn]))
                shown.setdefault(name, [name, k]).extend([found, own])
    return ["scheme", "groups", "without a difference", "ours", "with one", "ours"], list(shown.values())


# Installed packages -----------------------------------------------------------------------------------------


def default_test(y_true, y_pred, group, metric):
    """What this package decides, by default."""
    y_true = None if metric == SELECTION else y_true
    return FairnessTest.from_predictions(y_true, y_pred, sensitive_features=group, metric=metric).rejected_


OWN = _peers.Call("skfairtest", "FairnessTest", default_test, ("rejected_",), 400)


def interpreters():
    """Return the interpreters that SKFAIRTEST_PEERS lists."""
    return [path for path in os.environ.get("SKFAIRTEST_PEERS", "").split(os.pathsep) if path]


def elsewhere(module, asked):
    """Ask a module in the first listed interpreter that has its package; the version is None where none has."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    for python in interpreters():
        done = subprocess.run(
            [python, "-m", module.__name__], input=asked, capture_output=True, text=True, check=True, cwd=ROOT,
            env=environment,
        )  # fmt: skip
        found = json.loads(done.stdout)
        if found["version"]:
            return found
    return {"version": None, "calls": {}}


def compared(limit, sequence):
    """Return what each call decided and took on at most so many data sets: entries (call, version, by design)."""
    designs = {
        name: (metric, _schemes.counts_of(*design, limit, np.random.default_rng(child)).tolist())
        for (name, (metric, *design)), child in zip(COMPARED.items(), sequence.spawn(len(COMPARED)), strict=True)
    }
    versions = {package: _peers.version_here(package) for package in _peers.PACKAGES}
    with ThreadPoolExecutor() as pool:  # other interpreters work meanwhile
        others = {
            package: pool.submit(elsewhere, _peers, json.dumps([package, designs, limit]))
            for package, version in versions.items()
            if not version
        }
        entries = [(OWN, skfairtest.__version__, _peers.run_call(OWN, designs, limit))]
        for package, version in versions.items():
            if version:
                found = {"version": version, "calls": _peers.run(package, designs, limit)}
            else:
                found = others[package].result()
            calls = [call for call in _peers.CALLS if call.package == package]
            entries += [(call, found["version"], found["calls"].get(call.what)) for call in calls]
    return entries


def figures_of(entries):
    """One figure for each reading of each call and design; no figures where a package is not installed."""
    own, out = entries[0][2], []
    for call, version, found in entries:
        for (name, (metric, *_, rates)), (place, reads) in product(COMPARED.items(), enumerate(call.reads)):
            shown = {
                "package": call.package, "version": version, "call": call.what, "reads": reads, "metric": metric,
                "design": name, "measures": "size" if rates[0] == rates[1] else "power",
            }  # fmt: skip
            if found is not None:
                shown |= figure(found[name], place, own[name])
            out.append(shown)
    return out


def figure(found, place, own):
    """Share of differences, with its error, and CPU time in units of ours."""
    answers = [each[place] for each in found["rejected"] if each is not None]
    share, error = _schemes.share(answers) if answers else (None, None)
    seconds, ours = (float(np.median(each["seconds"])) for each in (found, own))
    return {
        "rejected": share, "error": error, "data_sets": len(found["rejected"]),
        "no_answer": len(found["rejected"]) - len(answers), "milliseconds": 1000 * seconds,
        "times_ours": seconds / ours,
    }  # fmt: skip


def compared_table(metric, figures):
    """The figures of one metric, one row for each reading of each call."""
    designs = [name for name, (of, *_) in COMPARED.items() if of == metric]
    timed = list(dict.fromkeys([designs[0], max(designs, key=lambda name: sum(COMPARED[name][1]))]))
    head = [
        "package", "version", "call", "a difference is", "data sets", *designs,
        *(f"time, {sum(COMPARED[name][1]):,} people" for name in timed),
    ]  # fmt: skip
    readings = {}
    for each in figures:
        if each["metric"] == metric:
            readings.setdefault((each["package"], each["call"], each["reads"]), {})[each["design"]] = each
    rows = []
    for (package, call, reads), own in readings.items():
        first = own[designs[0]]
        figures_there = "rejected" in first
        shares = [decided(own[name]) if figures_there else None for name in designs]
        times = [f"{own[name]['times_ours']:.2g}" if figures_there else None for name in timed]
        version = first["version"] or "not installed here"
        rows.append([package, version, call, reads, first.get("data_sets"), *shares, *times])
    return head, rows


def decided(figure):
    none = f", no answer {figure['no_answer']}" if figure["no_answer"] else ""
    share = "–" if figure["rejected"] is None else with_error(figure["rejected"], figure["error"])
    return share + none


# Individuals ------------------------------------------------------------------------------------------------


def as_published(design, X, y):
    """Whether our test of individual fairness, with the settings of its source, rejects a model."""
    return individual(design.theta, X, y).rejected_


def individual(theta, X, y):
    return maity_simulation.audited(theta, 0.0, X, y, flow=_individuals.FLOW)


def slope_of(ratio, X, y):
    """Return the coefficient of the feature that the metric ignores, by the mean ratio of losses of these people.

    A fair model, whose ratio is None, does not use the feature.
    """
    if ratio is None:
        return 0.0
    return float(brentq(lambda slope: individual((slope, 1.0), X, y).statistic_ - ratio, 0.0, 1.0, xtol=1e-7))


def design_name(ratio, people):
    return f"{'fair' if ratio is None else f'{ratio:g}'}, {people:,} people"


def individual_table(size, population, sequence):
    """Return how often each call finds a model unfair."""
    X, y, _ = _individuals.simulated(np.random.default_rng(sequence), population)
    seeds = sequence.generate_state(len(INDIVIDUAL)).tolist()
    slopes = {ratio: slope_of(ratio, X, y) for ratio in dict.fromkeys(ratio for ratio, _ in INDIVIDUAL)}
    designs = {
        design_name(ratio, people): _individuals.Design((slopes[ratio], 1.0), people, seed)
        for (ratio, people), seed in zip(INDIVIDUAL, seeds, strict=True)
    }
    ours = {name: _individuals.timed(as_published, design, size) for name, design in designs.items()}
    there = elsewhere(_individuals, _individuals.as_json(designs, size))
    calls = {what: there["calls"].get(what) for what in _individuals.CALLS}
    rows = [individual_row("skfairtest", skfairtest.__version__, "IndividualFairnessTest.as_published", ours, ours)]
    rows += [individual_row(_individuals.PACKAGE, there["version"], what, call, ours) for what, call in calls.items()]
    return ["package", "version", "call", *designs, "time, 400 people"], rows


def individual_row(package, version, what, found, ours):
    """Shares of rejected models and CPU time in units of ours; no figures where the package is not installed."""
    if found is None:
        return [package, "not installed here", what, *[None] * len(ours), None]
    shares = [with_error(*_schemes.share(np.ravel(each["rejected"]))) for each in found.values()]
    first = next(iter(ours))
    times = [np.median(each[first]["seconds"]) for each in (found, ours)]
    return [package, version, what, *shares, f"{times[0] / times[1]:.2g}"]


def run(*, quick):
    size, resamples, fairtest_sets, limit = (20, 99, 3, 1) if quick else (2000, 199, 600, 400)
    individual_sets, population = (2, 500) if quick else (200, POPULATION)
    seeds = np.random.SeedSequence(SEED).spawn(5)
    rows, lift = lift_rows()
    sized, sizes = size_rows(size, resamples, seeds[0])
    correlated, correlations = fairtest_rows(fairtest_sets, seeds[1])
    figures = figures_of(compared(limit, seeds[3]))
    tables = {
        "What LiFT's four examples show": (["people", "difference", "LiFT's p", "our p"], lift),
        "Sizes of permutation tests of true positive rates": sizes,
        "FairTest's test of a correlation": correlations,
        "Other schemes": scheme_table(size // 2, seeds[2]),
        "True positive rates by installed packages": compared_table(TPR, figures),
        "Selection rates by installed packages": compared_table(SELECTION, figures),
        "Individual fairness by inFairness": individual_table(individual_sets, population, seeds[4]),
    }
    facts = {
        "data_sets": size, "fairtest_sets": fairtest_sets, "size_error": 0.5 / np.sqrt(size),
        "permutations": _peers.N_PERMUTATIONS, "bootstrap": _peers.N_BOOTSTRAP, "peers": figures,
        "individual_sets": individual_sets, "n_steps": _individuals.N_STEPS, "step_size": _individuals.STEP_SIZE,
        "regularization": _individuals.REGULARIZATION, "tolerance": _individuals.TOLERANCE,
    }  # fmt: skip
    return Found([*rows, *sized, *correlated], tables, facts)
