"""Data and small tables that several test files share."""

import gc
import inspect
import json
import os
import pickle
import sys
import tempfile
import time
from collections import defaultdict
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

# Tests share the processors among processes; threads of their own would only be in each other's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import settings

import skfairtest
from skfairtest import CountTable, FairnessAudit, Rate
from skfairtest._utils import parallel
from skfairtest._utils.errors import ParameterError
from skfairtest.comparisons import null_histogram
from skfairtest.datasets import load_berkeley, load_compas
from skfairtest.inference import intervals, margin, rates
from skfairtest.planning import plan
from skfairtest.report import html

try:
    from joblib.externals import cloudpickle
except ImportError:  # joblib 1.6 depends on it instead
    import cloudpickle

#: Pages, and a docstring, whose examples fit many models: among the slow tests.
LONG = ("adjusted", "calibration", "scale", "subgroups", "two_models", "unknown_groups")
LONG_PAGES = (
    *("doc/individual.md", "doc/reports.md", "doc/scikit_learn.md", *(f"doc/guide/{name}.md" for name in LONG)),
)
#: Whether tests ran here before.
COMPILED = any((Path(__file__).parent / "__pycache__").glob("test_*-pytest-*.pyc"))

# Property tests ask for this number of examples, or a multiple of it: few at every change, many with
# --hypothesis-profile=thorough, as .ci/run does; the same ones on every machine. New ones with "search".
# No example has a deadline: how long one takes depends on how busy a machine is.
settings.register_profile("quick", max_examples=3, derandomize=True, deadline=None)
settings.register_profile("thorough", max_examples=50, derandomize=True, deadline=None)
settings.register_profile("search", max_examples=50, deadline=None)
settings.register_profile("long", max_examples=2000, deadline=None)
settings.load_profile("quick")

#: Names that some reader takes for something else than a name.
HOSTILE = (
    "<script>alert(1)</script>",
    "</td></table><img src=http://evil.example/x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "' style='display:none",
    "--></style></title><h1>up",
    "]]>&lt;&amp;&#60;",
    "{{7*7}} {% raw %} ${7*7}",
    "var(--ink); url(http://evil.example)",
    "a|b | c \\| d",
    "*bold* _it_ ~~gone~~ `code` # no",
    "[link](http://evil.example) ![i](x) <http://evil.example>",
    "http://evil.example www.evil.example me@evil.example @octocat",
    "1. one",
    "- item",
    "two\nlines\r\n\tand\x00more",
    "\x1b[31mred\x1b[0m",
    "$x_1^2$ and $",
    "[bold red]rich[/]",
    "=1+1",
    "\u05e9\u05dc\u05d5\u05dd",
    "\u202eevil",
    "\u6f22\u5b57\u6f22\u5b57",
    "\U0001f600\U0001f469\u200d\U0001f4bb",
    "x" * 300,
    "\ufdd0 noncharacter",
    "",
    " ",
)


class Clock:
    """Stands in for the module `time` of what is tested, so that no test depends on how busy a machine is."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def clock():
    """A clock that moves only when a test says so."""
    return Clock()


def pytest_xdist_auto_num_workers(config):
    """Run single files in this process: starting others takes longer, and no debugger reaches into them."""
    alone = all(Path(argument.partition("::")[0]).is_file() for argument in config.args)
    return 0 if alone else None


def pytest_sessionstart():
    """Send what tests define whole to other processes: there another package may be called "tests"."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__.partition(".")[0]])


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Look for doctests in the package and in documents alone: tests have none."""
    return [each for each in (yield) if type(each) is pytest.Module]


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Where nothing is compiled yet, let one process rewrite all assertions: the others read what it has written.

    What is collected stays to the end: it is kept out of the collections of garbage, which libraries ask for, too.
    """
    worker, done = getattr(session.config, "workerinput", None), None
    if not (worker is None or sys.dont_write_bytecode or COMPILED):
        done = Path(tempfile.gettempdir()) / f"skfairtest-{worker['testrunuid']}"
        if worker["workerid"] == "gw0":
            session.config.add_cleanup(lambda: done.unlink(missing_ok=True))
        else:
            wait_for(done)
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(5_000)
        if done is not None and worker["workerid"] == "gw0":
            done.touch()


def wait_for(path):
    """Wait until a file is there, at most two minutes."""
    for _ in range(600):
        if path.exists():
            break
        time.sleep(0.2)


