"""Tests of answers of a language model to prompts: ``python -m benchmarks.prompts [--quick]``.

Every prompt is answered for both names, or each prompt belongs to one group; each is asked several times; how often an
answer is right differs between prompts, and so may the effect of the name, whose mean over prompts is 0. How often is
equality rejected by a test that takes every answer for a person, by one within prompts (control features), and by one
whose clusters are the prompts. Figures are in benchmarks/results/prompts.json with the seed and versions. The exit
status is 1 where clusters reject more often than 5% and three Monte-Carlo errors.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np

from benchmarks.common.bounds import Promise
from benchmarks.common.results import write
from skfairtest import FairnessTest

RESULTS = Path(__file__).parent / "results" / "prompts.json"
SEED, ALPHA, RESAMPLES = 20261126, 0.05, 399
#: Prompts, answers to each, standard deviation of the name's effect over prompts (log odds), and how names are crossed.
DESIGNS = [
    (60, 1, 0.0, "both names"),
    (60, 1, 1.5, "both names"),
    (20, 10, 0.0, "both names"),
    (20, 10, 0.8, "both names"),
    (60, 10, 0.8, "both names"),
    (60, 5, 1.5, "both names"),
    (20, 10, 0.0, "one group each"),
    (60, 10, 0.0, "one group each"),
]


def answers(prompts, repeats, effect, crossed, rng):
    """Return the prompt, the name and the correctness of each answer."""
    odds = rng.normal(0, 1.5, prompts)
    effects = rng.normal(0, effect, prompts)
    if crossed == "both names":
        prompt = np.repeat(np.arange(prompts), 2 * repeats)
        name = np.tile(np.repeat([0, 1], repeats), prompts)
    else:
        prompt = np.repeat(np.arange(prompts), repeats)
        name = (prompt >= prompts // 2).astype(int)
    logits = odds[prompt] + effects[prompt] * (name - 0.5)
    return prompt, name, (rng.random(len(prompt)) < 1 / (1 + np.exp(-logits))).astype(int)


def p_values(prompt, name, right, crossed):
    """Return the p-value of each test."""
    common = {"sensitive_features": name, "metric": "selection_rate", "random_state": 0, "n_resamples": RESAMPLES}
    yield "answers", FairnessTest.from_predictions(None, right, **common).p_value_
    if crossed == "both names":
        yield "within prompts", FairnessTest.from_predictions(None, right, control_features=prompt, **common).p_value_
    yield "clusters", FairnessTest.from_predictions(None, right, clusters=prompt, **common).p_value_


def measured(design, n_data_sets, seed):
    """Return the share of data sets in which each test rejects."""
    rng, rejected = np.random.default_rng(seed), {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of single data sets
        for _ in range(n_data_sets):
            prompt, name, right = answers(*design, rng)
            for test, p_value in p_values(prompt, name, right, design[-1]):
                rejected[test] = rejected.get(test, 0) + (p_value <= ALPHA)
    named = dict(zip(("prompts", "repeats", "effect", "names"), design, strict=True))
    return {**named, "data_sets": n_data_sets, "rejected": {test: n / n_data_sets for test, n in rejected.items()}}


def rows(designs, n_data_sets):
    for design, seed in zip(designs, np.random.SeedSequence(SEED).spawn(len(DESIGNS)), strict=False):
        row = measured(design, n_data_sets, seed)
        print("  ".join(f"{value}" for value in row.values()), flush=True)
        yield row


def held(found):
    """Whether tests in clusters are valid."""
    promise = Promise("answers in clusters of prompts: size at most .05 and three Monte-Carlo errors")
    for row in found:
        most = ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / row["data_sets"])
        promise.look(row["rejected"]["clusters"] <= most, str(row))
    return promise


def quick():
    """Return the promise, of two designs and few data sets."""
    return held(list(rows(DESIGNS[3:4], 60)))


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prompts", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few data sets, nothing is written")
    parser.add_argument("--data-sets", type=int, default=1000, metavar="N")
    options = parser.parse_args(argv)
    if options.quick:
        promise = quick()
    else:
        found = list(rows(DESIGNS, options.data_sets))
        write(RESULTS, "answers of language models to prompts", SEED, rows=found)
        promise = held(found)
    return 1 if promise.broken else 0


if __name__ == "__main__":
    sys.exit(main())
