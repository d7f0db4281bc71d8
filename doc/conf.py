"""The site: built from `doc/`, the docstrings and `examples/`, with no network, and loading nothing from outside."""

import inspect
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE)]  # the package as it is here, installed or not; and _gallery

from _reports import write_reports  # noqa: E402

import skfairtest  # noqa: E402
import skfairtest.datasets  # noqa: E402

project = "skfairtest"
author = "The skfairtest developers"
copyright = author
release = version = skfairtest.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
# Formulas are Unicode text: no script has to typeset them.
myst_heading_anchors = 4
# "Mr. --x" in prose and "-" in formulas stay as they are typed.
smartquotes = False
default_role = "literal"

html_theme = "pydata_sphinx_theme"
html_title = f"skfairtest {release}"
#: What pages include and show, made by the build.
GENERATED = HERE / "generated"
(GENERATED / "static").mkdir(parents=True, exist_ok=True)
html_static_path = ["_static", "generated/static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "skfairtest"},
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    # Patterns must not overlap: these are all pages whose names begin with an a or an i.
    "secondary_sidebar_items": {
        "[!ai]*": ["page-toc"],
        "api": ["page-toc"],
        "in[!d]*": ["page-toc"],
        "index": [],
        "auto_examples/*": [],
    },
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# Wide tables and printouts take the room of the sidebars.
html_sidebars = {page: [] for page in ("index", "start", "install", "comparison", "validity", "auto_examples/*")}

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc says them in words
numpydoc_show_class_members = False  # the template of classes lists them, without what comes from scikit-learn


def own_methods(cls):
    """Public methods that a class has from here, not from scikit-learn or fairlearn."""
    names = []
    for name in dir(cls):
        if name.startswith("_") or re.fullmatch(r"set_\w+_request|get_metadata_routing|get_params|set_params", name):
            continue
        home = next((base for base in cls.__mro__ if name in vars(base)), None)
        member = inspect.getattr_static(cls, name)
        if callable(getattr(member, "__func__", member)) and home.__module__.startswith("skfairtest"):
            names.append(name)
    return names


autosummary_context = {
    "own_methods": {
        f"skfairtest.{name}": own_methods(member)
        for name, member in ((name, getattr(skfairtest, name)) for name in skfairtest.__all__)
        if inspect.isclass(member) and not issubclass(member, BaseException)
    }
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "_gallery.Story",
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("skfairtest",),
    "reset_modules": ("matplotlib", "_gallery.house_style"),
    "image_srcset": ["2x"],
    "thumbnail_size": (880, 560),
    "abort_on_example_error": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
}

# fairlearn's reductions use what pandas 3 deprecates; an example shows what it says, not that.
for message in ("Setting a value on a Series via .at", "Setting an item of incompatible dtype"):
    warnings.filterwarnings("ignore", message=message)


def generate(app):
    """Write what the command says of itself, and the reports that are shown: nothing is described twice."""
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONPATH": str(HERE.parent)}
    for name in ("program", "demo", "audit", "report", "scan", "impact", "compare", "monitor", "power"):
        ask = [sys.executable, "-m", "skfairtest", *([] if name == "program" else [name]), "--help"]
        said = subprocess.run(ask, env=environment, capture_output=True, text=True)
        if said.returncode:
            raise RuntimeError(f"{' '.join(ask)}: {said.stderr}")
        (GENERATED / f"help_{name}.txt").write_text(said.stdout, encoding="utf-8")
    write_reports(GENERATED / "static" / "reports", environment)


def keep_initials(app, what, name, obj, options, lines):
    """Initials at the start of a line are not the numbers of a list."""
    lines[:] = [re.sub(r"^(\s*)([A-Z])\. (?=\S)", r"\1\2\\. ", line) for line in lines]


# Whatever a page would load by itself. A link that a reader may follow is no such thing.
LOADS = re.compile(
    r"""<(?:script|img|iframe|source|embed|video|audio)\b[^>]*?\ssrc\s*=\s*["']?(?P<src>(?:https?:)?//[^"'\s>]+)"""
    r"""|<link\b(?![^>]*rel=["'](?:canonical|author|license|next|prev|search)["'])[^>]*?\shref\s*=\s*["']?(?P<href>(?:https?:)?//[^"'\s>]+)"""
    r"""|(?:@import\s+["']?|url\(\s*["']?)(?P<css>(?:https?:)?//[^"')\s]+)""",
    re.IGNORECASE,
)


def load_nothing_from_outside(app, exception):
    """Warn, which fails the build, about every page and style sheet that would ask another host for something."""
    from sphinx.util import logging

    if exception is not None or app.builder.format != "html":
        return
    for path in sorted(Path(app.outdir).rglob("*")):
        if path.suffix in {".html", ".css"}:
            for match in LOADS.finditer(path.read_text(encoding="utf-8")):
                found = match["src"] or match["href"] or match["css"]
                logging.getLogger(__name__).warning("%s loads %s", path.relative_to(app.outdir), found)


def setup(app):
    """Add what is checked beside Sphinx's own warnings."""
    app.connect("builder-inited", generate)
    app.connect("autodoc-process-docstring", keep_initials)
    app.connect("build-finished", load_nothing_from_outside)