def values_of(item):
    """The values of a test's parameters; of those that are parametrized together, the tuple of them."""
    params = dict(getattr(item, "callspec", SimpleNamespace(params={})).params)
    found = set()
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0] if mark.args else mark.kwargs["argnames"]
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
        found.add((*names, *(id(params.pop(name)) for name in names)))
    return found | {(name, id(value)) for name, value in params.items()}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Try every value of every parameter once; other combinations are for exhaustive runs, and long pages are slow.

    Of values `in_turn`, which are alike, one of so many is tried at every change, and the others are slow. Tests of one
    file begin by turns with another one, so that together they try all values that they share.
    """
    cases = defaultdict(list)
    for item in items:
        if item.nodeid.startswith(LONG_PAGES):
            item.add_marker(pytest.mark.slow)
        if not item.get_closest_marker("slow"):
            cases[item.nodeid.partition("[")[0]].append((item, values_of(item)))
    for combinations in cases.values():
        missing = set().union(*(values for _, values in combinations))
        if len(missing) == sum(len(values) for _, values in combinations):
            continue  # no value comes twice
        while missing:
            best = max(combinations, key=lambda each: len(each[1] & missing))
            missing -= best[1]
            combinations.remove(best)
        for item, values in combinations:
            if values:
                item.add_marker(pytest.mark.exhaustive)
    in_turn = defaultdict(list)
    for item in items:
        if item.get_closest_marker("in_turn") and not any(map(item.get_closest_marker, ("slow", "exhaustive"))):
            in_turn[item.function].append(item)
    for function, tried in in_turn.items():
        of_file = [each for each in vars(tried[0].module).values() if marked_in_turn(each)]
        (mark,) = marked_in_turn(function)
        for place, item in enumerate(tried, of_file.index(function)):
            if place % mark.args[0] and len(tried) > 1:
                item.add_marker(pytest.mark.slow)


def marked_in_turn(thing):
    """The mark of a test some of whose values are tried at every change."""
    return [mark for mark in getattr(thing, "pytestmark", ()) if mark.name == "in_turn"]


@pytest.fixture(params=[pytest.param(False, id="quick"), pytest.param(True, id="thorough", marks=pytest.mark.slow)])
def thorough(request):
    """Whether a test of chances or of a whole grid takes its time, which it does among the slow tests."""
    return request.param


def parameters_of_the_package():
    """Return the names of all parameters of what the package exports, and of its public methods."""
    found = set()
    for name in skfairtest.__all__:
        thing = getattr(skfairtest, name)
        if name.startswith("__") or (isinstance(thing, type) and issubclass(thing, Exception)):
            continue
        methods = [method for key, method in inspect.getmembers(thing, inspect.isroutine) if not key.startswith("_")]
        for function in (thing, *methods):
            found |= set(inspect.signature(function).parameters)
    return found


@pytest.fixture(scope="session", autouse=True)
def errors_are_about_parameters_of_the_package():
    """Let no test pass in which an error about a parameter names something that nobody can set."""
    known, make = parameters_of_the_package(), ParameterError.__init__

    def checked(error, message):
        make(error, message)
        assert error.parameter in known, f"{error.parameter!r} is no parameter of the package: {message}"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ParameterError, "__init__", checked)
        yield


@pytest.fixture(scope="session", autouse=True)
def any_work_is_worth_a_process():
    """Work of tests is short; with ``n_jobs=2`` it is shared among processes all the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "STARTING", 0.0)
        yield


@pytest.fixture(scope="session", autouse=True)
def exact_answers_about_the_same_counts_are_computed_once():
    """Many tests ask about the same people, and many write the same page again, whose figures are drawn anew."""
    known, compute = {}, rates.unconditional_log_p

    def remembered(x1, d1, x2, d2, alternative, advance):
        counts = x1, d1, x2, d2
        key = (alternative, *(each.tobytes() for each in counts))
        if key in known:
            for _ in counts[0]:
                advance()
        else:
            known[key] = compute(*counts, alternative, advance)
        return known[key].copy()

    def once(function):
        answers = {}

        def answer(*given, **named):
            key = pickle.dumps((given, named))
            if key not in answers:
                answers[key] = function(*given, **named)
            return deepcopy(answers[key])

        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rates, "unconditional_log_p", remembered)
        for name, modules in {
            "margin_log_p": (margin,),
            "miettinen_nurminen": (intervals,),
            "detectable_rates": (null_histogram,),
            "rate_power": (plan,),
            "svg": (html,),
        }.items():
            remembering = once(getattr(modules[0], name))
            for module in modules:
                patch.setattr(module, name, remembering)
        yield


@pytest.fixture(scope="session")
def hostile():
    """Names that some reader takes for something else than a name."""
    return HOSTILE


