"""How often a fair stream is ever rejected, and how soon an unfair one: ``python -m benchmarks.sequential [--quick]``.

Streams of batches are tables of counts, so that thousands are simulated together. A stream is looked at after every
batch, and a stream of single samples after every one.

- False alarms: the share of 10,000 streams in which the hypothesis is true that is ever rejected at 5% by bets on
  every sample ("blocks") and by bets on differences of batch means ("betting"); and of 2,000 of them by what is done
  otherwise: the exact test of all data so far at each look, the exact test of each batch, and the first of these with
  Bonferroni's level over all looks.
- Single samples, compared by queues: who comes next follows the outcomes before.
- Delay: looks until rejection, beside the looks of a fixed sample whose exact test has a power of 80%, Bonferroni over
  all looks, and the published betting recursion on pairs (online Newton steps).
- Coverage: streams whose confidence sequence ever excludes the true difference, before and after it is cut at equality
  or the margin, once that is rejected.

Without ``--quick`` figures are written to benchmarks/results/sequential.json with the seed and versions.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import hypergeom

from benchmarks.common.bounds import Promise
from benchmarks.common.command import command, generator
from skfairtest import required_sample_size
from skfairtest.sequential.e_process import EProcess, e_holm, mixed

SEED = 20261122
RESULTS = Path(__file__).parent / "results" / "sequential.json"
LEVEL = 0.05
STREAMS, COMPARED, DELAYED = 10_000, 2_000, 1_000
#: What `quick` looks at.
QUICK = (
    "fair: 100 and 100 a week, 30%",
    "fair: a group is often missing",
    "fair: single samples, one group until an event, then one of the other",
    "fair: at the margin of 5 points",
    "coverage",
)
BITS = np.array([0.0, 1.0])
#: Values of losses; shares of two groups whose means are equal, though little else is.
LOSSES = np.array([0.0, 0.1, 0.3, 0.7, 1.0])
SHARES = np.array([[0.70, 0.10, 0.05, 0.05, 0.10], [0.10, 0.65, 0.20, 0.05, 0.0]])


@dataclass(frozen=True)
class Stream:
    """Batches of two groups: sizes and rates by look.

    Parameters
    ----------
    looks : int
        Batches.
    sizes : callable
        Of look, number of streams, generator and the share of events in the batch before: samples of both groups,
        (n_streams, 2).
    rates : callable
        Of the look: both rates.
    margin : float
        The tolerated difference.
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
UNFAIR = {
    "50 and 50 a week, 30% and 40%": (50, 50, 0.30, 0.40),
    "20 and 180 a week, 20% and 10%": (20, 180, 0.20, 0.10),
    "500 and 500 a week, 30% and 34%": (500, 500, 0.30, 0.34),
    "20 and 180 a week, 9% and 3%": (20, 180, 0.09, 0.03),
    "1 and 1 a look, 30% and 50%": (1, 1, 0.30, 0.50),
}


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


def looked_at_single(arrival, rates, n_streams, rng, method, rows=ROWS):
    """Return the row at which each stream is rejected, nan where it never is, and its largest evidence."""
    complete, values = single(arrival, rates, n_streams, rng, rows)
    process, most, first = begun(n_streams, method), np.zeros(n_streams), np.full(n_streams, np.nan)
    for block, counts in enumerate(np.broadcast_to(np.eye(2), (values.shape[1], 1, 1, 2, 2))):
        there = np.flatnonzero(~np.isnan(complete[:, block]))
        process.update(there, values[there, block, None], np.broadcast_to(counts, (len(there), 1, 2, 2)))
        most[there] = np.maximum(most[there], process.log_e[there])
        first = np.where(np.isnan(first) & (most >= -np.log(LEVEL)), complete[:, block], first)
    return first, most


def false_alarms_of_single(arrival, n_streams, rng):
    """Return false alarms of single samples."""
    ever = {
        name: round(float(np.isfinite(looked_at_single(arrival, (0.3, 0.3), n_streams, rng, name)[0]).mean()), 4)
        for name in ("blocks", "betting")
    }
    return {"looks": ROWS, "streams": n_streams, "ever": ever}


def delay_of_single(arrival, n_streams, rng):
    """Return rows until rejection at rates of 30% and 50%."""
    wanted = required_sample_size(metric="selection_rate", rates=(0.3, 0.5), power=0.8)
    found = {
        name: summary(looked_at_single(arrival, (0.3, 0.5), n_streams, rng, name)[0]) for name in ("blocks", "betting")
    }
    return {"streams": n_streams, "looks": ROWS, "fixed_80": float(sum(wanted)), "delay": found}


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


