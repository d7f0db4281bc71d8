"""A matplotlib figure as an SVG file: text is text, and colours follow a light or a dark page."""

import io
import re
from html import escape

import matplotlib as mpl
from matplotlib.figure import Figure

BLUE, ORANGE, GREY, PALE = "#0072b2", "#d55e00", "#57606a", "#d0d7de"
#: What a colour is called in the style, and how it looks on a dark page.
COLOURS = {
    BLUE: ("blue", "#56b4e9"),
    ORANGE: ("orange", "#f58a3c"),
    GREY: ("grey", "#a5adb7"),
    PALE: ("pale", "#353c45"),
    "#000000": ("ink", "#e6e8eb"),
    "#ffffff": ("paper", "#14171b"),
    "#eeeeee": ("rule", "#2b3138"),
}
FONTS = ["system-ui", "-apple-system", "Segoe UI", "Roboto", "Helvetica Neue", "Arial", "DejaVu Sans", "sans-serif"]


def svg(paint, *, inches, title, description):
    """Return the SVG of a new figure that `paint` draws in: the same bytes for the same figures."""
    target = io.StringIO()
    with mpl.rc_context(mpl.rcParamsDefault):
        mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "skfairtest", "text.parse_math": False})
        figure = Figure(figsize=inches)
        paint(figure)
        figure.savefig(target, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = re.sub(r"<metadata>.*?</metadata>", "", target.getvalue(), flags=re.DOTALL)
    text = re.sub(r"(\d\.\d\d)\d+", r"\1", text[text.index("<svg ") :])
    text = re.sub("'DejaVu Sans'[^;]*", ", ".join(f"'{font}'" if " " in font else font for font in FONTS), text)
    for colour, (name, _) in COLOURS.items():
        text = re.sub(colour, f"var(--{name}, {colour})", text, flags=re.IGNORECASE)
    dark = "; ".join(f"--{name}: {colour}" for name, colour in COLOURS.values())
    style = (
        "svg { fill: var(--ink, #000000); background: var(--paper, #ffffff) } "
        f"@media (prefers-color-scheme: dark) {{ svg {{ {dark} }} }}"
    )
    head, _, drawn = text.partition(">")
    words = f"<title>{escape(title)}</title><desc>{escape(description)}</desc><style>{style}</style>"
    return f'{head} role="img">{words}{drawn}'
