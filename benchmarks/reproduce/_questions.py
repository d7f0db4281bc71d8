"""Packages that answer other questions than rates of two groups, called as their documentation calls them.

Nothing of skfairtest is imported here, as in `_peers`: python -m benchmarks.reproduce._questions reads a package and a
number of data sets as JSON from standard input, in an interpreter that has the package, and writes decisions as JSON.
People are drawn from seeds, which give the same ones there and here.
"""

import contextlib
import io
import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from benchmarks.reproduce._peers import ALPHA, version_here

SEED = 20261124
#: Resamples of those that resample.
N_PERMUTATIONS, N_BOOTSTRAP = 999, 200


def areas(rng, people, areas, spreads=(1.0, 1.0)):
    """Scores of both labels, normal; of the positive ones with a spread of their own, and so that the area is known."""
    groups, truth, score = [], [], []
    for name, n, area, spread in zip("ab", people, areas, spreads, strict=True):
        y = np.arange(n) % 2
        shift = ndtri(area) * np.hypot(1.0, spread)
        truth.append(y)
        score.append(np.where(y == 1, shift + spread * rng.normal(size=n), rng.normal(size=n)))
        groups += [name] * n
    return {"group": np.array(groups), "truth": np.concatenate(truth), "score": np.concatenate(score)}


def errors(rng, people, means, deviations):
    """Scores that a person gave, from 1 to 6, and those of a system, whose errors are normal."""
    group = np.repeat(["a", "b"], people)
    error = np.concatenate([rng.normal(*each) for each in zip(means, deviations, people, strict=True)])
    human = rng.integers(1, 7, len(group)).astype(float)
    return {"group": group, "human": human, "system": human + error}


def labels(rng, people, base, tpr, fpr=(0.2, 0.2)):
    """True labels, and predictions by them."""
    group = np.repeat(["a", "b"], people)
    truth, rate = (np.concatenate([rng.random(n) < p for n, p in zip(people, base, strict=True)]), (tpr, fpr))
    by = np.repeat(np.array(rate), people, axis=1)
    return {
        "group": group, "truth": truth.astype(int),
        "predicted": (rng.random(len(group)) < np.where(truth, *by)).astype(int),
    }  # fmt: skip


def two_models(rng, people, first, second):
    """Decisions of two models: the second one decides anew about every fifth person, at a rate of its own."""
    group = np.repeat(["a", "b"], people)
    before = rng.random(len(group)) < np.repeat(first, people)
    anew = rng.random(len(group)) < np.repeat(second, people)
    after = np.where(rng.random(len(group)) < 0.2, anew, before)
    return {"group": group, "before": before.astype(int), "after": after.astype(int)}


@dataclass(frozen=True)
class Design:
    """People who are drawn anew in each data set, and whether the groups are equal in what is asked."""

    draw: Callable
    given: dict
    equal: bool = True


#: Designs by question.
DESIGNS = {
    "areas": {
        "200 and 200, areas .8": Design(areas, {"people": (200, 200), "areas": (0.8, 0.8)}),
        "1,000 and 100, areas .98": Design(areas, {"people": (1000, 100), "areas": (0.98, 0.98)}),
        "1,000 and 100, areas .98, spreads 1 and 3": Design(
            areas, {"people": (1000, 100), "areas": (0.98, 0.98), "spreads": (1.0, 3.0)}
        ),
        "200 and 200: .9 against .8": Design(areas, {"people": (200, 200), "areas": (0.9, 0.8)}, equal=False),
    },
    "mean errors": {
        "500 and 500, deviations of 1": Design(
            errors, {"people": (500, 500), "means": (0.0, 0.0), "deviations": (1.0, 1.0)}
        ),
        "1,000 and 100, deviations of 1 and 4": Design(
            errors, {"people": (1000, 100), "means": (0.0, 0.0), "deviations": (1.0, 4.0)}
        ),
        "100 and 1,000, deviations of 1 and 4": Design(
            errors, {"people": (100, 1000), "means": (0.0, 0.0), "deviations": (1.0, 4.0)}
        ),
        "500 and 500: 0 against .2": Design(
            errors, {"people": (500, 500), "means": (0.0, 0.2), "deviations": (1.0, 1.0)}, equal=False
        ),
    },
    "equalized odds": {
        "200 and 200, base rates .5": Design(labels, {"people": (200, 200), "base": (0.5, 0.5), "tpr": (0.8, 0.8)}),
        "1,000 and 1,000, base rates .9 and .1": Design(
            labels, {"people": (1000, 1000), "base": (0.9, 0.1), "tpr": (0.8, 0.8)}
        ),
        "200 and 200: true positive rates .8 against .65": Design(
            labels, {"people": (200, 200), "base": (0.5, 0.5), "tpr": (0.8, 0.65)}, equal=False
        ),
    },
    "two models": {
        "500 and 500, rates of .5": Design(
            two_models, {"people": (500, 500), "first": (0.5, 0.5), "second": (0.5, 0.5)}
        ),
        "500 and 500, rates of .5 and .3": Design(
            two_models, {"people": (500, 500), "first": (0.5, 0.3), "second": (0.5, 0.3)}
        ),
        "500 and 500: .5 and .3, anew .5 and .7": Design(
            two_models, {"people": (500, 500), "first": (0.5, 0.3), "second": (0.5, 0.7)}, equal=False
        ),
    },
}