def looked_at(stream, n_streams, rng):
    """Return by method the first look at which each stream is rejected."""
    evidence = {name: begun(n_streams, name, stream.margin) for name in ("blocks", "betting")}
    few = min(COMPARED, n_streams)
    so_far, found = np.zeros((few, 2, 2)), {}
    for counts in stream.batches(n_streams, rng):
        for name, process in evidence.items():
            found.setdefault(name, []).append(take(process, counts) >= -np.log(LEVEL))
        if not stream.margin:
            so_far += counts[:few]
            p = exact_p(so_far)
            found.setdefault("exact test of all data each look", []).append(p <= LEVEL)
            found.setdefault("exact test of each batch", []).append(exact_p(counts[:few]) <= LEVEL)
            found.setdefault("exact test, Bonferroni over looks", []).append(p <= LEVEL / stream.looks)
    return {name: first_look(np.array(looks)) for name, looks in found.items()}


def false_alarms(name, n_streams, rng):
    stream = FAIR[name]
    first = looked_at(stream, n_streams, rng)
    ever = {method: round(float(np.isfinite(looks).mean()), 4) for method, looks in first.items()}
    return {"looks": stream.looks, "streams": n_streams, "ever": ever}


def false_alarms_of_losses(n_streams, rng):
    """Return false alarms where two groups' losses have equal means and different distributions."""
    evidence = {name: begun(n_streams, name) for name in ("blocks", "betting")}
    ever = {name: np.zeros(n_streams, dtype=bool) for name in evidence}
    for _ in range(52):
        counts = np.stack([rng.multinomial(n, p, n_streams) for n, p in zip((30, 60), SHARES, strict=True)], axis=1)
        for name, process in evidence.items():
            ever[name] |= take(process, counts.astype(float), LOSSES) >= -np.log(LEVEL)
    return {
        "looks": 52,
        "streams": n_streams,
        "ever": {name: round(float(one.mean()), 4) for name, one in ever.items()},
    }


def false_alarms_of_three_groups(n_streams, rng):
    """Return how often any true pair is rejected with e-Holm, where two of three groups are alike and where all are."""
    pairs, found = ((0, 1), (0, 2), (1, 2)), {}
    for words, rates in (("all alike", (0.3, 0.3, 0.3)), ("two alike, one not", (0.3, 0.3, 0.5))):
        evidence = [begun(n_streams, "blocks") for _ in pairs]
        true = [rates[a] == rates[b] for a, b in pairs]
        ever, correct = np.zeros(n_streams, dtype=bool), np.zeros(n_streams, dtype=bool)
        for _ in range(52):
            x = rng.binomial(50, rates, (n_streams, 3))
            counts = np.stack([50 - x, x], axis=-1).astype(float)
            taken = zip(evidence, pairs, strict=True)
            log_e = np.stack([take(process, counts[:, list(pair)]) for process, pair in taken], axis=1)
            rejected = np.apply_along_axis(e_holm, 1, log_e) >= -np.log(0.9 * LEVEL)  # a tenth is kept for late groups
            ever |= (rejected & true).any(axis=1)
            correct |= (rejected & ~np.array(true)).any(axis=1)
        found[words] = {"false": round(float(ever.mean()), 4)}
        if not all(true):
            found[words]["true"] = round(float(correct.mean()), 4)
    return {"looks": 52, "streams": n_streams, "found": found}


def delay(name, n_streams, rng):
    """Return looks until rejection."""
    n_a, n_b, p_a, p_b = UNFAIR[name]
    wanted = required_sample_size(metric="selection_rate", rates=(p_a, p_b), power=0.8, shares=(n_a, n_b))
    fixed_looks = sum(wanted) / (n_a + n_b)
    looks = int(np.ceil(8 * fixed_looks))
    first = looked_at(Stream(looks, fixed(n_a, n_b), constant(p_a, p_b)), n_streams, rng)
    kept = ("blocks", "betting", "exact test, Bonferroni over looks")
    found = {method: summary(first[method]) for method in kept}
    if n_a == n_b:
        found["published recursion on pairs"] = summary(pairwise(n_a, looks, p_a, p_b, n_streams, rng))
    return {"streams": n_streams, "looks": looks, "fixed_80": round(fixed_looks, 2), "delay": found}


