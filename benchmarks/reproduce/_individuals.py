"""inFairness, called as its documentation calls it, on simulated people: audits of individual fairness.

Nothing of skfairtest is imported here, as in `_peers`: python -m benchmarks.reproduce._individuals reads designs as
JSON from standard input, in an interpreter that has inFairness, and writes decisions and seconds as JSON. People are
drawn from seeds, which give the same ones there and here.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

from benchmarks.reproduce._peers import ALPHA, version_here

PACKAGE = "inFairness"
TOLERANCE = 1.25
#: The flow of the tests of Adult.
N_STEPS, STEP_SIZE, REGULARIZATION = 500, 0.01, 50.0
FLOW = {"steps": (N_STEPS, STEP_SIZE), "regularization": REGULARIZATION}


@dataclass(frozen=True)
class Design:
    """A logistic model of two features without an intercept, and how many people it is audited on."""

    theta: tuple[float, float]
    people: int
    seed: int


def simulated(random, n):
    """Draw features, labels and who is of the minority, as the generate_data.py of Maity et al. (2021) does."""
    X = random.normal(0, 0.25, (n, 2))
    majority = random.choice([False, True], n, p=[0.1, 0.9])
    noise = 0.01 * random.normal(size=n)
    score = X[:, 0] * np.where(majority, -0.2, 0.2) - 0.01 * X[:, 1] + noise
    X = X + np.where(majority[:, None], [-1.5, 0.0], [1.5, 0.0])
    return X, (score > 0).astype(int), ~majority


def data_sets(design, size):
    """Yield features and labels of each data set of a design."""
    for child in np.random.SeedSequence(design.seed).spawn(size):
        yield simulated(np.random.default_rng(child), design.people)[:2]


def timed(decide, design, size):
    """Decide about each data set of a design; the first is decided once more before, so that no import is timed."""
    found = {"rejected": [], "seconds": []}
    decide(design, *next(data_sets(design, 1)))
    for X, y in data_sets(design, size):
        began = time.process_time()
        found["rejected"].append([bool(decide(design, X, y))])
        found["seconds"].append(time.process_time() - began)
    return found


def _prepared(design, X, y):
    """Return the network, the data, the loss and the distance that ignores the first feature."""
    import torch
    from inFairness.distances import SensitiveSubspaceDistance

    torch.manual_seed(design.seed)
    network = torch.nn.Linear(2, 2)
    with torch.no_grad():
        network.weight[:] = torch.tensor([(0.0, 0.0), design.theta])
        network.bias[:] = 0.0
    distance = SensitiveSubspaceDistance()
    distance.fit(torch.tensor([[1.0], [0.0]]))
    return network, torch.tensor(X, dtype=torch.float32), torch.tensor(y), torch.nn.functional.cross_entropy, distance


def _sensr(design, X, y, step_size, optimizer=None, **options):
    from inFairness.auditor import SenSRAuditor

    network, X, y, loss, distance = _prepared(design, X, y)
    auditor = SenSRAuditor(loss, distance, N_STEPS, step_size, **options)
    found = auditor.audit(network, X, y, TOLERANCE, REGULARIZATION, 1 - ALPHA, optimizer)
    return not found.is_model_fair


def sensr_default(design, X, y):
    return _sensr(design, X, y, STEP_SIZE)


def sensr_adam(design, X, y):
    import torch

    return _sensr(design, X, y, STEP_SIZE, torch.optim.Adam)


def sensr_as_published(design, X, y):
    """Each person moves by the step, not by the step over the number of people, and begins where they are."""
    return _sensr(design, X, y, STEP_SIZE * len(y), max_noise=0.0, min_noise=0.0)


def sensei_default(design, X, y):
    from inFairness.auditor import SenSeIAuditor
    from inFairness.distances import SquaredEuclideanDistance

    network, X, y, loss, distance = _prepared(design, X, y)
    outputs = SquaredEuclideanDistance()
    outputs.fit(2)
    auditor = SenSeIAuditor(distance, outputs, N_STEPS, STEP_SIZE)
    found = auditor.audit(network, X, y, loss, TOLERANCE, REGULARIZATION, 1 - ALPHA)
    return not found.is_model_fair


CALLS: dict[str, Callable[..., bool]] = {
    "SenSRAuditor, its defaults": sensr_default,
    "SenSRAuditor, step times the number of people, no noise": sensr_as_published,
    "SenSRAuditor, optimizer=Adam": sensr_adam,
    "SenSeIAuditor, its defaults": sensei_default,
}


def run(designs, size):
    """Return what each call of inFairness decides, by call and design."""
    import torch

    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            what: {name: timed(decide, design, size) for name, design in designs.items()}
            for what, decide in CALLS.items()
        }


def as_json(designs, size):
    """Return what `main` reads."""
    return json.dumps([{name: asdict(design) for name, design in designs.items()}, size])


def main():
    asked, size = json.load(sys.stdin)
    designs = {name: Design(tuple(one["theta"]), one["people"], one["seed"]) for name, one in asked.items()}
    found = version_here(PACKAGE)
    json.dump({"version": found, "calls": run(designs, size) if found else {}}, sys.stdout)


if __name__ == "__main__":
    main()
