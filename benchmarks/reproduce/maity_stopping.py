"""Figure 2 of Maity et al. (2021): T_n of four models of Adult by the number of steps of the flow."""

import warnings

import numpy as np

from benchmarks.common import adult_compas
from benchmarks.common.gradients import log_loss_gradient
from benchmarks.common.svg import BLUE, GREY, ORANGE
from benchmarks.reproduce import maity_tables
from benchmarks.reproduce._expected import claims
from benchmarks.reproduce._pictures import Picture
from benchmarks.reproduce._rows import Found, Row, said
from skfairtest import IndividualFairnessTest

TITLE = "Maity et al. (2021): when the flow is stopped"
SOURCE = maity_tables.SOURCE
SEED = adult_compas.SEEDS
NEEDS = ("adult.csv.gz",)
LIBRARIES = maity_tables.LIBRARIES
INTRODUCTION = """\
S. Maity, S. Xue, M. Yurochkin and Y. Sun (2021), "Statistical inference for individual fairness", Figure 2: T_n of the
four models of Adult, of its tables above, by the number of steps of the flow. The paper does not say which
split its curves are of. Here all {splits} are drawn, each audited on the {people:,} people left out, and their median
in bold."""
TABLES = {
    "Figure 2": """\
Both axes are logarithmic. The table has T_n, the median over splits (and in how many of {splits} splits the model is
rejected: T_n is above {tolerance}), if the flow is stopped after so many steps. Choosing the number of steps that
rejects would be multiple testing.""",
}
TOLERANCE = maity_tables.TOLERANCE
#: Steps of the published figure, and people of a quick run.
LONGEST, FEW = 2560, 1000
#: Size of letters in the picture.
FONT = 11


def curves_of(models, longest, seeds, n_people=None):
    """Train models of each split and follow their flows long: T_n by split and steps, and how many people.

    Returns
    -------
    steps : list of int
        Numbers of steps that were looked at.
    curves : dict of str to list of list of float
        For each model T_n by split and number of steps.
    n_people : int
        People audited in each split.
    """
    curves = {kind: [] for kind in models}
    for data_seed, model_seed in seeds:
        training, testing, sensitive, metrics = maity_tables.split_of("adult", data_seed)
        audited = testing.take(slice(n_people))
        for kind in models:
            model = maity_tables.train(kind, "adult", training, sensitive, metrics["training"], model_seed)
            options = {
                **maity_tables.FLOWS["adult"],
                "steps": (longest, maity_tables.STEP_SIZE),
                "tolerance": TOLERANCE,
            }
            options |= {"fair_metric": metrics["testing"], "gradient": log_loss_gradient(model)}
            test = IndividualFairnessTest.as_published(model, **options)
            with warnings.catch_warnings():  # long flows leave the range of the features, as the published ones do
                warnings.simplefilter("ignore", UserWarning)
                path = test.fit(audited.X, audited.y, sensitive_features=audited.groups).path_
            curves[kind].append(path["lower_bound"].round(4).tolist())
            print(f"  {data_seed:>5} {kind:<10} T_n {curves[kind][-1][-1]} after {longest} steps", flush=True)
    return path["n_steps"].tolist(), curves, len(audited.y)


def statements(steps, curves):
    """Return what the paper says about Figure 2 beside what holds here."""
    rejected = {kind: np.array(values) > TOLERANCE for kind, values in curves.items()}  # by split and steps
    fair = rejected.pop("sensr")
    unfair = np.array(list(rejected.values()))
    first = f"; first rejected after {steps[int(np.argmax(fair.any(axis=0)))]:,} steps" if fair.any() else ""
    for what, splits, why, answers in (
        ("SenSR is not rejected whenever the flow is stopped", ~fair.any(axis=1), first, "stopping.sensr"),
        (
            "the other models are rejected if the flow is long enough",
            unfair[..., -1].all(axis=0),
            "",
            "stopping.unfair",
        ),
        ("a short flow does not reject them", ~unfair[..., 0].any(axis=0), "", "stopping.unfair"),
    ):
        yield said(what, splits.all(), f"{splits.sum()} of {len(splits)} splits{why}", answers=answers)


