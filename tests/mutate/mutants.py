"""Mutants: one small change of one Python file each, drawn by chance.

A comparison is swapped, a number changed, a condition inverted, a statement dropped, a result forgotten. The
same seed gives the same mutants as long as the files are the same. C and Cython files are not mutated.
"""

import ast
import copy
import difflib
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.paths import REPOSITORY

PACKAGES = ("learners", "stream")
_COMPILED = tuple(f"learners/mdl/{name}.py" for name in ("growing", "judging", "records", "tree"))
LEFT_OUT = (
    "stream/demo",
    *_COMPILED,
)
"""What measures and shows: whether it is right is not what tests of the product say. And what setup.py
compiles: a mutant would need a build."""


Placed = ast.expr | ast.stmt
"""A node that stands at lines of a file."""


class Mutant(NamedTuple):
    """A change of one file.

    Attributes:
        path: The file, from the project's root.
        line: The first line of what was changed.
        last: Its last line.
        what: What was done.
        text: The whole file afterwards.
    """

    path: str
    line: int
    last: int
    what: str
    text: str

    def difference(self, before: str) -> str:
        lines = difflib.unified_diff(
            before.splitlines(), self.text.splitlines(), self.path, self.what, lineterm="", n=2
        )
        return "\n".join(lines)


def package_of(path: str) -> str:
    """Return the package of a file, as verdicts are counted: two folders, or the one it is in."""
    return "/".join(path.split("/")[:-1][:2])


_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


def kind_of(node: ast.AST) -> str | None:
    """Return what can be done to a node, in a word; None: nothing."""
    match node:
        case ast.Compare() if type(node.ops[0]) in _COMPARISONS:
            return "comparison swapped"
        case ast.BoolOp():
            return "and for or"
        case ast.UnaryOp(op=ast.Not()):
            return "negation dropped"
        case ast.BinOp() if type(node.op) in _OPERATORS and not _is_text(node):
            return "operator swapped"
        case ast.Constant(value=bool()):
            return "truth value inverted"
        case ast.Constant(value=int() | float()):
            return "number changed"
        case ast.IfExp():
            return "condition inverted"
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            return "result forgotten"
        case _:
            return "statement dropped" if _is_effect(node) else None


def changed(node: ast.AST) -> ast.AST:
    """Return what stands in the place of a node to which something can be done."""
    new = copy.deepcopy(node)
    match new:
        case ast.Compare():
            new.ops[0] = _COMPARISONS[type(new.ops[0])]()
        case ast.BoolOp():
            new.op = ast.Or() if isinstance(new.op, ast.And) else ast.And()
        case ast.UnaryOp():
            return new.operand
        case ast.BinOp():
            new.op = _OPERATORS[type(new.op)]()
        case ast.Constant(value=bool()):
            return ast.Constant(not new.value)
        case ast.Constant(value=(int() | float()) as value):
            return ast.Constant(value + 1)
        case ast.IfExp():
            return ast.IfExp(new.test, new.orelse, new.body)
        case ast.Return():
            return ast.Return(ast.Constant(None))
        case _:
            return ast.Pass()
    return new


def _is_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(one, ast.JoinedStr)
        or (isinstance(one, ast.Constant) and isinstance(one.value, str | bytes))
        for one in (node.left, node.right)
    )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_effect(node: ast.AST) -> bool:
    """Whether a statement can be left out and the file is still one that can be imported and run."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets)
    return isinstance(node, ast.AugAssign | ast.Raise | ast.Delete | ast.Continue | ast.Break)


def _inside_functions(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes of all functions' bodies: no annotations, defaults or messages of errors."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        stack: list[ast.AST] = [*function.body]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue  # they are met on their own
            if isinstance(node, ast.AnnAssign):
                stack += [node.value] if node.value is not None else []
                continue
            yield node
            if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr):
                continue
            stack += ast.iter_child_nodes(node)


def places_in(path: str, text: str) -> list[tuple[str, Placed]]:
    """Return all that can be done to a file: a word for it, and the node."""
    nodes = _inside_functions(ast.parse(text, path))
    placed = (node for node in nodes if isinstance(node, Placed))
    return [(kind, node) for node in placed if (kind := kind_of(node)) is not None]


def applied(text: str, node: Placed) -> str:
    """Return a file with one node changed; everything else stays as it was written."""
    lines = text.encode().splitlines(keepends=True)
    first, last = node.lineno - 1, _last_line(node) - 1
    before = lines[first][: node.col_offset]
    after = lines[last][node.end_col_offset :]
    written = ast.unparse(ast.fix_missing_locations(changed(node)))
    if isinstance(node, ast.expr):
        written = f"({written})"
    replaced = before + written.encode() + after
    return b"".join([*lines[:first], replaced, *lines[last + 1 :]]).decode()


def _last_line(node: Placed) -> int:
    assert node.end_lineno is not None, "a node that was parsed ends somewhere"
    return node.end_lineno


def files(root: Path = REPOSITORY) -> list[str]:
    """Return the files of which mutants are made."""
    found = (
        path.relative_to(root).as_posix() for package in PACKAGES for path in (root / package).rglob("*.py")
    )
    return sorted(path for path in found if not path.startswith(LEFT_OUT))


def draw(count: int, seed: int, root: Path = REPOSITORY, only: Sequence[str] = ()) -> list[Mutant]:
    """Return random mutants: a file by how many lines it has, then anything that can be done to it."""
    rng = random.Random(seed)
    texts = {
        path: (root / path).read_text() for path in files(root) if not only or path.startswith(tuple(only))
    }
    able = {path: places_in(path, text) for path, text in texts.items()}
    paths = [path for path, found in able.items() if found]
    weights = [texts[path].count("\n") for path in paths]
    drawn: dict[tuple[str, str], Mutant] = {}
    most = sum(len(able[path]) for path in paths)
    while len(drawn) < min(count, most):
        path = rng.choices(paths, weights)[0]
        what, node = rng.choice(able[path])
        text = applied(texts[path], node)
        drawn.setdefault((path, text), Mutant(path, node.lineno, _last_line(node), what, text))
    return list(drawn.values())


def statement_around(text: str, line: int) -> tuple[int, int]:
    """Return the first and the last line of the innermost statement at a line; of a block, of its head."""
    found = (line, line)
    for node in ast.walk(ast.parse(text)):  # breadth first: what is further inside comes later
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            body = getattr(node, "body", None) or getattr(node, "cases", None)
            inside = body[0].lineno if body and hasattr(body[0], "lineno") else None
            found = (
                node.lineno,
                (node.end_lineno or line) if inside is None else max(node.lineno, inside - 1),
            )
    return found
