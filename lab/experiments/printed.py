"""The figures as the paper prints them (Utgoff 1989, Tables 7, 8 and 9)."""

from collections.abc import Mapping
from typing import NamedTuple


class Printed(NamedTuple):
    """A row of Table 7 or 8, without the CPU seconds: those are of a SUN 4/110 and its Common Lisp."""

    insts: float
    trained: float
    icas: float
    e_scores: float
    nodes: float
    accuracy: float


COLUMNS: Mapping[str, tuple[str, int]] = {
    "insts": ("Insts.", 0),
    "trained": ("Trained", 0),
    "icas": ("ICAs", 0),
    "e_scores": ("E-scores", 0),
    "nodes": ("Nodes", 1),
    "accuracy": ("Acc.", 1),
}
"""The columns' names in the paper and the decimals they are printed with."""

TABLE_7: Mapping[str, Printed] = {
    "ID3'": Printed(126, 126, 156_210, 6_052, 38.9, 100.0),
    "ID5R": Printed(126, 126, 4_319, 3_556, 38.9, 100.0),
    "ID5": Printed(148, 148, 4_633, 2_887, 43.3, 100.0),
    "ID4": Printed(3_770, 3_770, 67_125, 56_348, 39.6, 100.0),
    "ID3' hat": Printed(253, 33, 9_095, 1_143, 33.0, 100.0),
    "ID5R hat": Printed(253, 33, 1_377, 1_405, 33.0, 100.0),
    "ID5 hat": Printed(281, 37, 1_502, 660, 38.0, 100.0),
    "ID4 hat": Printed(30_000, 14_849, 196_183, 130_515, 5.6, 50.0),
    "ID3": Printed(64, 64, 1_176, 66, 51.0, 100.0),
}

TABLE_8: Mapping[str, Printed] = {
    "ID3'": Printed(195, 195, 737_932, 5_357, 10.0, 99.6),
    "ID5R": Printed(195, 195, 14_476, 10_097, 10.0, 99.6),
    "ID5": Printed(195, 195, 13_642, 9_538, 10.0, 99.6),
    "ID4": Printed(236, 236, 7_940, 4_451, 10.0, 99.6),
    "ID3' hat": Printed(226, 12, 1_827, 328, 10.0, 99.6),
    "ID5R hat": Printed(226, 12, 2_396, 2_686, 10.0, 99.6),
    "ID5 hat": Printed(236, 12, 1_544, 450, 10.0, 99.6),
    "ID4 hat": Printed(27_058, 1_920, 63_219, 34_692, 5.3, 93.3),
    "ID3": Printed(250, 250, 7_045, 46, 10.0, 99.6),
}

TABLE_9: Mapping[str, Mapping[str, float]] = {
    "gain ratio": {"insts": 3_340, "trained": 132.6, "icas": 308_597, "e_scores": 551_237, "nodes": 125.0},
    "E-score": {"insts": 4_070, "trained": 183.0, "icas": 761_534, "e_scores": 1_458_722, "nodes": 170.6},
}
"""By the way of selecting; the means are of five runs."""
