"""Streams of batches, looked at after every batch, and of single samples, looked at after every one.

Streams are tables of counts, so that thousands are simulated together. "size" is the share of streams in which the
hypothesis is true that is ever rejected by bets on every sample ("blocks") and by bets on differences of batch means
("betting"); and of 2,000 of them by what is done otherwise: the exact test of all data so far at each look, the exact
test of each batch, and the first of these with Bonferroni's level over all looks. Single samples are compared by
queues: who comes next follows the outcomes before. "coverage" is the share of streams whose
confidence sequence never excludes the true difference, cut at equality or the margin once that is rejected.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.stats import hypergeom

from benchmarks.common.design import Design
from skfairtest.sequential.e_process import EProcess, e_holm, mixed

LEVEL = 0.05
STREAMS, COMPARED = 10_000, 2_000
METHODS = ("blocks", "betting")
BITS = np.array([0.0, 1.0])
#: Values of losses; shares of two groups whose means are equal, though little else is.
LOSSES = np.array([0.0, 0.1, 0.3, 0.7, 1.0])
SHARES = np.array([[0.70, 0.10, 0.05, 0.05, 0.10], [0.10, 0.65, 0.20, 0.05, 0.0]])


@dataclass(frozen=True)
class Stream:
    """Batches of two groups.

    `sizes` gives samples of both groups, (n_streams, 2), by the look, the number of streams, the generator and the
    share of events in the batch before; `rates` both rates by the look.
    """

    looks: int
    sizes: object
    rates: object
    margin: float = 0.0

    def batches(self, n_streams, rng):
        """Yield counts (n_streams, 2 groups, 2 values) of every look."""
        last = np.zeros(n_streams)
        for look in range(self.looks):
            n = self.sizes(look, n_streams, rng, last)
            x = rng.binomial(n, self.rates(look))
            last = x.sum(axis=1) / n.sum(axis=1)
            yield np.stack([n - x, x], axis=-1).astype(float)


def fixed(*sizes):
    return lambda look, n_streams, rng, last: np.broadcast_to(sizes, (n_streams, 2))


def shares(of_look, n):
    """Return batches of n samples, each of the first group with a probability that depends on the look."""

    def sizes(look, n_streams, rng, last):
        first = rng.binomial(n, of_look(look), n_streams)
        return np.stack([first, n - first], axis=1)

    return sizes


def constant(*rates):
    return lambda look: np.array(rates)


def missing(look, n_streams, rng, last):
    """Return batches of 60, of both groups in every third week and of one of them otherwise."""
    kinds = np.array([[60, 0], [0, 60], [40, 20]])
    return kinds[rng.integers(3, size=n_streams)]


def following(look, n_streams, rng, last):
    """Return batches of 60 whose mix follows the outcomes of the batch before."""
    first = rng.binomial(60, np.where(last > 0.3, 0.1, 0.6))
    return np.stack([first, 60 - first], axis=1)


FAIR = {
    "100 and 100 a week, 30%": Stream(52, fixed(100, 100), constant(0.3, 0.3)),
    "10 and 190 a week, 5%": Stream(104, fixed(10, 190), constant(0.05, 0.05)),
    "rates drift from 10% to 60%": Stream(52, fixed(50, 50), lambda look: np.full(2, 0.1 + 0.5 * look / 51)),
    "rates and mixes drift": Stream(52, shares(lambda look: 0.05 + 0.55 * look / 51, 100),
                                    lambda look: np.full(2, 0.1 + 0.5 * look / 51)),
    "the mix follows the outcomes of the batch before": Stream(52, following, constant(0.3, 0.3)),
    "a group is often missing": Stream(52, missing, constant(0.2, 0.2)),
    "at the margin of 5 points": Stream(52, fixed(100, 100), constant(0.35, 0.30), 0.05),
}  # fmt: skip
LATE = np.random.default_rng(0).permutation(52)
#: Streams of a constant difference, in which a cut at equality or a margin may exclude it.
COVERED = {
    "difference 10 points": Stream(52, fixed(50, 50), constant(0.4, 0.3)),
    "difference 0, rare": Stream(52, fixed(50, 50), constant(0.05, 0.05)),
    "difference 2 points": Stream(52, fixed(50, 50), constant(0.32, 0.30)),
    "difference 1 point, rare, 5 and 500 a week": Stream(52, fixed(5, 500), constant(0.02, 0.01)),
    "difference 0, 5 and 500 a week": Stream(52, fixed(5, 500), constant(0.05, 0.05)),
    "difference 3 points, labels of drifting weeks come late": Stream(
        52, following, lambda look: np.array([0.13, 0.10]) + 0.5 * LATE[look] / 51),
    "at the margin of 5 points": FAIR["at the margin of 5 points"],
}  # fmt: skip

#: Who comes next, of single samples: the group, the outcome and how many events in a row it had (0 or 1, 0 or 1, 0 to
#: 2), and a random group; whether the group changes.
ARRIVALS = {
    "one group until an event, then one of the other": lambda group, event, row, chance: (1 - group) & event,
    "one group until a 0, then one of the other": lambda group, event, row, chance: (1 - group) & (1 - event),
    "the group changes after each event": lambda group, event, row, chance: group ^ event,
    "the group changes after two events": lambda group, event, row, chance: group ^ (row == 2),
    "at random": lambda group, event, row, chance: chance,
}
ROWS = 1_000


def begun(n_streams, method, margin=0.0, differences=()):
    """Return the evidence about many streams at once; limits are not followed where no difference is given."""
    return EProcess.begun(n_streams, margin, method, np.array(differences, dtype=float))


def take(process, counts, values=BITS):
    """Take in a batch of each stream, counts (n_streams, 2, K), where it has both groups; return the evidence."""
    both = np.flatnonzero((counts.sum(axis=-1) > 0).all(axis=-1))
    process.update(both, values, counts[both, None])
    return process.log_e


def single(arrival, rates, n_streams, rng, rows):
    """Return the row (from 1) at which each block of one sample of each group is complete; nan where it is not.

    Each group's outcomes are drawn before anybody comes: (n_streams, n_blocks, 2) is returned too.
    """
    values = (rng.random((n_streams, rows, 2)) < rates).astype(float)
    group, in_a_row = np.zeros(n_streams, dtype=int), np.zeros(n_streams, dtype=int)
    come, complete = np.zeros((n_streams, 2), dtype=int), np.full((n_streams, rows // 2), np.nan)
    everyone = np.arange(n_streams)
    for row in range(rows):
        event = values[everyone, come[everyone, group], group].astype(int)
        come[everyone, group] += 1
        done = come.min(axis=1)
        new = (done > 0) & (come[everyone, group] == done)
        complete[everyone[new], done[new] - 1] = row + 1
        in_a_row = np.where(event, in_a_row + 1, 0)
        then = ARRIVALS[arrival](group, event, np.minimum(in_a_row, 2), rng.integers(2, size=n_streams))
        group, in_a_row = then, np.where(then == group, in_a_row, 0)
    return complete, values[:, : rows // 2]


def looked_at_single(arrival, rates, rng, n_streams, rows=ROWS):
    """Return by method the row at which each stream is rejected, nan where it never is."""
    complete, values = single(arrival, rates, n_streams, rng, rows)
    found = {}
    for method in METHODS:
        process, first = begun(n_streams, method), np.full(n_streams, np.nan)
        for block in range(values.shape[1]):
            there = np.flatnonzero(~np.isnan(complete[:, block]))
            counts = np.broadcast_to(np.eye(2), (len(there), 1, 2, 2))
            process.update(there, values[there, block, None], counts)
            new = there[np.isnan(first[there]) & (process.log_e[there] >= -np.log(LEVEL))]
            first[new] = complete[new, block]
        found[method] = first
    return found


def exact_p(counts):
    """Return Fisher's p-values, twice the smaller tail, of tables (n_streams, 2, 2)."""
    tables, place = np.unique(counts.reshape(len(counts), 4), axis=0, return_inverse=True)
    n_a, x_a = tables[:, :2].sum(axis=1), tables[:, 1]
    total, events = tables.sum(axis=1), tables[:, [1, 3]].sum(axis=1)
    tails = hypergeom.cdf(x_a, total, events, n_a), hypergeom.sf(x_a - 1, total, events, n_a)
    return np.minimum(1.0, 2 * np.minimum(*tails))[place.reshape(-1)]


