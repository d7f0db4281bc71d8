"""Drawings on any axes: everything is drawn or told, data is text, and colour is never the only difference."""

import re
from importlib.resources import files
from itertools import pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from skfairtest import DisparityDisplay, FairnessTest, GroupMetricDisplay, NullDistributionDisplay, PowerDisplay
from skfairtest._utils.text import display_width
from skfairtest.displays.base import canvas, plain_ticks
from skfairtest.report.draw import BAR, BLUE, GREY, INK, ORANGE, PALE, NullHistogram

mpl.use("Agg")

HOSTILE = [
    "$x_1$ and $\\alpha", "a_b^c", "<script>alert(1)</script>", "a|b", "new\nline", "\x1b[31mred", "", " lead", "100%",
    "x" * 300, "[bold]", "{braces}", "\u202eevil",
]  # fmt: skip


@pytest.fixture
def ax():
    fig, ax = plt.subplots(layout="constrained")
    yield ax
    plt.close(fig)


def histogram(**changes):
    given = {
        "kind": "enumerated", "statistic": "difference", "low": (-0.5, 0.0, 0.5), "high": (-0.5, 0.0, 0.5),
        "mass": (0.25, 0.5, 0.25), "extreme": (0.25, 0.0, 0.25), "observed": 0.5, "p_value": 0.5, "note": "",
    }  # fmt: skip
    return NullHistogram(**{**given, **changes})


def draw_disparities(ax, labels, *columns, null, margin_bounds=None, xlabel="", **said):
    *ends, concern = (np.asarray(column, dtype=float) for column in columns)
    columns = dict(zip(("disparity", "ci_low", "ci_high"), ends, strict=True)) | {"p_value": np.zeros(len(labels))}
    said |= {"concern": concern == 1, "null": null, "margin_bounds": margin_bounds, "xlabel": xlabel}
    return DisparityDisplay(labels=labels, **columns, **said).plot(ax=ax)


def draw_groups(ax, labels, *columns, reference=None, xlabel="", **said):
    value, low, high, small = (np.asarray(column, dtype=float) for column in columns)
    said |= {"n_effective": np.full(len(labels), 9), "small": small == 1, "reference": reference, "xlabel": xlabel}
    return GroupMetricDisplay(labels=labels, value=value, ci_low=low, ci_high=high, **said).plot(ax=ax)


def draw_null_histogram(ax, histogram):
    return NullDistributionDisplay(null_distribution=histogram).plot(ax=ax)