def table_of(steps, curves):
    """Return T_n after a few numbers of steps: the median over splits, and how often rejected."""
    looked = np.array(steps)
    places = [int(np.argmin(abs(looked - wanted))) for wanted in (10, 50, 100, 250, 500, 1000, LONGEST)]
    rows = []
    for kind, values in curves.items():
        there = np.array(values)[:, places]
        shown = zip(np.median(there, axis=0), (there > TOLERANCE).sum(axis=0), strict=True)
        rows.append([maity_tables.LABELS[kind], *(f"{middle:.3f} ({rejected})" for middle, rejected in shown)])
    return ["model", *(f"{looked[place]:,} steps" for place in places)], rows


def quick_rows():
    """Return T_n of two models that are trained in seconds, within four published standard deviations."""
    longest, _ = maity_tables.FLOWS["adult"]["steps"]
    _, curves, _ = curves_of(["baseline", "reductions"], longest, SEED[:1], FEW)
    printed = {claim.name: float(claim.printed) for claim in claims(SOURCE) if claim.is_number}
    for kind, ((*_, bound),) in curves.items():
        name = maity_tables.answered("adult", kind, "loss_ratio")
        what = f"{maity_tables.LABELS[kind]}: T_n of {FEW:,} people after {longest} steps"
        yield Row(what, bound, other=printed[name], within=4 * printed[f"{name} (deviation)"])


def run(*, quick):
    if quick:
        return Found(list(quick_rows()))
    steps, curves, people = curves_of(maity_tables.MODELS, LONGEST, SEED)
    facts = {"people": people, "tolerance": TOLERANCE, "splits": len(SEED)}
    pictures = {"figure_2": {"steps": steps, "curves": curves}}
    return Found(list(statements(steps, curves)), {"Figure 2": table_of(steps, curves)}, facts, pictures)


def paint_stopping(figure, data):
    """Draw T_n against the number of steps, both on logarithmic axes: each split, the median, and the tolerance."""
    ax = figure.add_axes((0.13, 0.16, 0.66, 0.8))
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    styles = {"reductions": (ORANGE, "-"), "baseline": (BLUE, "-"), "project": (GREY, "--"), "sensr": (GREY, "-")}
    steps, ends, top = np.array(data["steps"]), [], 1.0
    shown = steps >= 10
    for kind, values in data["curves"].items():
        colour, line = styles[kind]
        values, middle = np.array(values), np.median(values, axis=0)
        ax.plot(steps[shown], values[:, shown].T, line, color=colour, linewidth=0.5, alpha=0.45)
        ax.plot(steps[shown], middle[shown], line, color=colour, linewidth=2.2)
        ends.append((middle[-1], kind, colour))
        top = max(top, values.max())
    ax.axhline(TOLERANCE, color="#000000", linewidth=1, linestyle=":")
    ticks = [10, 40, 160, 640, 2560]
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.set_xticks([], minor=True)
    levels = [level for level in (1, 1.25, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024) if level <= 1.3 * top]
    ax.set_yticks(levels, [f"{level:g}" for level in levels])
    ax.set_yticks([], minor=True)
    ax.set_xlim(10, LONGEST)
    apart, last = np.log(top) / 14, -1.0
    for value, kind, colour in sorted(ends):
        last = max(np.log(value), last + apart)
        ax.text(LONGEST * 1.08, np.exp(last), maity_tables.LABELS[kind], color=colour, fontsize=FONT, va="center")
    ax.set_xlabel("steps", fontsize=FONT)
    ax.set_ylabel("T_n", fontsize=FONT)
    ax.tick_params(labelsize=FONT, colors=GREY, length=3)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


PICTURES = {
    "figure_2": Picture(
        "Figure 2",
        "T_n by the number of steps",
        "Four models, each with a thin curve for every split and a bold one for the median: T_n by the number of "
        "steps, from 10 to 2,560, on logarithmic axes. A dotted line is the tolerance of {tolerance}.",
        (6.4, 3.8),
        paint_stopping,
    ),
}
