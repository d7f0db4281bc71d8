"""Other packages: the constants of LiFT's unit tests, and installed packages on the same data sets.

Packages that are not installed here run in other interpreters: SKFAIRTEST_PEERS lists them, separated like PATH. A
package that none of them has keeps its row without figures.
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np

import skfairtest
from benchmarks.reproduce import _lift, _peers
from benchmarks.reproduce._peers import SELECTION, TPR
from benchmarks.reproduce._rows import Found, Row
from skfairtest import FairnessTest

TITLE = "Other packages on the same data"
SOURCE = ""
SEED = 20261123
INTRODUCTION = """\
What other packages compute, beside this one. LiFT's scheme with LiFT's random numbers gives each of the constants in
its unit tests, which its authors published. The other tables run the packages themselves, with unpublished
figures. Two groups have equal true positive rates and, in most designs, unequal base rates; one of five who are not
positive is predicted positive."""
CALLED = """\
Share of data sets where the call, read as its column says, finds a difference, with the Monte-Carlo error; time is the
median CPU time of a call over that of `FairnessTest` on the same arrays. A package that resamples draws
{permutations} permutations or {bootstrap} bootstrap samples here, and takes longer in proportion with more. "No answer"
counts calls that raise. AIF360 has no test; its row shows what the usual ranges of its metrics (.8 to 1.25, and .1 from
0) flag."""
LIFT = "What LiFT's four examples show"
#: The title of the table of a metric.
INSTALLED = {
    TPR: "True positive rates by installed packages",
    SELECTION: "Selection rates by installed packages",
}
TABLES = {
    LIFT: """\
LiFT's p-value is a share of permutations, without the data themselves; where the groups do not differ at all, the valid
p-value is 1. Ours is that of `FairnessTest` for precision. The ranking, whose rows LiFT permutes across queries, is not
tested here.""",
    INSTALLED[TPR]: CALLED,
    INSTALLED[SELECTION]: "The same for shares of people predicted positive.",
}

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
FALSE_POSITIVE_RATE = 0.2
ROOT = Path(__file__).parents[2]


def lift_rows():
    """Each constant of LiFT's unit tests, and what its test and ours say of the same people."""
    rows, shown = [], []
    for name, (people, groups, metric, constants) in _lift.CASES.items():
        found = _lift.permutation_test(people, *groups, metric, _lift.TRIALS, _lift.SEED)
        for (what, value), constant in zip(found.items(), constants, strict=True):
            rows.append(Row(f"LiFT, {name}: {what}", value, other=constant, within=1e-12))
        shown.append([name, f"{found['difference']:.3f}", f"{found['p-value']:.3f}", our_precision(people)])
    return rows, (["people", "difference", "LiFT's p", "our p"], shown)


def our_precision(people):
    """Our p-value for precision, or None of a ranking."""
    if "rank" in people[0]:
        return None
    label, predicted, group = ([row[name] for row in people] for name in ("label", "prediction", "group"))
    test = FairnessTest.from_predictions(label, predicted, sensitive_features=group, metric="precision")
    return f"{test.p_value_:.3f}"


def counts_of(people, base, rate, size, rng):
    """Draw counts (size, 2, 4) of groups with such base rates and true positive rates."""
    cells = [
        [(1 - b) * (1 - FALSE_POSITIVE_RATE), (1 - b) * FALSE_POSITIVE_RATE, b * (1 - r), b * r]
        for b, r in zip(base, rate, strict=True)
    ]
    return np.stack([rng.multinomial(n, q, size) for n, q in zip(people, cells, strict=True)], axis=1)


def default_test(y_true, y_pred, group, metric):
    """What this package decides, by default."""
    y_true = None if metric == SELECTION else y_true
    return FairnessTest.from_predictions(y_true, y_pred, sensitive_features=group, metric=metric).rejected_


OWN = _peers.Call("skfairtest", "FairnessTest", default_test, ("rejected_",), 400)


def decided_by(package, designs, limit):
    """Return the version of a package and what its calls decide, here or in a listed interpreter that has it."""
    if version := _peers.version_here(package):
        return {"version": version, "calls": _peers.run(package, designs, limit)}
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    for python in filter(None, os.environ.get("SKFAIRTEST_PEERS", "").split(os.pathsep)):
        done = subprocess.run(
            [python, "-m", _peers.__name__], input=json.dumps([package, designs, limit]), capture_output=True,
            text=True, check=True, cwd=ROOT, env=environment,
        )  # fmt: skip
        found = json.loads(done.stdout)
        if found["version"]:
            return found
    return {"version": "not installed here", "calls": {}}


def compared(limit, sequence):
    """Return what each call decided and took on at most so many data sets: entries (call, version, by design)."""
    designs = {
        name: (metric, counts_of(*design, limit, np.random.default_rng(child)).tolist())
        for (name, (metric, *design)), child in zip(COMPARED.items(), sequence.spawn(len(COMPARED)), strict=True)
    }
    entries = [(OWN, skfairtest.__version__, _peers.run_call(OWN, designs, limit))]
    by_package = {package: decided_by(package, designs, limit) for package in _peers.PACKAGES}
    for call in _peers.CALLS:
        there = by_package[call.package]
        entries.append((call, there["version"], there["calls"].get(call.what)))
    return entries


def compared_table(metric, entries):
    """Return a row for each reading of each call: shares of the designs of a metric, and CPU times in units of ours."""
    designs = [name for name, (of, *_) in COMPARED.items() if of == metric]
    timed = list(dict.fromkeys([designs[0], max(designs, key=lambda name: sum(COMPARED[name][1]))]))
    head = [
        "package", "version", "call", "a difference is", "data sets", *designs,
        *(f"time, {sum(COMPARED[name][1]):,} people" for name in timed),
    ]  # fmt: skip
    rows, (_, _, own) = [], entries[0]
    for call, version, found in entries:
        for place, reads in enumerate(call.reads):
            row = [call.package, version, call.what, reads]
            if found is None:
                rows.append([*row, *[None] * (len(head) - len(row))])
                continue
            shares = [share_text(found[name]["rejected"], place) for name in designs]
            seconds = [[float(np.median(each[name]["seconds"])) for each in (found, own)] for name in timed]
            times = [f"{theirs / ours:.2g}" for theirs, ours in seconds]
            rows.append([*row, len(found[designs[0]]["rejected"]), *shares, *times])
    return head, rows


def share_text(decisions, place):
    """Write the share of data sets where a reading finds a difference, its error, and how many have no answer."""
    answers = np.array([each[place] for each in decisions if each is not None], dtype=float)
    none = f", no answer {len(decisions) - len(answers)}" if len(answers) < len(decisions) else ""
    if not len(answers):
        return f"–{none}"
    share = answers.mean()
    return f"{share:.3f} ({np.sqrt(share * (1 - share) / len(answers)):.3f}){none}"


def run(*, quick):
    entries = compared(1 if quick else 400, np.random.SeedSequence(SEED).spawn(4)[3])
    rows, lift = lift_rows()
    tables = {LIFT: lift, **{title: compared_table(metric, entries) for metric, title in INSTALLED.items()}}
    return Found(rows, tables, {"permutations": _peers.N_PERMUTATIONS, "bootstrap": _peers.N_BOOTSTRAP})