def first_look(rejected):
    """Return the first look (from 1) at which each stream is rejected, nan where none: of booleans (looks, n)."""
    return np.where(rejected.any(axis=0), rejected.argmax(axis=0) + 1.0, np.nan)


def looked_at(stream, rng, n_streams):
    """Return by method the first look at which each stream is rejected."""
    evidence = {name: begun(n_streams, name, stream.margin) for name in METHODS}
    few = min(COMPARED, n_streams)
    so_far, found = np.zeros((few, 2, 2)), {}
    for counts in stream.batches(n_streams, rng):
        for name, process in evidence.items():
            found.setdefault(name, []).append(take(process, counts) >= -np.log(LEVEL))
        if not stream.margin:
            so_far += counts[:few]
            p = exact_p(so_far)
            found.setdefault("all data, exact", []).append(p <= LEVEL)
            found.setdefault("each batch, exact", []).append(exact_p(counts[:few]) <= LEVEL)
            found.setdefault("exact, Bonferroni", []).append(p <= LEVEL / stream.looks)
    return {name: first_look(np.array(looks)) for name, looks in found.items()}


def ever(look, rng, n_streams):
    """Return which streams are ever rejected."""
    return {method: {"size": np.isfinite(first)} for method, first in look(rng, n_streams).items()}


