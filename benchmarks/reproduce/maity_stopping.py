"""Figure 2 of Maity et al. (2021): T_n of four models of Adult by the number of steps of the flow."""

import numpy as np

from benchmarks import _adult_compas
from benchmarks.reproduce import maity_tables
from benchmarks.reproduce._pictures import Picture
from benchmarks.reproduce._rows import Found, Row
from skfairtest import IndividualFairnessTest
from skfairtest.displays._drawings import literal
from skfairtest.displays._style import BLUE, GREY, ORANGE

TITLE = "Maity et al. (2021): when the flow is stopped"
SEED = _adult_compas.SEEDS[:1]
NEEDS = ("adult.csv.gz",)
LIBRARIES = maity_tables.LIBRARIES
INTRODUCTION = """\
S. Maity, S. Xue, M. Yurochkin and Y. Sun (2021), "Statistical inference for individual fairness", Figure 2: T_n of the
four models of Adult, of [its tables](maity_tables.md), by the number of steps of the flow. Here they are the models of
the first of the ten splits, audited on the {people:,} people left out; which models the published curves are of is not
said."""
TABLES = {
    "Figure 2": """\
Both axes are logarithmic. The table has the smallest number of steps, of those looked at, from which on each model is
rejected: T_n is above {tolerance}. Choosing the number of steps that rejects would be multiple testing.""",
}
TOLERANCE = maity_tables.TOLERANCE
#: Steps of the published figure, and people of a quick run.
LONGEST, FEW = 2560, 1000
#: Size of letters in the picture.
FONT = 11


def curves_of(models, longest, n_people=None):
    """Train models of the split and follow their flows long: T_n by the number of steps, and how many people."""
    ((data_seed, model_seed),) = SEED
    training, testing, sensitive, metrics = maity_tables.split_of("adult", data_seed)
    audited = testing.take(slice(n_people))
    curves = {}
    for kind in models:
        model = maity_tables.train(kind, "adult", training, sensitive, metrics["training"], model_seed)
        options = {**maity_tables.FLOWS["adult"], "n_steps": longest, "tolerance": TOLERANCE}
        test = IndividualFairnessTest.as_published(model, fair_metric=metrics["testing"], **options)
        path = test.fit(audited.X, audited.y, sensitive_features=audited.groups).path_
        curves[kind] = {key: path[key].round(4).tolist() for key in ("n_steps", "lower_bound")}
        print(f"  {kind}: T_n {curves[kind]['lower_bound'][-1]} after {longest} steps", flush=True)
    return curves, len(audited.y)


def rejected_from(curve):
    """Return the number of steps from which on a model is rejected, or None."""
    above = np.array(curve["lower_bound"]) > TOLERANCE
    if not above[-1]:
        return None
    below = np.flatnonzero(~above)
    return curve["n_steps"][below[-1] + 1 if len(below) else 0]


def statements(curves):
    """Return what the paper says about Figure 2 beside what holds here."""
    ends = {kind: curve["lower_bound"][-1] for kind, curve in curves.items()}
    ever = {kind: max(curve["lower_bound"]) for kind, curve in curves.items()}
    order = sorted(ends, key=ends.get, reverse=True)
    holds = {
        "SenSR is not rejected whenever the flow is stopped": ever["sensr"] <= TOLERANCE,
        "the other models are rejected if the flow is long enough": all(
            rejected_from(curves[kind]) for kind in maity_tables.MODELS[:3]
        ),
        "T_n is largest for Reductions, then Baseline, Project and SenSR": order
        == ["reductions", "baseline", "project", "sensr"],
    }
    for what, held in holds.items():
        yield Row(what, "holds", "holds" if held else "does not hold")


def table_of(curves):
    """Return from how many steps on each model is rejected, and T_n at the end."""
    rows = []
    for kind, curve in curves.items():
        rows.append([maity_tables.LABELS[kind], rejected_from(curve) or "never", f"{curve['lower_bound'][-1]:.3f}"])
    return ["model", "rejected from (steps)", f"T_n after {LONGEST:,} steps"], rows


def quick_rows():
    """Return T_n of two models that are trained in seconds, within four published standard deviations."""
    curves, _ = curves_of(["baseline", "reductions"], maity_tables.FLOWS["adult"]["n_steps"], FEW)
    for kind, curve in curves.items():
        published, spread, _ = maity_tables.PUBLISHED["adult"][kind]["loss_ratio"]
        what = f"{maity_tables.LABELS[kind]}: T_n of {FEW:,} people after {curve['n_steps'][-1]} steps"
        yield Row(what, published, curve["lower_bound"][-1], 4 * spread)


def run(*, quick):
    if quick:
        return Found(list(quick_rows()))
    curves, people = curves_of(maity_tables.MODELS, LONGEST)
    facts = {"people": people, "tolerance": TOLERANCE}
    return Found(list(statements(curves)), {"Figure 2": table_of(curves)}, facts, {"figure_2": curves})


def paint_stopping(figure, curves):
    """Draw T_n against the number of steps, both on logarithmic axes, and the tolerance."""
    ax = figure.add_axes((0.13, 0.16, 0.66, 0.8))
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    styles = {"reductions": (ORANGE, "-"), "baseline": (BLUE, "-"), "project": (GREY, "--"), "sensr": (GREY, "-")}
    ends = []
    for kind, curve in curves.items():
        colour, line = styles[kind]
        steps, values = (np.array(curve[key]) for key in ("n_steps", "lower_bound"))
        shown = steps >= 10
        ax.plot(steps[shown], values[shown], line, color=colour, linewidth=1.8)
        ends.append((values[-1], kind, colour))
    ax.axhline(TOLERANCE, color="#000000", linewidth=1, linestyle=":")
    ticks = [10, 40, 160, 640, 2560]
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.set_xticks([], minor=True)
    top = max(value for value, _, _ in ends)
    levels = [level for level in (1, 1.25, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024) if level <= 1.3 * top]
    ax.set_yticks(levels, [f"{level:g}" for level in levels])
    ax.set_yticks([], minor=True)
    ax.set_xlim(10, LONGEST)
    apart, last = np.log(top) / 14, -1.0
    for value, kind, colour in sorted(ends):
        last = max(np.log(value), last + apart)
        literal(
            ax.text(LONGEST * 1.08, np.exp(last), maity_tables.LABELS[kind], color=colour, fontsize=FONT, va="center")
        )
    literal(ax.set_xlabel("steps", fontsize=FONT))
    literal(ax.set_ylabel("T_n", fontsize=FONT))
    ax.tick_params(labelsize=FONT, colors=GREY, length=3)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


PICTURES = {
    "figure_2": Picture(
        "Figure 2",
        "T_n by the number of steps",
        "Four curves of T_n by the number of steps from 10 to 2,560, on logarithmic axes; a dotted line is the "
        "tolerance of {tolerance}.",
        (6.4, 3.8),
        paint_stopping,
    ),
}
