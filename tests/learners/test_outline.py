"""The tree as data: its texts, its size and its digest."""

import json
import re
import subprocess
import sys

import pytest
from hypothesis import given, settings

from learners.outline import (
    AttributeTest,
    Evidence,
    Leaf,
    Outline,
    Size,
    Split,
    digest,
    from_dict,
    post_order,
    render,
    size,
    to_dot,
    to_json,
    walk,
)
from tests.paths import REPOSITORY
from tests.strategies import outlines

DIGESTS = (REPOSITORY / "docs" / "digest.md").read_text()
YES, NO = Leaf("yes", (("yes", 4),)), Leaf("no", (("no", 5),))
TREE = Split(
    AttributeTest("outlook"),
    (("no", 5), ("yes", 9)),
    (
        ("?", Leaf(None, ())),
        ("rain", Split(AttributeTest("age", 41.5), (("no", 5),), (("false", NO), ("true", YES)))),
    ),
    Evidence(0.69354, "humidity", 0.09),
)
DEEP = 5_000


def chain(levels: int, answer: str = "x") -> Outline:
    """Return a tree of as many tests as asked for, one below the other."""
    node: Outline = Leaf(answer, (("x", 1),))
    for level in range(levels):
        node = Split(AttributeTest(f"a{level}"), (("x", 1),), (("v", node),))
    return node


def block(language: str) -> str:
    """Return the text of the only block of a language in docs/digest.md."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", DIGESTS, re.DOTALL)
    return str(found)


def documented_digest(tree: str) -> str:
    """Return what the program in docs/digest.md prints for the JSON of a tree."""
    command = [sys.executable, "-I", "-c", block("python")]
    ran = subprocess.run(command, input=tree.encode(), capture_output=True, check=True, timeout=60)
    return ran.stdout.decode().strip()


# ---- JSON


@given(outlines())
def test_json_reads_back_as_the_same_tree(outline: Outline) -> None:
    assert from_dict(json.loads(to_json(outline))) == outline


def test_json_has_the_documented_form() -> None:
    assert json.loads(to_json(TREE)) == {
        "test": {"attribute": "outlook"},
        "counts": {"no": 5, "yes": 9},
        "branches": {
            "?": {"answer": None, "counts": {}},
            "rain": {
                "test": {"attribute": "age", "at_most": 41.5},
                "counts": {"no": 5},
                "branches": {
                    "false": {"answer": "no", "counts": {"no": 5}},
                    "true": {"answer": "yes", "counts": {"yes": 4}},
                },
            },
        },
    }
    assert to_json(None) == "null"
    assert from_dict(None) is None


@pytest.mark.parametrize(
    "data",
    [
        5,
        [],
        {},
        "x",
        {"counts": {}},
        {"test": {"attribute": "a"}},
        {"test": 5, "branches": {}},
        {"test": {"attribute": "a", "x": 1}, "branches": {}},
        {"test": {"attribute": "a"}, "branches": {"v": 1}},
    ],
)
def test_what_is_no_tree_is_refused(data: object) -> None:
    with pytest.raises(ValueError, match="not a node of an outline"):
        from_dict(data)


# ---- digest


@settings(max_examples=25)
@given(outlines())
def test_the_program_in_the_documentation_computes_the_digest(outline: Outline) -> None:
    assert documented_digest(to_json(outline)) == digest(outline)


def test_the_documented_example_and_the_empty_tree_have_the_documented_digests() -> None:
    example = block("json")
    assert documented_digest(example) == block("text").strip() == digest(from_dict(json.loads(example)))
    assert documented_digest("null") == digest(None)


@given(outlines())
def test_counts_and_evidence_do_not_enter_the_digest(outline: Outline) -> None:
    plain = from_dict(json.loads(re.sub(r'"counts": \{[^{}]*\}', '"counts": {}', to_json(TREE))))
    assert plain != TREE
    assert digest(plain) == digest(TREE)
    again = from_dict(json.loads(to_json(outline)))
    assert digest(again) == digest(outline)


def test_every_answer_test_threshold_and_branch_enters_the_digest() -> None:
    text = to_json(TREE)
    others = [
        text.replace('"answer": "no"', '"answer": "yes"'),
        text.replace('"answer": null', '"answer": "null"'),
        text.replace('"attribute": "outlook"', '"attribute": "sky"'),
        text.replace("41.5", "41.25"),
        text.replace(', "at_most": 41.5', ""),
        text.replace('"rain"', '"snow"'),
        text.replace('"?": {"answer": null, "counts": {}}, ', ""),
    ]
    digests = {digest(from_dict(json.loads(other))) for other in [text, *others]}
    assert len(digests) == len(others) + 1


# ---- for people


def test_the_text_shows_the_tree_as_it_is_read() -> None:
    assert render(TREE) == "outlook\n  ?: (no answer)\n  rain: age <= 41.5\n    false: no\n    true: yes"
    assert render(TREE, counts=True).splitlines()[-1] == "    true: yes  (yes:4)"
    assert render(TREE, most=3) == "outlook\n  ?: (no answer)\n... and 3 more lines"
    assert render(TREE, most=5) == render(TREE)
    assert render(None) == "(no tree yet)"


@given(outlines())
def test_dot_has_a_line_for_each_node_and_each_branch(outline: Outline) -> None:
    lines = to_dot(outline).split("\n")  # splitlines would also split at signs that stand in names
    nodes = [line for line in lines if re.match(r"  n\d+ \[shape=", line)]
    edges = [line for line in lines if re.match(r"  n\d+ -> n\d+ \[label=", line)]
    assert len(nodes) == size(outline).nodes
    assert len(edges) == size(outline).nodes - 1
    assert (lines[0], lines[-1], len(lines)) == ("digraph tree {", "}", len(nodes) + len(edges) + 4)
    for line in [*nodes, *edges]:
        label = re.search(r'label=("(?:[^"\\]|\\.)*")\];$', line)
        assert label is not None


# ---- size and walks


@given(outlines())
def test_size_is_what_a_walk_counts(outline: Outline) -> None:
    nodes = list(walk(outline))
    leaves = [node for _, node in nodes if isinstance(node, Leaf)]
    assert size(outline) == Size(len(nodes), len(leaves), max(len(path) for path, _ in nodes))
    assert sum(1 for _ in post_order(outline)) == len(nodes)
    assert size(None) == Size(0, 0, 0)


@pytest.mark.usefixtures("little_stack")
def test_a_tree_of_five_thousand_levels_is_walked_without_recursion() -> None:
    deep = chain(DEEP)
    assert size(deep) == Size(DEEP + 1, 1, DEEP)
    assert digest(deep) != digest(chain(DEEP, "y"))
    assert len(render(deep).splitlines()) == DEEP + 1
    assert to_dot(deep).count("->") == DEEP
    assert sum(1 for _ in walk(deep)) == sum(1 for _ in post_order(deep)) == DEEP + 1
    data: object = {"answer": "x", "counts": {"x": 1}}
    for level in range(DEEP):
        data = {"test": {"attribute": f"a{level}"}, "counts": {"x": 1}, "branches": {"v": data}}
    assert digest(from_dict(data)) == digest(deep)


@pytest.mark.usefixtures("little_stack")
def test_json_of_a_tree_deeper_than_the_recursion_limit_is_written() -> None:
    assert to_json(chain(1_500)).count('"test"') == 1_500
