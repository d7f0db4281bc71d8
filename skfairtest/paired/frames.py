"""The frames of two models: each metric and each comparison under both."""

from __future__ import annotations

import numpy as np
import pandas as pd

from skfairtest.comparisons.core import Measured
from skfairtest.comparisons.frames import frame_of


def by_model_frame(measured: Measured) -> pd.DataFrame:
    """Each metric under models A and B in each stratum and group that has samples, as a flat frame."""
    sample = measured.sample
    assert sample is not None
    strata = sample.stratum_labels if sample.control_names else [None] * len(sample.strata)
    rows = [
        (name, strata[s], sample.group_labels[g], int(sample.sizes[s, g]), *one.models.values[:, s, g].tolist())
        for name, one in measured.by_metric.items()
        if one.models is not None
        for s, g in np.argwhere(sample.sizes > 0).tolist()
    ]
    names = ("metric", "stratum", "group", "n", "value_a", "value_b")
    return frame_of({name: [row[place] for row in rows] for place, name in enumerate(names)})


def disparities_frame(measured: Measured) -> pd.DataFrame:
    """Each comparison's disparity under models A and B, and their difference, in the order of the comparisons."""
    rows = [
        (one.estimate, *pair)
        for of_metric in measured.by_metric.values()
        if of_metric.models is not None and len(of_metric.models.disparities)
        for one, pair in zip(of_metric.comparisons, of_metric.models.disparities.tolist(), strict=True)
    ]
    labels = {name: [getattr(row[0], name) for row in rows] for name in ("metric", "group", "other", "stratum")}
    a, b = ([row[place] for row in rows] for place in (1, 2))
    columns = {**labels, "disparity_a": a, "disparity_b": b}
    return frame_of({**columns, "difference": [of_b - of_a for of_a, of_b in zip(a, b, strict=True)]})
