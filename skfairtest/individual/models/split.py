"""A pipeline in two parts: encoders that are affine in numbers and shares of categories, and the model behind them.

The model can then be called on shares, without building a table of text for every call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from skfairtest._utils.typing import Floats
from skfairtest.individual.models.affine import affine_steps, some_rows
from skfairtest.individual.models.classes import path_of_probabilities
from skfairtest.individual.models.features import Features
from skfairtest.readers.predictions import ask, transformers_of

#: Rounding may put somebody on the other side of a threshold.
_MOSTLY = 0.99


@dataclass(frozen=True, eq=False)
class Split:
    """The two parts.

    Parameters
    ----------
    matrix, offset : ndarray of shapes (d, m) and (m,)
        The encoders.
    model : object
        The model behind them.
    names : list of str or None
        What its columns are called, where it is given a frame.
    sparse : bool
        Whether it is given a sparse matrix.
    """

    matrix: Floats
    offset: Floats
    model: Any
    names: list[str] | None
    sparse: bool

    def ask(self, response: str, x: Floats) -> NDArray[Any]:
        """Call the model on rows of numbers and shares."""
        encoded: Any = x @ self.matrix + self.offset
        if self.names is not None:
            encoded = pd.DataFrame(encoded, columns=self.names)
        return ask(self.model, response, csr_matrix(encoded) if self.sparse else encoded)


def split(estimator: Any, response: str, features: Features) -> Split | None:
    """Split a model whose outputs are those of the last step of its pipeline.

    Parameters
    ----------
    estimator : object
        The fitted model.
    response : str
        The name of the method that is called.
    features : Features
        The people.

    Returns
    -------
    Split or None
        None if the steps before the last are not known to be affine, or the parts do not reproduce the model's outputs.
    """
    path = path_of_probabilities(estimator)
    steps = transformers_of(path)
    if not steps or not callable(getattr(path[-1], response, None)) or (found := affine_steps(steps, features)) is None:
        return None
    rows = some_rows(features)
    shown = features.as_input(rows)
    for step in steps:
        shown = step.transform(shown)
    names = list(shown.columns) if isinstance(shown, pd.DataFrame) else None
    whole = np.asarray(ask(estimator, response, features.as_input(rows)), dtype=float)
    for sparse in (False, True)[: 1 + issparse(shown)]:  # most models take either, and shares are not sparse
        parts = Split(*found, path[-1], names, sparse)
        try:
            said = parts.ask(response, rows)
        except (TypeError, ValueError):
            continue
        if np.isclose(said, whole, rtol=1e-6, atol=1e-9).mean() > _MOSTLY:
            return parts
    return None
