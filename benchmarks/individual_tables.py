"""Tables 1 and 4 of Maity et al. (2021) again: ``python -m benchmarks.individual_tables [--quick]``.

Four models of Adult and of COMPAS, trained on ten splits (`_adult_compas`, `_fair_training`) and audited on the people
left out (COMPAS: the first 1,000): a network; the same after the sensitive subspace is projected out; fairlearn's
reductions with equalized odds; and SenSR. Balanced accuracy, average odds differences (of group 0 to group 1), the
lower bound T_n of the loss ratio and of the error rate ratio, and how often fairness is rejected, beside what is
published (Tables 1, 3 and 4).

As in the paper the fair metric is learned on the people tested; then by cross-fitting, and on the people of the
training, whose metric SenSR and the projection know. On Adult the text of the paper says 500 steps, and the authors'
code 500 for reductions and 200 for the others: both are run for all.

What is not as published: SenSR is rejected in two splits of COMPAS. The sensitive subspace of the people tested is not
that of the training, which SenSR knows: in these two and in two others it is 45 to 58 degrees away, in the rest 19 to
27. By the fair metric of the training SenSR is never rejected. And the published rows "Baseline" and "Project" of Adult
may be mixed up: in the authors' files of results, models of the folder with the projection are called "baseline", those
of the one without "baseline_bal".

Without ``--quick`` the figures are written to benchmarks/results/individual_tables.json with the seeds and versions;
runs of one data set or of fewer splits are only printed.
"""

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

import fairlearn
import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score

from benchmarks import _adult_compas, _fair_training
from benchmarks._results import write
from skfairtest import IndividualFairnessTest, SensitiveSubspace

RESULTS = Path(__file__).parent / "results" / "individual_tables.json"
TOLERANCE = 1.25
MODELS = ["baseline", "project", "reductions", "sensr"]
#: Parameters of the flow.
FLOWS = {
    "adult": {"regularization": 50.0, "step_size": 0.01, "n_steps": 500},
    "compas": {"regularization": 100.0, "step_size": 0.005, "n_steps": 200},
}
#: On whom the fair metric is learned, and other parameters of the tests. The first two are the paper's.
AUDITS = {
    "loss_ratio": ("testing", {}),
    "error_rate_ratio": ("testing", {"statistic": "error_rate_ratio"}),
    "loss_ratio_cross_fit": ("other folds", {}),
    "loss_ratio_training_metric": ("training", {}),
}
FEWER_STEPS = {"adult": {"loss_ratio_200_steps": ("testing", {"n_steps": 200})}, "compas": {}}
#: People of COMPAS that are audited; all of Adult.
AUDITED = {"adult": None, "compas": 1000}
#: Means and standard deviations over splits, and how often rejected: Tables 1 and 3, and 4.
PUBLISHED = {
    "adult": {
        "baseline": {
            "balanced_accuracy": (0.817, 0.007), "aod_sex": (-0.151, 0.026), "aod_race": (-0.061, 0.015),
            "loss_ratio": (3.676, 2.164, 1.0), "error_rate_ratio": (2.262, 0.356, 1.0),
        },
        "project": {
            "balanced_accuracy": (0.825, 0.003), "aod_sex": (-0.147, 0.015), "aod_race": (-0.053, 0.015),
            "loss_ratio": (1.660, 0.355, 0.9), "error_rate_ratio": (1.800, 0.584, 0.8),
        },
        "reductions": {
            "balanced_accuracy": (0.800, 0.005), "aod_sex": (0.001, 0.021), "aod_race": (-0.027, 0.013),
            "loss_ratio": (5.712, 2.264, 1.0), "error_rate_ratio": (3.275, 0.343, 1.0),
        },
        "sensr": {
            "balanced_accuracy": (0.765, 0.012), "aod_sex": (-0.074, 0.033), "aod_race": (-0.048, 0.008),
            "loss_ratio": (1.021, 0.008, 0.0), "error_rate_ratio": (1.081, 0.041, 0.0),
        },
    },
    "compas": {
        "baseline": {
            "balanced_accuracy": (0.675, 0.013), "aod_sex": (0.218, 0.041), "aod_race": (0.260, 0.026),
            "loss_ratio": (2.385, 0.262, 1.0),
        },
        "project": {
            "balanced_accuracy": (0.641, 0.017), "aod_sex": (0.039, 0.029), "aod_race": (0.227, 0.021),
            "loss_ratio": (1.161, 0.145, 0.2),
        },
        "reductions": {
            "balanced_accuracy": (0.652, 0.012), "aod_sex": (-0.014, 0.054), "aod_race": (0.037, 0.039),
            "loss_ratio": (1.763, 0.069, 1.0),
        },
        "sensr": {
            "balanced_accuracy": (0.640, 0.022), "aod_sex": (0.046, 0.031), "aod_race": (0.237, 0.018),
            "loss_ratio": (1.098, 0.061, 0.0),
        },
    },
}  # fmt: skip


