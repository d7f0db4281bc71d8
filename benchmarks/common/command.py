"""The command line of benchmarks that store figures by name."""

import argparse
import json
import zlib

import numpy as np

from benchmarks.common.results import write


def figures_of(path):
    """Return the stored figures, by name."""
    return json.loads(path.read_text())["figures"] if path.exists() else {}


def generator(seed, name):
    """Return a generator that depends on the name of what is computed alone, with a space before "%"."""
    return np.random.default_rng([seed, zlib.crc32(name.replace("%", " %").encode())])


def command(argv, what, path, seed, cases, problems, **facts):
    """Compute the cases that are asked for, store them beside the others, and say which figures break a promise.

    `cases` returns functions of a generator by name; `quick` runs them with fewer data and stores nothing.
    """
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--quick", action="store_true", help="a few runs, nothing stored")
    parser.add_argument("--only", metavar="PATTERN", default="", help="cases whose name contains this")
    options = parser.parse_args(argv)
    everything, computed = cases(quick=options.quick), {}
    for name, compute in everything.items():
        if options.only in name:
            computed[name] = compute(generator(seed, name))
            print(f"{name}: {computed[name]}", flush=True)
            if not options.quick:
                figures = {**figures_of(path), **computed}
                ordered = {each: figures[each] for each in everything if each in figures}
                write(path, what, seed, **facts, figures=ordered)
    broken = [] if options.quick else list(problems(figures_of(path)))
    print("\n".join(broken) or "Every figure holds.")
    return int(bool(broken))
