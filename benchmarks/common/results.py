"""What every file of results says of where its figures come from."""

import json
import platform
from importlib.metadata import version

import numpy as np
import scipy

import skfairtest


def versions(libraries=()):
    """Return the versions of what the figures were computed with, and of further libraries."""
    return {
        "skfairtest": skfairtest.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "python": platform.python_version(),
        **{library: version(library) for library in libraries},
    }


def write(path, what, seed, libraries=(), **figures):
    """Write figures with what they are, their seed and the versions."""
    path.parent.mkdir(exist_ok=True)
    document = {"what": what, "seed": seed, "versions": versions(libraries), **figures}
    rows = [f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in document.items()]
    path.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    print(f"Written to {path.name}.")