@pytest.fixture(scope="session")
def hostile_record():
    """Record an audit in which every name is hostile: groups, features, a metric, and the title."""
    half = len(HOSTILE) // 2
    one, other = (np.repeat(np.array(names, dtype=object), 24) for names in (HOSTILE[:half], HOSTILE[-half:]))
    chances = np.where(np.arange(len(one)) < len(one) / 2, 0.2, 0.8)
    with pytest.warns(UserWarning, match="differ only by case, space or Unicode form"):
        audit = FairnessAudit.from_predictions(
            None,
            (np.random.default_rng(0).random(len(one)) < chances).astype(int),
            sensitive_features={HOSTILE[1]: one, HOSTILE[13]: other[::-1]},
            metrics=[Rate(HOSTILE[9], event="y_pred"), "selection_rate"],
            compare="to_rest",
            intersections=False,
            random_state=0,
        )
    return replace(
        audit.record_,
        title=f"Audit of {HOSTILE[0]}",
        about=(*HOSTILE[:-2], "\ud800 lone"),  # groups with such names are refused
        sources=(HOSTILE[11],),
        warnings=(HOSTILE[14], HOSTILE[10]),
        not_compared=((HOSTILE[0], HOSTILE[8]),),
    )


@pytest.fixture(scope="session")
def compas_record(compas):
    """Record an audit of COMPAS by race and sex, by three metrics."""
    return FairnessAudit.from_predictions(
        compas.y_true,
        compas.y_pred,
        sensitive_features=compas.sensitive_features[["race", "sex"]],
        metrics=["selection_rate", "true_positive_rate", "accuracy"],
        random_state=0,
    ).record_


@pytest.fixture(scope="session")
def compas():
    """ProPublica's COMPAS records, one row per person."""
    return load_compas()


@pytest.fixture(scope="session")
def compas_table():
    """The same people as a table, by race, sex and age."""
    return load_compas(as_table=True)


@pytest.fixture(scope="session")
def berkeley():
    """Berkeley's admissions of 1973, one row per applicant."""
    return load_berkeley()


@pytest.fixture(scope="session")
def berkeley_table():
    """The same applicants as a table, with departments as strata."""
    return load_berkeley(as_table=True)


@pytest.fixture(scope="session")
def golden():
    """Numbers of the simulation of Maity et al. (2021), section 4.1, with their origin inside."""
    path = Path(__file__).parent / "individual" / "flow" / "golden" / "maity.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def simulated():
    """The data of that simulation, number by number as its generate_data.py draws them: features and labels."""
    random = np.random.RandomState(1)  # what numpy.random.seed(1) seeds
    X = random.normal(0, 0.25, (400, 2))
    majority = random.choice([False, True], 400, p=[0.1, 0.9])
    centre = np.where(majority[:, None], [-1.5, 0.0], [1.5, 0.0])
    X = X + centre
    noise = 0.01 * random.normal(size=400)
    weights = np.where(majority[:, None], [-0.2, -0.01], [0.2, -0.01])
    return X, (((X - centre) * weights).sum(axis=1) + noise > 0).astype(int)


@pytest.fixture(scope="session")
def raw_data():
    """Find a raw data set by its name; a test is skipped where it is missing."""
    from benchmarks.make_compas_counts import data_folder  # no part of an installed package

    def find(name):
        path = data_folder() / name
        if not path.exists():
            pytest.skip(f"{name} is not here: set SKFAIRTEST_DATA to its folder")
        return path

    return find


@pytest.fixture(scope="session")
def selected():
    """Make a table from ``{group: (people selected, people)}``; its only cells are y_pred."""

    def make(groups, name="group"):
        counts = {}
        for group, (events, people) in groups.items():
            counts |= {(group, 1): events, (group, 0): people - events}
        return CountTable.from_counts(counts, names=(name, "decision"), y_pred="decision", sensitive_features=name)

    return make


@pytest.fixture(scope="session")
def confused():
    """Make a table from ``{group: (TN, FP, FN, TP)}``, or from ``{(stratum, group): ...}`` with ``strata=True``."""

    def make(groups, *, strata=False):
        counts = {}
        for key, matrix in groups.items():
            keys = key if strata else (key,)
            for cell, number in zip([(0, 0), (0, 1), (1, 0), (1, 1)], matrix, strict=True):
                counts[(*keys, *cell)] = number
        return CountTable.from_counts(
            counts,
            names=(*(["stratum"] if strata else []), "group", "true", "predicted"),
            y_true="true",
            y_pred="predicted",
            sensitive_features="group",
            control_features="stratum" if strata else None,
        )

    return make
