"""Figures are closed after each test, and nothing is shown."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")