def losses_looked_at(rng, n_streams):
    """Return when streams are rejected whose losses have equal means and different distributions."""
    evidence, found = {name: begun(n_streams, name) for name in METHODS}, {name: [] for name in METHODS}
    for _ in range(52):
        counts = np.stack([rng.multinomial(n, p, n_streams) for n, p in zip((30, 60), SHARES, strict=True)], axis=1)
        for name, process in evidence.items():
            found[name].append(take(process, counts.astype(float), LOSSES) >= -np.log(LEVEL))
    return {name: first_look(np.array(looks)) for name, looks in found.items()}


def three_groups(rates, rng, n_streams):
    """Return in which streams a true pair is ever rejected with e-Holm, and a false one."""
    pairs = ((0, 1), (0, 2), (1, 2))
    evidence = [begun(n_streams, "blocks") for _ in pairs]
    true = np.array([rates[a] == rates[b] for a, b in pairs])
    rejected = np.zeros((n_streams, 3), dtype=bool)
    for _ in range(52):
        x = rng.binomial(50, rates, (n_streams, 3))
        counts = np.stack([50 - x, x], axis=-1).astype(float)
        taken = zip(evidence, pairs, strict=True)
        log_e = np.stack([take(process, counts[:, list(pair)]) for process, pair in taken], axis=1)
        rejected |= np.apply_along_axis(e_holm, 1, log_e) >= -np.log(0.9 * LEVEL)  # a tenth is kept for late groups
    return {"blocks": {"size": rejected[:, true].any(axis=1), "power": rejected[:, ~true].any(axis=1)}}


def covered(stream, rng, n_streams):
    """Return which confidence sequences never exclude the true difference, by threshold 2 / level a side.

    It is cut where the test has rejected: equality, or the margin, is excluded then, and so is what lies beyond it from
    the estimate.
    """
    true, margin = np.subtract(*stream.rates(0)), stream.margin
    process = begun(n_streams, "blocks", margin, (true, -true))
    missed, cut, rejected = np.zeros((3, n_streams), dtype=bool)
    for counts in stream.batches(n_streams, rng):
        rejected |= take(process, counts) >= -np.log(LEVEL)
        # Both directions, each at the true difference.
        sides = mixed(process.followed[:, [0, 1], [0, 1]])
        missed |= (sides >= np.log(2 / LEVEL)).any(axis=1)
        shown = process.difference
        beyond = (shown > margin) & (true <= margin) | (shown < -margin) & (true >= -margin)
        cut |= missed | rejected & beyond
    return {"blocks": {"coverage": ~cut, "before_the_cut": ~missed}}


def fair(name, look, quick=0):
    return Design(f"streams/{name}", partial(ever, look), STREAMS, METHODS, quick)


QUICK = ("100 and 100 a week, 30%", "a group is often missing", "at the margin of 5 points")
DESIGNS = [
    *(fair(name, partial(looked_at, stream), 300 * (name in QUICK)) for name, stream in FAIR.items()),
    *(
        fair(
            f"single samples, {name}", partial(looked_at_single, name, (0.3, 0.3)), 300 * name.startswith("one group u")
        )
        for name in ARRIVALS
    ),
    fair("losses of equal means", losses_looked_at),
    *(
        Design(f"streams/coverage, {name}", partial(covered, stream), STREAMS, ("blocks",), 300)
        for name, stream in COVERED.items()
    ),
    *(
        Design(f"streams of three groups/{name}", partial(three_groups, rates), STREAMS, ("blocks",))
        for name, rates in (("all alike", (0.3, 0.3, 0.3)), ("two alike, one not", (0.3, 0.3, 0.5)))
    ),
]
