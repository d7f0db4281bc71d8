"""Two groups that are known by probabilities: people live in 200 places, and belong to a group with their place's.

In each world another thing makes outcomes: nothing, the place (rates of the groups equal, or not), or the group; and in
the last one the probabilities of places are estimated from 20 people each. Every estimate is run in every world, so
that the figures show what happens if its assumption fails.
"""

import numpy as np

from benchmarks.common.design import Design
from skfairtest import UncertainGroupsTest

PLACES, REFERENCE, PRIOR = 200, 20, (0.8, 1.2)
#: Each world, and the estimates whose assumption holds there.
WORLDS = {
    "nothing": ("weighted", "thresholded", "likelihood"),
    "place, equal groups": ("weighted",),
    "place": ("weighted",),
    "group": ("likelihood",),
    "group, estimated probabilities": ("likelihood",),
}


def places(world):
    """Return the probability of the first group in each place, and the rates there, (2, PLACES)."""
    rng = np.random.default_rng([20, 0])
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


def design(world, n, estimate, n_reference=None):
    p, rates = places(world)
    truth = float(p @ rates[0] / p.sum() - (1 - p) @ rates[1] / (1 - p).sum())
    holds, method = estimate in WORLDS[world], f"by {estimate}"

    def ask(rng, size):
        found = np.empty((size, 3))
        for data_set in range(size):
            y, p = people(world, n, rng)
            test = UncertainGroupsTest.from_predictions(
                None, y, sensitive_features={"a": p, "b": 1 - p}, estimate=estimate, n_reference=n_reference,
                n_resamples=199, random_state=data_set,
            )  # fmt: skip
            low, high = test.confidence_interval_
            found[data_set] = test.rejected_, low <= truth <= high, test.disparity_ - truth
        rejected, covered, bias = found.T
        figures = {"size" if abs(truth) < 1e-9 else "power": rejected, "coverage": covered, "bias": bias}
        return {method: figures | {"bias_error": bias.std(ddof=1) / np.sqrt(size), "truth": truth}}

    def biased(methods):
        if promised and abs(methods[method]["bias"]) > max(0.01, 4 * methods[method]["bias_error"]):
            yield f"bias {methods[method]['bias']}"

    promised = (method,) if holds and "estimated" not in world else ()
    section = "unknown groups" if holds else "unknown groups, assumption fails"
    words = f"{world}, {n} people, {estimate}" + (f", {n_reference:g} reference people" if n_reference else "")
    return Design(f"{section}/{words}", ask, 400, promised, 40 * (world == "nothing" and n == 500), also=biased)


DESIGNS = [
    *(design(world, n, estimate) for world in WORLDS for n in (500, 5000) for estimate in WORLDS["nothing"]),
    *(design("group, estimated probabilities", n, "weighted", REFERENCE + sum(PRIOR)) for n in (500, 5000)),
]