def data_sets(question, name, size):
    """Yield the data sets of a design."""
    place = list(DESIGNS).index(question), list(DESIGNS[question]).index(name)
    design = DESIGNS[question][name]
    for child in np.random.SeedSequence([SEED, *place]).spawn(size):
        yield design.draw(np.random.default_rng(child), **design.given)


def fairscope_delong(data):
    from fairscope.core.delong import delong_unpaired_test

    first, second = ([data[name][data["group"] == each] for name in ("truth", "score")] for each in "ab")
    return delong_unpaired_test(*first, *second)["p_value"] <= ALPHA


def rsmtool_difference(data):
    import pandas as pd
    from rsmtool.fairness_utils import get_fairness_analyses

    frame = pd.DataFrame({"L1": data["group"], "sc1": data["human"], "raw": data["system"]})
    models, _ = get_fairness_analyses(frame, "L1", "raw")
    return models["osd"].f_pvalue <= ALPHA


def _fairpipe(values, group, strata=None):
    from fairness_pipeline_dev_toolkit.stats.gap_intervals import permutation_gap_pvalue

    codes = (group == "b").astype(int)
    return permutation_gap_pvalue(values, codes, strata=strata, n_permutations=N_PERMUTATIONS) <= ALPHA


def fairpipe_means(data):
    return _fairpipe(data["system"] - data["human"], data["group"])


def fairpipe_odds(data):
    return _fairpipe(data["predicted"], data["group"], data["truth"])


def vfairness_paired(data):
    from vfairness.preprocessing.feature_engineering.significance import paired_metric_significance

    sides = [part for name in ("before", "after") for part in (data["before"], data[name], data["group"])]
    found = paired_metric_significance(*sides, n_bootstrap=N_BOOTSTRAP, paired=True)
    return found["p_value"] <= ALPHA


@dataclass(frozen=True)
class Call:
    """A call of a package, the question that it answers, and on how many data sets it is run."""

    package: str
    what: str
    question: str
    decide: Callable[[dict], object]
    data_sets: int = 400


CALLS = (
    Call("fairscope", "delong_unpaired_test", "areas", fairscope_delong),
    Call("rsmtool", "get_fairness_analyses, overall score difference", "mean errors", rsmtool_difference),
    Call("fairpipe", "permutation_gap_pvalue of errors", "mean errors", fairpipe_means),
    Call("fairpipe", "permutation_gap_pvalue, strata=y_true", "equalized odds", fairpipe_odds),
    Call("vfairness", "paired_metric_significance, demographic parity", "two models", vfairness_paired, 200),
)
PACKAGES = tuple(dict.fromkeys(call.package for call in CALLS))


def run_call(call, size):
    """Decisions of a call by design; None where it raises, or has no p-value."""
    out = {}
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        for name in DESIGNS[call.question]:
            found = out.setdefault(name, [])
            for data in data_sets(call.question, name, min(size, call.data_sets)):
                try:
                    found.append(bool(call.decide(data)))
                except Exception:  # a package without an answer decides nothing
                    found.append(None)
    return out


def run(package, size):
    """What all calls of a package decide, by call and design."""
    return {call.what: run_call(call, size) for call in CALLS if call.package == package}


def main():
    package, size = json.load(sys.stdin)
    found = version_here(package)
    json.dump({"version": found, "calls": run(package, size) if found else {}}, sys.stdout)


if __name__ == "__main__":
    main()
