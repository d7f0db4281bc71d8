"""Other packages on questions of their own: areas, errors of scores, equalized odds, and two models.

As in `competitors`, packages that are not installed here run in the interpreters that SKFAIRTEST_PEERS lists.
"""

import json

from benchmarks.reproduce import _questions, _schemes
from benchmarks.reproduce._rows import Found
from benchmarks.reproduce.competitors import elsewhere, with_error
from skfairtest import FairnessTest, PairedFairnessTest, __version__

TITLE = "Other packages on questions of their own"
SOURCE = ""
SEED = _questions.SEED
LIBRARIES = ("scikit-learn",)
INTRODUCTION = """\
Packages whose tests are about something else than a rate of two groups, which the part above has, and
our test of the same question on the same data sets, with the defaults of both ({permutations} permutations and
{bootstrap} bootstrap samples where a package resamples). Nobody published these figures. In a design without a
difference a valid test rejects at most .05 of the data sets, but for the Monte-Carlo error in parentheses; where groups
are different, more is better, if the size is kept. "No answer" counts calls that raise."""
TABLES = {
    "Areas under the ROC curve": """\
Scores are normal; each area is known, and half of the people of a group are positive. fairscope compares the groups by
DeLong's errors, ours is `FairnessTest(metric="roc_auc")`.""",
    "Mean errors of scores": """\
A person's scores from 1 to 6, and a system's, whose errors are normal with the deviations named. RSMTool's overall
score difference is the F test of a linear model with one variance; fairpipe permutes the errors among everybody, and
the difference of the means is divided by nothing. Ours is `FairnessTest(metric="mean_residual")`.""",
    "Equalized odds": """\
fairpipe permutes labels within the true label, and takes the larger of both differences. Ours is
`FairnessTest(metric="equalized_odds")`, exact tests of both rates, adjusted.""",
    "Two models on the same people": """\
The second model decides about one in five people anew, at the rates named (by default those of the first model, so that
no disparity changes). vfairness resamples people, both models on the same draws, and asks whether the size of the
difference of the selection rates has changed. Ours is `PairedFairnessTest(metric="selection_rate")`, of the difference
itself.""",
}
QUESTIONS = dict(zip(_questions.DESIGNS, TABLES, strict=True))


def ours(question, data):
    """What this package decides, by default."""
    given = {"sensitive_features": data["group"]}
    if question == "areas":
        test = FairnessTest.from_predictions(data["truth"], y_score=data["score"], metric="roc_auc", **given)
    elif question == "mean errors":
        test = FairnessTest.from_predictions(data["human"], data["system"], metric="mean_residual", **given)
    elif question == "equalized odds":
        test = FairnessTest.from_predictions(data["truth"], data["predicted"], metric="equalized_odds", **given)
    else:
        test = PairedFairnessTest.from_predictions(
            None, data["before"], data["after"], metric="selection_rate", **given
        )
    return test.rejected_


def shown(decisions):
    """The share of data sets where a difference is found, with its error."""
    answers = [each for each in decisions if each is not None]
    none = f", no answer {len(decisions) - len(answers)}" if len(answers) < len(decisions) else ""
    if not answers:
        return f"–{none}"
    return with_error(*_schemes.share(answers)) + none


def run(*, quick):
    size = 2 if quick else max(call.data_sets for call in _questions.CALLS)
    own = {
        question: {
            name: [bool(ours(question, data)) for data in _questions.data_sets(question, name, size)]
            for name in designs
        }
        for question, designs in _questions.DESIGNS.items()
    }
    there = {package: _theirs(package, size) for package in _questions.PACKAGES}
    tables = {title: _table(question, own[question], there, size) for question, title in QUESTIONS.items()}
    facts = {"permutations": _questions.N_PERMUTATIONS, "bootstrap": _questions.N_BOOTSTRAP, "data_sets": size}
    return Found([], tables, facts)


def _theirs(package, size):
    version = _questions.version_here(package)
    if version:
        return {"version": version, "calls": _questions.run(package, size)}
    return elsewhere(_questions, json.dumps([package, size]))


def _table(question, own, there, size):
    """Shares by design: ours, and those of each call on the data sets that it was run on."""
    calls = [call for call in _questions.CALLS if call.question == question]
    rows = [["skfairtest", __version__, "its default test", size, *map(shown, own.values())]]
    for call in calls:
        found = there[call.package]
        decided = found["calls"].get(call.what)
        version = found["version"] or "not installed here"
        shares = [None] * len(own) if decided is None else map(shown, decided.values())
        rows.append([call.package, version, call.what, min(size, call.data_sets), *shares])
    head = [
        "package", "version", "call", "data sets",
        *(name + ("" if design.equal else " (different)") for name, design in _questions.DESIGNS[question].items()),
    ]  # fmt: skip
    return head, rows
