"""The reasons of dead letters, as the sources name them."""

import ast
import functools

from learners.schema import Misfit
from tests.paths import REPOSITORY

SOURCES = sorted((REPOSITORY / "stream").rglob("*.py"))


def texts_in(node: ast.AST) -> set[str]:
    return {
        inner.value
        for inner in ast.walk(node)
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
    }


def reasons_of(function: ast.FunctionDef) -> set[str]:
    """Return the reasons that a function gives to `RejectedRecord`."""
    reasons: set[str] = set()
    for call in ast.walk(function):
        if not (isinstance(call, ast.Call) and getattr(call.func, "id", "") == "RejectedRecord"):
            continue
        told = call.args[0]
        if isinstance(told, ast.Constant):
            reasons.add(str(told.value))
        elif isinstance(told, ast.Name):
            chosen = [
                node.value
                for node in ast.walk(function)
                if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == told.id
            ]
            assert chosen, f"line {call.lineno}: where does this reason come from?"
            # Of `a if condition else b` the condition is no reason.
            reasons |= {
                text for one in chosen if isinstance(one, ast.IfExp) for text in texts_in(one.body)
            } | {text for one in chosen if isinstance(one, ast.IfExp) for text in texts_in(one.orelse)}
        else:
            assert ast.unparse(told) == "error.misfit.value", f"line {call.lineno}: {ast.unparse(told)}"
            reasons |= {misfit.value for misfit in Misfit}
    return reasons


@functools.cache
def reasons_in_code() -> frozenset[str]:
    functions = [
        node
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
    ]
    return frozenset().union(*map(reasons_of, functions))