def newton_stakes(differences):
    """Return the stakes of the published betting recursion: online Newton steps on differences of two values.

    Each depends on the differences before it only; the published program leaves the first pair out. The wealth is the
    product of ``1 + stake * difference``. Chugg et al. (2023), algorithm 1; Cutkosky and Orabona (2018), Black-box
    reductions for parameter-free online learning, COLT.
    """
    stakes, squares, stake = np.zeros(len(differences)), 1.0, 0.0
    for place, found in enumerate(differences.tolist()):
        stakes[place] = stake
        slope = -found / (1 + stake * found)
        squares += slope**2
        stake = float(np.clip(stake - 2 / (2 - np.log(3)) * slope / squares, -0.5, 0.5))
    return stakes


def pairwise(n, looks, p_a, p_b, n_streams, rng):
    """Return the first look after which the published recursion on pairs has rejected."""
    first = np.full(n_streams, np.nan)
    for stream in range(n_streams):
        differences = (rng.random(n * looks) < p_a) * 1.0 - (rng.random(n * looks) < p_b)
        wealth = np.cumsum(np.log1p(newton_stakes(differences) * differences))
        passed = np.flatnonzero(wealth > -np.log(LEVEL))
        if len(passed):
            first[stream] = passed[0] // n + 1
    return first


def summary(first):
    """Return the shares and quantiles of first looks; those that never come count as later than all."""
    late = np.where(np.isnan(first), np.inf, first)
    median, eight = (np.quantile(late, share, method="higher") for share in (0.5, 0.8))
    return {
        "rejected": round(float(np.isfinite(first).mean()), 4),
        "median": float(median) if np.isfinite(median) else None,
        "eighty": float(eight) if np.isfinite(eight) else None,
    }


def coverage(n_streams, rng):
    """Return how often a confidence sequence ever excludes the true difference, by threshold 2 / level a side.

    It is shown cut where the test has rejected: equality, or the margin, is excluded then, and so is what lies beyond
    it from the estimate.
    """
    out = {}
    for words, stream in COVERED.items():
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
        shares = {"ever_missed": missed, "ever_missed_cut": cut}
        out[words] = {"streams": n_streams, "looks": stream.looks}
        out[words] |= {name: round(float(share.mean()), 4) for name, share in shares.items()}
    return out


def cases(*, quick):
    """Return what is computed, by name: of a generator."""
    n, m = (300, 100) if quick else (STREAMS, DELAYED)
    fair = {f"fair: {name}": lambda rng, name=name: false_alarms(name, n, rng) for name in FAIR}
    unfair = {f"delay: {name}": lambda rng, name=name: delay(name, m, rng) for name in UNFAIR}
    single = {
        f"fair: single samples, {name}": lambda rng, name=name: false_alarms_of_single(name, n, rng)
        for name in ARRIVALS
    }
    unfair |= {
        f"delay: single samples, {name}, 30% and 50%": lambda rng, name=name: delay_of_single(name, m, rng)
        for name in ARRIVALS
    }
    return {
        **fair,
        **single,
        "fair: losses of equal means": lambda rng: false_alarms_of_losses(n, rng),
        "three groups": lambda rng: false_alarms_of_three_groups(n, rng),
        **unfair,
        "coverage": lambda rng: coverage(n, rng),
    }


def problems(figures):
    """Say which figures break what is claimed."""

    def bound(share, streams):
        return share + 3 * np.sqrt(share * (1 - share) / streams)

    for name, found in figures.items():
        if name.startswith("fair"):
            for method in ("blocks", "betting"):
                if found["ever"][method] > bound(LEVEL, found["streams"]):
                    yield f"{name}: {method} rejects {found['ever'][method]}"
        elif name == "three groups":
            for words, one in found["found"].items():
                if one["false"] > bound(LEVEL, found["streams"]):
                    yield f"{name}, {words}: {one['false']}"
        elif name == "coverage":
            for words, one in found.items():
                if one["ever_missed_cut"] > bound(LEVEL, one["streams"]):
                    yield f"{name}, {words}: {one['ever_missed_cut']}"
        elif found["delay"]["blocks"]["rejected"] < 0.8:
            yield f"{name}: rejected {found['delay']['blocks']['rejected']} within {found['looks']} looks"


def quick():
    """Check a few streams that are fair, and what is ever outside of confidence sequences."""
    chosen = [name for name in cases(quick=True) if name in QUICK]
    computed = cases(quick=True)
    figures = {name: computed[name](generator(SEED, name)) for name in chosen}
    says = "streams: ever rejected, or outside of the confidence sequence, at most .05 and three Monte-Carlo errors"
    return Promise(says, len(figures), list(problems(figures)))


def main(argv=None):
    what = "streams; see benchmarks/sequential.py"
    return command(argv, what, RESULTS, SEED, cases, problems, level=LEVEL, compared=COMPARED)


if __name__ == "__main__":
    sys.exit(main())
