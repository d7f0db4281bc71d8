"""Size, bias and coverage where groups are known by probabilities: ``python -m benchmarks.uncertain_groups``.

People live in 200 places, and belong to the first of two groups with the probability of their place. In each world
another thing makes outcomes: nothing, the place (rates of the groups equal, or not), or the group; and in the last one
the probabilities of places are estimated from 20 people each. Every estimate is run in every world, so that the figures
show what happens where its assumption fails. Stored in benchmarks/results/uncertain_groups.json.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from benchmarks.common.bounds import Promise
from benchmarks.common.results import write
from skfairtest import UncertainGroupsTest

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results" / "uncertain_groups.json"
WHAT = "size, bias and coverage of tests with probabilities of groups; see benchmarks/uncertain_groups.py"
SEED, PLACES, REFERENCE, PRIOR = 20, 200, 20, (0.8, 1.2)
QUICK = 40
ESTIMATES = ("weighted", "thresholded", "likelihood")
WORLDS = ("nothing", "place, equal groups", "place", "group", "group, estimated probabilities")
#: In which worlds the assumption of each estimate holds: that outcomes are by chance is no question of groups.
HOLDS = {
    "weighted": {"nothing", "place, equal groups", "place"},
    "thresholded": {"nothing"},
    "likelihood": {"nothing", "group", "group, estimated probabilities"},
}


def places(world):
    """Return the probability of the first group in each place, and the rates there, (2, PLACES)."""
    rng = np.random.default_rng([SEED, 0])
    p = rng.beta(*PRIOR, PLACES)
    if world == "nothing":
        return p, np.full((2, PLACES), 0.3)
    if world.startswith("group"):
        return p, np.tile([[0.3], [0.5]], PLACES)
    if world == "place":
        return p, np.tile(0.6 - 0.4 * p, (2, 1))
    # What is left of noise without its parts along 1 and p: the average over either group's people is the same.
    both = np.stack([np.ones(PLACES), p], axis=1)
    noise = rng.uniform(-0.25, 0.25, PLACES)
    noise -= both @ np.linalg.lstsq(both, noise, rcond=None)[0]
    return p, np.tile(0.35 + noise, (2, 1))


def truth(p, rates):
    """Return the difference of the two groups' rates."""
    return float(p @ rates[0] / p.sum() - (1 - p) @ rates[1] / (1 - p).sum())


def people(world, n, rng):
    """Return outcomes and the probability of the first group as it is known."""
    p, rates = places(world)
    known = p
    if "estimated" in world:  # the mean of what is known of a place after 20 of its people
        p = rng.beta(*PRIOR, PLACES)
        known = (rng.binomial(REFERENCE, p) + PRIOR[0]) / (REFERENCE + sum(PRIOR))
    place = rng.integers(0, PLACES, n)
    group = (rng.random(n) >= p[place]).astype(int)
    return (rng.random(n) < rates[group, place]).astype(int), known[place]


def simulated(world, n, estimate, repetitions, n_reference=None):
    """Return the figures of one estimate in one world."""
    true = truth(*places(world))
    found = np.empty((repetitions, 3))
    for repetition in range(repetitions):
        y, p = people(world, n, np.random.default_rng([SEED, 1, WORLDS.index(world), n, repetition]))
        test = UncertainGroupsTest.from_predictions(
            None, y, sensitive_features={"a": p, "b": 1 - p}, estimate=estimate, n_reference=n_reference,
            n_resamples=199, random_state=repetition,
        )  # fmt: skip
        low, high = test.confidence_interval_
        found[repetition] = test.disparity_ - true, test.rejected_, low <= true <= high
    mean = found.mean(axis=0)
    return {
        "world": world, "people": n, "estimate": estimate, "n_reference": n_reference, "repetitions": repetitions,
        "assumption_holds": world in HOLDS[estimate], "true_disparity": round(true, 6), "bias": round(mean[0], 5),
        "bias_error": round(found[:, 0].std(ddof=1) / np.sqrt(repetitions), 5), "rejected": round(mean[1], 5),
        "coverage": round(mean[2], 5),
    }  # fmt: skip


def broken(cells):
    """Say where a figure is worse than is promised, of estimates whose assumption holds."""
    for cell in cells:
        error = 3 * np.sqrt(0.05 * 0.95 / cell["repetitions"])
        estimated = "estimated" in cell["world"] and cell["n_reference"] is None
        if not cell["assumption_holds"] or estimated:
            continue
        where = f"{cell['world']}, {cell['people']} people, {cell['estimate']}"
        if abs(cell["bias"]) > max(0.01, 4 * cell["bias_error"]):
            yield f"{where}: bias {cell['bias']}"
        if cell["true_disparity"] == 0 and cell["rejected"] > 0.05 + error:
            yield f"{where}: size {cell['rejected']}"
        if cell["coverage"] < 0.94 - error:
            yield f"{where}: coverage {cell['coverage']}"


def quick():
    """Check a few data sets in which nothing makes outcomes, so that every estimate's assumption holds."""
    cells = [simulated("nothing", 500, estimate, QUICK) for estimate in ESTIMATES]
    says = f"uncertain groups: bias, size and coverage within Monte-Carlo errors, {QUICK} data sets of 500 people"
    return Promise(says, len(cells), list(broken(cells)))


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.uncertain_groups", description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=40, metavar="N")
    options = parser.parse_args(argv)
    asked = [(world, n, estimate, None) for world in WORLDS for n in (500, 5000) for estimate in ESTIMATES]
    asked += [(WORLDS[-1], n, "weighted", REFERENCE + sum(PRIOR)) for n in (500, 5000)]
    cells = []
    for world, n, estimate, n_reference in asked:
        cells.append(simulated(world, n, estimate, options.repetitions, n_reference))
        print(*cells[-1].values(), sep=", ", flush=True)
    write(RESULTS, WHAT, SEED, cells=cells)
    found = list(broken(cells))
    for where in found:
        print(f"FAILED {where}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