def fair_metric(sensitive):
    """Who is similar, in both papers."""
    return SensitiveSubspace(classifier=clone(_fair_training.REGRESSION), sensitive_columns=sensitive)


def train(kind, name, people, sensitive, metric, seed, quick):
    """Train a model on these people."""
    X, y = people.X, people.y
    steps = {"steps": 400} if quick else {}
    if kind == "baseline":
        return _fair_training.baseline(X, y, seed, **steps)
    if kind == "project":
        return _fair_training.project(X, y, seed, metric, **steps)
    if kind == "reductions":
        return _fair_training.reductions(X, y, people.crossed(), *_fair_training.REDUCTIONS[name])
    directions = _fair_training.sensitive_directions(X, people.groups, sensitive)
    return _fair_training.sensr(X, y, seed, directions, replace(_fair_training.SENSR[name], **steps))


def average_odds_difference(y_true, y_pred, group):
    """Return by how much the two rates of predicted ones, given the label, are higher in group 0, on average."""
    predicted = [[y_pred[(y_true == label) & (group == g)].mean() for label in (0, 1)] for g in (0, 1)]
    return float(np.mean(np.subtract(*predicted)))


def describe(model, people):
    """How good a model is, and how fair to groups."""
    y_pred = model.predict(people.X)
    figures = {"balanced_accuracy": balanced_accuracy_score(people.y, y_pred)}
    for feature, group in people.groups.items():
        figures[f"aod_{feature}"] = average_odds_difference(people.y, y_pred, group.to_numpy())
    return {key: round(float(value), 4) for key, value in figures.items()}


def audit(model, name, people, metrics):
    """How fair a model is to individuals: each audit's estimate, lower bound and verdict."""
    for key, (learned_on, parameters) in (AUDITS | FEWER_STEPS[name]).items():
        options = {"tolerance": TOLERANCE, **FLOWS[name], **parameters}
        test = IndividualFairnessTest.as_published(model, fair_metric=metrics[learned_on], **options)
        test.fit(people.X, people.y, sensitive_features=people.groups)
        bound, statistic = round(test.lower_bound_, 4), round(test.statistic_, 4)
        yield key, {"statistic": statistic, "lower_bound": bound, "rejected": bool(test.rejected_)}


