"""Values of the golden files that follow from a formula: `python -m tests.golden.make` writes them again.

Nothing of the project's own code is used: the formulas are those of the articles. README.md says which values
these are, and where the others come from.
"""

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*.json"))

Row = tuple[str, dict[str, str]]
"""A class, and the values by attribute."""


def golden(name: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))
    return told


# ---- the weather


def weather() -> list[Row]:
    told = golden("weather")
    return [
        (label, dict(zip(told["attributes"], values, strict=True)))
        for label, *values in (day.split() for day in told["days"])
    ]


def entropy(counts: Iterable[int]) -> float:
    kept = [count for count in counts if count]
    return -sum(count / sum(kept) * math.log2(count / sum(kept)) for count in kept)


def counts_of(rows: Sequence[Row]) -> tuple[int, int]:
    return sum(label == "N" for label, _ in rows), sum(label == "P" for label, _ in rows)


def parts_of(rows: Sequence[Row], name: str) -> list[list[Row]]:
    """Return the rows by the values of an attribute, in the order of their names."""
    every = sorted({values[name] for _, values in rows})
    return [[row for row in rows if row[1][name] == value] for value in every]


def merits() -> dict[str, list[float]]:
    """Quinlan 1986: expected information, gain and the information of the split itself, to five places."""
    rows = weather()
    told: dict[str, list[float]] = {"E": [], "gain": [], "IV": []}
    for name in golden("weather")["attributes"]:
        parts = parts_of(rows, name)
        expected = sum(len(part) / len(rows) * entropy(counts_of(part)) for part in parts)
        told["E"].append(round(expected, 5))
        told["gain"].append(round(entropy(counts_of(rows)) - expected, 5))
        told["IV"].append(round(entropy(map(len, parts)), 5))
    return told


# ---- description lengths


def length(n: int, k: int, b: float) -> float:
    """Quinlan and Rivest 1989: the bits of a string of n bits of which k are ones, and at most b may be."""
    return math.log2(b + 1) + math.log2(math.comb(n, k))


def data_bits(counts: Sequence[int]) -> float:
    return length(sum(counts), min(counts), sum(counts))


def class_bits(leaves: Sequence[Sequence[int]]) -> int:
    """One bit for each leaf's class; none for the last where all before it have the same one."""
    answers = [counts[0] >= counts[1] for counts in leaves]
    return len(answers) - (len(answers) > 1 and len(set(answers[:-1])) == 1)


def leaf_bits(counts: Sequence[int]) -> float:
    return length(1, 0, 1) + class_bits([counts]) + data_bits(counts)


def split_bits(rows: Sequence[Row], name: str, attributes: int) -> float:
    """The bits of a tree of one test: its shape, the attribute, the classes of the leaves, the data."""
    leaves = [counts_of(part) for part in parts_of(rows, name)]
    nodes = len(leaves) + 1
    shape = length(nodes, 1, (nodes + 1) / 2)
    return shape + math.log2(attributes) + class_bits(leaves) + sum(map(data_bits, leaves))


def description_lengths() -> dict[str, Any]:
    """Bhatia and Schuch 2008, section 3: the bits of a leaf and of a single test."""
    rows, names = weather(), golden("weather")["attributes"]
    told: dict[str, Any] = {
        "L": {
            arguments: length(*map(int, arguments.strip("()").split(","))) for arguments in golden("mdl")["L"]
        },
        "leaves": [leaf_bits(counts_of(rows[:count])) for count in range(1, 6)],
        "xor4_data_bits": {
            "leaf": data_bits([2, 2]),
            "one_split": 2 * data_bits([1, 1]),
            "two_splits": 4 * data_bits([1, 0]),
        },
    }
    for count in (3, 4, 5):
        wanted = golden("mdl")[f"splits_{count}"]
        told[f"splits_{count}"] = {name: split_bits(rows[:count], name, len(names)) for name in wanted}
    left, right = (
        golden("mdl")["smallest_faulty_split"]["left"],
        golden("mdl")["smallest_faulty_split"]["right"],
    )
    whole = [a + b for a, b in zip(left, right, strict=True)]
    told["smallest_faulty_split"] = {
        "n": sum(whole),
        "left": left,
        "right": right,
        "gain_bits": data_bits(whole) - data_bits(left) - data_bits(right),
    }
    # ID3's tree: outlook, and below it windy and humidity; two attributes fewer to choose from by then.
    below = [[4, 0], [3, 0], [0, 2], [0, 3], [2, 0]]
    classes = 1 + class_bits([[3, 0], [0, 2]]) + class_bits([[0, 3], [2, 0]])
    told["id3"] = length(8, 3, 4.5) + math.log2(4) + 2 * math.log2(3) + classes + sum(map(data_bits, below))
    return told


# ---- errors to be expected


def added_errors(records: float, errors: float, confidence: float, z: float) -> float:
    """Quinlan's upper limit of a binomial share, as C4.5 (stats.c) and Weka (Stats.addErrs) have it."""
    if errors < 1:
        base: float = records * (1 - confidence ** (1 / records))
        if errors == 0:
            return base
        return base + errors * (added_errors(records, 1, confidence, z) - base)
    if errors + 0.5 >= records:
        return max(records - errors, 0)
    share = (errors + 0.5) / records
    root = math.sqrt(share / records - share**2 / records + z**2 / (4 * records**2))
    return (share + z**2 / (2 * records) + z * root) / (1 + z**2 / records) * records - errors


def expected_errors() -> list[dict[str, float]]:
    """For 25 %: Weka takes the quantile itself, C4.5 the straight line between two entries of its table."""
    exact, table = NormalDist().inv_cdf(0.75), 0.6925
    return [
        {
            **one,
            "c45": one["errors"] + added_errors(one["records"], one["errors"], 0.25, table),
            "weka": one["errors"] + added_errors(one["records"], one["errors"], 0.25, exact),
        }
        for one in golden("naive_tree")["expected_errors"]
    ]


# ---- random numbers


def splitmix64(seed: int, count: int) -> list[str]:
    """Steele, Lea and Flood 2014."""
    most = 2**64 - 1
    told = []
    for place in range(1, count + 1):
        z = (seed + place * 0x9E3779B97F4A7C15) & most
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & most
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & most
        told.append(str(z ^ (z >> 31)))
    return told


def remade() -> dict[str, dict[str, Any]]:
    """Return what formulas give, by the name of the file and the name of the value."""
    return {
        "weather": merits(),
        "mdl": description_lengths(),
        "naive_tree": {"expected_errors": expected_errors()},
        "iidt": {"splitmix64_seed1": splitmix64(1, 5)},
    }


def alike(one: Any, other: Any) -> bool:
    """Whether two values are the same; numbers to nine places, for logarithms of two machines may differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return bool(one == other)


def main() -> None:
    for name, values in remade().items():
        told = golden(name)
        changed = {key: value for key, value in values.items() if not alike(value, told.get(key))}
        print(f"{name}.json: {', '.join(changed) or 'as it was'}")
        if changed:
            text = json.dumps(told | changed, ensure_ascii=False, indent=1)
            (HERE / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