def row_labels(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def markers(ax):
    """Marker, colour, fill and places of everything that is marked."""
    out = []
    for line in ax.get_lines():
        if line.get_marker() not in ("None", None, ""):
            place = list(
                zip(np.round(line.get_xdata(), 6).tolist(), np.asarray(line.get_ydata()).tolist(), strict=True)
            )
            out.append((line.get_marker(), to_hex(line.get_color()), line.get_markerfacecolor(), place))
    return out


def test_findings_differ_by_colour_and_by_shape(ax):
    draw_disparities(ax, list("abc"), [0.1, 0.2, 0.3], [0, 0.1, 0.2], [0.2, 0.3, 0.4], [True, False, True], null=0)
    (found, missed) = markers(ax)
    assert found[:2] == ("D", ORANGE)
    assert missed[:2] == ("o", BLUE)
    assert found[3] == [(0.1, 0), (0.3, 2)]
    assert missed[3] == [(0.2, 1)]
    assert legend(ax) == ["significant", "not significant"]
    grey = [np.dot(mpl.colors.to_rgb(colour), [0.299, 0.587, 0.114]) for colour in (BLUE, ORANGE)]
    assert abs(grey[0] - grey[1]) > 0.08
    assert row_labels(ax) == ["a", "b", "c"]
    low, high = ax.get_ylim()
    assert low > high  # the first row is on top


def test_what_lies_beyond_the_axis_is_an_arrow(ax):
    draw_disparities(
        ax, list("abc"), [2.0, np.inf, 0.0], [1.1, 1.5, 0.0], [3.0, np.inf, 0.9], [True, True, False], null=1
    )
    assert ax.get_xscale() == "log"
    left, right = ax.get_xlim()
    arrows = {(marker, y) for marker, _, _, places in markers(ax) for _, y in places if marker in "<>"}
    assert arrows == {(">", 1), ("<", 2)}
    places = {x for marker, _, _, found in markers(ax) if marker in "<>" for x, _ in found}
    assert places == {round(left, 6), round(right, 6)}
    assert left < 0.9 < 3 < right


def test_a_disparity_that_is_undefined_is_called_so(ax):
    draw_disparities(ax, list("ab"), [0.1, np.nan], [0, np.nan], [0.2, np.nan], [False, False], null=0)
    assert [text.get_text() for text in ax.texts] == ["undefined"]
    assert ax.texts[0].get_position()[1] == 1


def test_nothing_defined_and_nothing_at_all_are_drawn_too(ax):
    draw_disparities(ax, ["a"], [np.nan], [np.nan], [np.nan], [False], null=0, margin_bounds=(-0.1, 0.1))
    ax.figure.canvas.draw()
    ax.clear()
    draw_groups(ax, [], [], [], [], [])
    ax.figure.canvas.draw()
    ax.clear()
    draw_disparities(ax, ["a"], [np.inf], [0.0], [np.inf], [False], null=1)
    ax.figure.canvas.draw()


def test_the_tolerated_band_is_on_the_axis(ax):
    draw_disparities(ax, ["a"], [0.01], [0.0], [0.02], [False], null=0, margin_bounds=(-0.2, 0.2))
    left, right = ax.get_xlim()
    assert left < -0.2 < 0.2 < right
    assert legend(ax) == ["not significant", "tolerated"]


def test_small_groups_are_hollow(ax):
    draw_groups(ax, list("ab"), [0.2, 0.5], [0.1, 0.1], [0.3, 0.9], [False, True], reference=0.3)
    (full, hollow) = markers(ax)
    assert full[2] == BLUE
    assert hollow[2] == ax.get_facecolor()
    assert hollow[3] == [(0.5, 1)]
    assert legend(ax) == ["few people", "everyone"]
    assert ax.get_lines()[-1].get_xdata() == [0.3, 0.3]


def test_an_unknown_reference_is_not_drawn(ax):
    draw_groups(ax, ["a"], [0.2], [0.1], [0.3], [False], reference=np.nan)
    assert len(ax.get_lines()) == 1
    assert ax.get_legend() is None


def heights(bars):
    return [np.ptp(path.vertices[:, 1]) for path in bars.get_paths()]


def test_the_extreme_part_is_hatched_and_adds_up(ax):
    draw_null_histogram(ax, histogram(mass=(0.25, 0.5, 0.25), extreme=(0.25, 0.0, 0.1)))
    bars, extreme = ax.collections
    assert sum(heights(extreme)) == pytest.approx(0.35)
    assert sum([*heights(bars), *heights(extreme)]) == pytest.approx(1)
    assert extreme.get_hatch()
    assert not bars.get_hatch()
    assert [line.get_xdata()[0] for line in ax.get_lines()] == [50.0]
    assert "data: 50.0 points" in legend(ax)
    assert ax.get_xlabel() == "difference, in percentage points, p = 0.500"
    ax.figure.canvas.draw()
    assert {"\N{MINUS SIGN}50", "0", "50"} <= {text.get_text() for text in ax.get_xticklabels()}


def test_data_far_beyond_the_law_are_on_the_axis(ax):
    draw_null_histogram(ax, histogram(observed=7.0))
    assert ax.get_xlim()[1] > 700


def test_far_bins_of_no_weight_do_not_stretch_the_axis(ax):
    bins = {"low": (-1.0, -0.1, 0.0, 0.1), "high": (-0.1, 0.0, 0.1, 1.0), "mass": (1e-9, 0.5, 0.5, 1e-9)}
    draw_null_histogram(ax, histogram(**bins, extreme=(1e-9, 0.0, 0.0, 1e-9), observed=0.05))
    assert -20 < ax.get_xlim()[0] < -10 < 10 < ax.get_xlim()[1] < 20


@pytest.mark.parametrize("observed", [np.inf, -np.inf])
def test_an_infinite_statistic_has_no_line(ax, observed):
    draw_null_histogram(ax, histogram(observed=observed))
    ax.figure.canvas.draw()
    assert len(ax.get_lines()) == 0


def test_one_outcome_alone_is_drawn(ax):
    draw_null_histogram(ax, histogram(low=(0.0,), high=(0.0,), mass=(1.0,), extreme=(1.0,), observed=0.0))
    ax.figure.canvas.draw()
    assert np.ptp(ax.collections[1].get_paths()[0].vertices[:, 0]) > 0


def test_hostile_names_are_text(ax):
    n = len(HOSTILE)
    values = np.linspace(0, 1, n)
    draw_disparities(
        ax, HOSTILE, values, values - 0.1, values + 0.1, values > 0.5, null=0, xlabel="$\\frac{1}{2}$ of $x"
    )
    ax.figure.canvas.draw()
    for text in [*ax.get_yticklabels(), ax.xaxis.label, *ax.get_legend().get_texts()]:
        assert not text.get_parse_math()
        assert text.get_text().isprintable()
    assert row_labels(ax)[0] == HOSTILE[0]
    assert all(display_width(name) <= 56 for name in row_labels(ax))
    assert len(set(row_labels(ax))) == n


def test_four_drawings_share_a_figure_without_touching():
    fig, axs = plt.subplots(2, 2, layout="constrained", figsize=(11, 8))
    row = ([0.1, 0.2], [0, 0.1], [0.2, 0.3], [True, False])
    draw_disparities(
        axs[0, 0], ["African-American - rest", "b"], *row, null=0, margin_bounds=(-0.1, 0.1), xlabel="one\ntwo"
    )
    draw_groups(axs[0, 1], ["a", "b"], *row, reference=0.2, xlabel="rate")
    draw_null_histogram(axs[1, 0], histogram())
    draw_null_histogram(axs[1, 1], histogram())
    axs[1, 0].set_title("title")
    fig.canvas.draw()
    boxes = [ax.get_tightbbox() for ax in axs.flat]
    for i, first in enumerate(boxes):
        for second in boxes[i + 1 :]:
            assert not first.overlaps(second)
    for ax in axs.flat:
        legend_box, label_box = ax.get_legend().get_window_extent(), ax.xaxis.label.get_window_extent()
        assert legend_box.y1 <= label_box.y0 + 1
    plt.close(fig)


@pytest.mark.parametrize("figsize", [(7, 4), (4, 4), (11, 4)])
def test_a_legend_is_not_cut(figsize):
    figure, ax = plt.subplots(figsize=figsize, layout="constrained")
    for share, style in ((0.5, "-"), (0.1, "--"), (0.01, ":")):
        PowerDisplay.from_rates(0.3, shares=(share, 1 - share), name=f"share {share:g}", ax=ax, linestyle=style)
    figure.canvas.draw()
    box = ax.get_legend().get_window_extent()
    assert 0 <= box.x0 < box.x1 <= figure.bbox.width
    assert box.y0 >= 0


@pytest.mark.parametrize(
    ("ends", "ticks"),
    [((1, 1.8), "1 1.2 1.4 1.6 1.8"), ((0.2, 3), "0.2 0.5 1 2"), ((0.02, 40), "0.03 0.1 0.3 1 3 10 30"),
     ((1e-3, 1e60), "1 1e+07 1e+14 1e+21 1e+28 1e+35 1e+42 1e+49 1e+56")],
)  # fmt: skip
def test_a_log_scale_has_a_few_round_numbers(ax, ends, ticks):
    ax.set(xscale="log", xlim=ends)
    plain_ticks(ax.xaxis)
    placed = zip(ax.get_xticks(), shown_ticks(ax), strict=True)
    assert " ".join(text for place, text in placed if ends[0] <= place <= ends[1]) == ticks


def shown_ticks(ax):
    ax.figure.canvas.draw()
    return [text.get_text() for text in ax.get_xticklabels()]


@pytest.mark.parametrize("scale", [1e-9, 1e-4, 1.0, 123.0, 4e4, 2.5e7, 3e12])
@pytest.mark.parametrize("middle", [0.0, 5.0, 1000.0])
def test_ticks_need_no_factor_or_offset_beside_the_axis(ax, scale, middle):
    value = scale * (middle + np.linspace(-1, 1, 2))
    draw_groups(ax, ["a", "b"], value, value - scale / 2, value + scale / 2, [False, False])
    ticks = shown_ticks(ax)
    assert ax.xaxis.get_offset_text().get_text() == ""
    assert len(set(ticks)) == len(ticks) > 2
    read = np.array([float(text.replace("\N{MINUS SIGN}", "-")) for text in ticks])
    np.testing.assert_allclose(read, ax.get_xticks(), rtol=1e-5, atol=1e-9 * scale)
    boxes = [text.get_window_extent() for text in ax.get_xticklabels()]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_the_unit_of_a_studentized_statistic_is_on_the_axis(ax):
    draw_null_histogram(ax, histogram(statistic="studentized difference"))
    assert ax.get_xlabel() == "studentized difference (in standard errors), p = 0.500"


def test_settings_of_matplotlib_neither_change_a_drawing_nor_are_changed_by_it():
    test = FairnessTest.from_predictions(
        None, [1, 0, 0, 1] * 20 + [1, 0, 0, 0] * 20, sensitive_features=["a"] * 80 + ["b"] * 80,
        metric="selection_rate",
    )  # fmt: skip

    def look():
        before = dict(mpl.rcParams)
        display = DisparityDisplay.from_test(test)
        assert dict(mpl.rcParams) == before
        texts = [
            *display.ax_.get_xticklabels(),
            *display.ax_.get_yticklabels(),
            display.ax_.title,
            display.ax_.xaxis.label,
        ]
        return (
            [(text.get_fontsize(), text.get_color(), text.get_usetex()) for text in texts],
            display.figure_.get_facecolor(), display.figure_.get_size_inches().tolist(),
        )  # fmt: skip

    plain = look()
    changed = {"font.size": 30, "text.usetex": True, "axes.facecolor": "black", "xtick.labelsize": 40}
    with plt.style.context(["dark_background", changed]):
        assert look() == plain


def test_letters_on_dark_axes_are_those_of_the_axes():
    with plt.style.context("dark_background"):
        _, ax = plt.subplots()
    draw_null_histogram(ax, histogram())
    assert {to_hex(text.get_color()) for text in ax.get_legend().get_texts()} == {"#ffffff"}
    assert to_hex(ax.get_lines()[0].get_color()) == "#ffffff"


def test_pages_and_displays_have_the_same_colours():
    css = files("skfairtest.report").joinpath("templates", "report.css").read_text(encoding="utf-8")
    (light, *_) = re.findall(r"\.skfairtest \{([^}]*)\}", css)
    page = dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6})", light))
    here = {"blue": BLUE, "orange": ORANGE, "grey": GREY, "ink": INK, "pale": PALE, "bar": BAR}
    assert {name: page[name] for name in here} == here


def test_a_backend_may_turn_interactive_mode_on_when_it_is_loaded(monkeypatch):
    monkeypatch.setattr(plt, "_backend_mod", None)  # as before the first figure
    was, loaded = plt.isinteractive(), plt.switch_backend

    def switch(name):
        loaded(name)
        mpl.interactive(True)

    monkeypatch.setattr(plt, "switch_backend", switch)
    try:
        with canvas(PowerDisplay, None):
            pass
        assert plt.isinteractive()
    finally:
        mpl.interactive(was)
        plt.close("all")
