"""Conditions on (y_true, y_pred) written as text: ``"y_true & ~y_pred"``.

Text, unlike a lambda, can be printed, compared, pickled and shown to anyone who asks what a rate means.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.typing import Booleans

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {ast.Eq: operator.eq, ast.NotEq: operator.ne}


@cache
def _parse(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # lone surrogates, NUL, depth
        raise ValueError(f"{text!r} cannot be read as a condition on y_true and y_pred") from None


@cache
def names_in(text: str) -> frozenset[str]:
    """Names that an expression reads."""
    return frozenset(node.id for node in ast.walk(_parse(text)) if isinstance(node, ast.Name))


def check_expression(text: str) -> None:
    """Raise the ValueError of `evaluate` for text that is not an expression of names and ``& | ^ ~ == !=``."""
    evaluate(text, {name: np.ones(1, dtype=bool) for name in names_in(text)})


@cache
def truths_in(text: str) -> frozenset[str]:
    """Names that an expression reads as true or false, and not only compares with each other.

    Examples
    --------
    >>> sorted(truths_in("y_true & ~y_pred")), sorted(truths_in("y_true == y_pred"))
    (['y_pred', 'y_true'], [])
    """

    def visit(node: ast.AST) -> frozenset[str]:
        if _compares_names(node):
            return frozenset()
        if isinstance(node, ast.Name):
            return frozenset({node.id})
        return frozenset().union(*map(visit, ast.iter_child_nodes(node)))

    return visit(_parse(text))


def _compares_names(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and all(isinstance(side, ast.Name) for side in (node.left, *node.comparators))


def evaluate(text: str, arrays: Mapping[str, Booleans], labels: Mapping[str, NDArray[Any]] | None = None) -> Booleans:
    """Evaluate an expression of ``y_true`` and ``y_pred`` with ``& | ^ ~ == !=`` on boolean arrays.

    `labels` are what ``==`` and ``!=`` compare where a name stands on both sides: "predicted correctly" is a question
    of labels, also where there are more than two of them.

    Raises
    ------
    ValueError
        If the text holds anything else.
    """

    def visit(node: ast.expr) -> Any:
        match node:
            case ast.Name(id=name) if name in arrays:
                return arrays[name]
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return ~visit(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return _BINARY[type(op)](visit(left), visit(right))
            case ast.Compare(left=ast.Name(id=a), ops=[op], comparators=[ast.Name(id=b)]) if (
                type(op) in _COMPARE and labels is not None and a in labels and b in labels
            ):
                return _COMPARE[type(op)](labels[a], labels[b])
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
                return _COMPARE[type(op)](visit(left), visit(right))
            case _:
                raise ValueError(
                    f"{text!r} is not a condition on y_true and y_pred: write one with & | ^ ~ == !=, "
                    "for instance 'y_true & ~y_pred'"
                )

    return np.asarray(visit(_parse(text)), dtype=bool)