def run(name, seeds, quick):
    """Train and audit the models of each split."""
    people, names = _adult_compas.load(name)
    sensitive = [names.index(column) for column in _adult_compas.SENSITIVE_COLUMNS[name]]
    for data_seed, model_seed in seeds:
        training, testing = _adult_compas.split(name, people, names, data_seed)
        audited = testing.take(slice(300 if quick else AUDITED[name]))
        learned, tested = (fair_metric(sensitive).fit(of.X, sensitive_features=of.groups) for of in (training, testing))
        metrics = {"training": learned, "testing": tested, "other folds": fair_metric(sensitive)}
        for kind in MODELS:
            started = time.perf_counter()
            model = train(kind, name, training, sensitive, learned, model_seed, quick)
            trained = time.perf_counter()
            figures = describe(model, testing)
            audits = dict(audit(model, name, audited, metrics))
            bounds = "  ".join(f"{key} {found['lower_bound']:.3f}" for key, found in audits.items())
            seconds = f"({trained - started:.0f} s, then {time.perf_counter() - trained:.0f} s)"
            accuracy = figures["balanced_accuracy"]
            print(f"  {name:<6} {data_seed:>5} {kind:<10} {accuracy:.3f}  {bounds}  {seconds}", flush=True)
            yield kind, {"seeds": [data_seed, model_seed], **figures, "audits": audits}


def summary(splits):
    """Means and standard deviations over splits, and how often rejected."""
    found = {}
    for key in ("balanced_accuracy", "aod_sex", "aod_race"):
        values = [split[key] for split in splits]
        found[key] = [round(float(np.mean(values)), 4), round(float(np.std(values)), 4)]
    for key in splits[0]["audits"]:
        values = [split["audits"][key]["lower_bound"] for split in splits]
        rejected = float(np.mean([split["audits"][key]["rejected"] for split in splits]))
        found[key] = [round(float(np.mean(values)), 4), round(float(np.std(values)), 4), rejected]
    return found


def text(figures):
    """A mean, its spread, and how often rejected."""
    if figures is None:
        return "-"
    mean, spread, *rejected = figures
    return f"{mean:.3f} ± {spread:.3f}" + "".join(f" ({share:.1f})" for share in rejected)


def show(name, results):
    print(f"\n{name}: mean ± standard deviation over splits (how often rejected)")
    for kind, found in results.items():
        print(f"  {kind}")
        for key, figures in found["ours"].items():
            print(f"    {key:<28} {text(figures):<24} published {text(found['published'].get(key))}")


def differences(name, results):
    """Where the pattern of the tables is not found: the first and the third model always rejected, the last never."""
    for kind in ("baseline", "reductions", "sensr"):
        ours, published = (results[kind][whose]["loss_ratio"][2] for whose in ("ours", "published"))
        if ours != published:
            yield f"{name}: {kind} is rejected in {ours:.1f} of the splits, and in {published:.1f} in the paper"


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.individual_tables", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one split, little training, nothing written: seconds")
    parser.add_argument("--data", choices=list(FLOWS), help="one of the two data sets")
    parser.add_argument("--splits", type=int, default=len(_adult_compas.SEEDS), help="how many of the ten splits")
    options = parser.parse_args(argv)
    seeds = _adult_compas.SEEDS[: 1 if options.quick else options.splits]
    data = [options.data] if options.data else list(FLOWS)
    started = time.perf_counter()
    results, found = {}, []
    for name in data:
        splits = {kind: [] for kind in MODELS}
        for kind, figures in run(name, seeds, options.quick):
            splits[kind].append(figures)
        results[name] = {
            kind: {"published": PUBLISHED[name][kind], "ours": summary(of_kind), "splits": of_kind}
            for kind, of_kind in splits.items()
        }
        show(name, results[name])
        found += differences(name, results[name])
    print(f"\n{time.perf_counter() - started:.0f} s.")
    for difference in [] if options.quick else found:
        print(f"Not as published: {difference}")
    if not options.quick and options.data is None and len(seeds) == len(_adult_compas.SEEDS):
        write(
            RESULTS,
            "Tables 1, 3 and 4 of Maity et al. (2021) beside our figures (mean, standard deviation over splits, how "
            "often rejected); see benchmarks/individual_tables.py",
            seeds, tolerance=TOLERANCE, flows=FLOWS, audits=AUDITS | FEWER_STEPS["adult"],
            libraries={"scikit-learn": sklearn.__version__, "fairlearn": fairlearn.__version__}, **results,
        )  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
