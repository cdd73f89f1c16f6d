"""Weka's J48 and naive Bayes on our folds: a check of our C4.5 and naive Bayes by somebody else's.

Weka is not needed. Where it cannot be had, the report says how to get it.
"""

import shutil
import tempfile
from pathlib import Path
from typing import IO

import numpy as np

from lab.experiments.nt_trial import C45, NB, Result, Trial
from lab.maven import NoJarsError, can_build, jars_of
from learners.rebuilt.table import Sparse, Table
from stream.broker.process import follow

TRIAL_SECONDS = 1_800.0
GET_WEKA = (
    "Weka was not asked: it needs Maven, a JDK (17 or newer) and the directory deploy/weka of a checkout"
)
_PLACE = Path(__file__).resolve().parents[2] / "deploy" / "weka"
_PROGRAM = "WekaFolds.java"
_NAMES = {"J48": C45, "NaiveBayes": NB}


class WekaError(Exception):
    """Weka cannot be had, or has not finished."""


def weka_jars(cache: Path) -> Path:
    """Return the directory of Weka's jars; Maven fills it the first time.

    Raises:
        WekaError: There is no way to get them here.
    """
    if not can_build(_PLACE / _PROGRAM):
        raise WekaError(GET_WEKA)
    try:
        return jars_of(_PLACE / "pom.xml", cache / "weka", lambda: None)
    except NoJarsError as error:
        raise WekaError(f"Weka was not asked: {error}") from error


def ask_weka(trial: Trial, table: Table, jars: Path) -> Result:
    """Return what Weka's learners come to in a trial, under the names of ours.

    Raises:
        WekaError: It has not finished.
    """
    accuracy: dict[str, list[float]] = {C45: [], NB: []}
    seconds: dict[str, list[float]] = {C45: [], NB: []}
    said: list[str] = []

    def each(line: str) -> None:
        words = line.split()
        if len(words) == 4 and words[0] in _NAMES:
            accuracy[_NAMES[words[0]]].append(float(words[2]))
            seconds[_NAMES[words[0]]].append(float(words[3]))
        else:
            said.append(line)

    with tempfile.TemporaryDirectory(prefix="espalier-weka-") as directory:
        data, folds = Path(directory) / "data.arff", Path(directory) / "folds"
        with data.open("w", encoding="ascii") as file:
            write_arff(table, file)
        folds.write_text("".join(f"{fold}\n" for fold in trial.fold_of(table).tolist()), encoding="ascii")
        java = shutil.which("java")
        assert java is not None
        command = [java, "-Xmx3g", "-cp", f"{jars}/*", str(_PLACE / _PROGRAM), str(data), str(folds)]
        ending = follow(
            [*command, str(trial.measured)], each, directory=Path(directory), seconds=TRIAL_SECONDS
        )
    if ending.status != 0 or any(len(found) != trial.measured for found in accuracy.values()):
        raise WekaError(f"Weka did not finish {trial.file}: {said[0] if said else 'it said nothing'}")
    return Result(trial, len(table), table.width, accuracy, seconds, {})


def write_arff(table: Table, file: IO[str]) -> None:
    """Write a table in Weka's format; values and classes are numbered."""
    file.write("@relation table\n")
    for attribute, values in enumerate(table.arity.tolist()):
        kind = f"{{{','.join(f'v{v}' for v in range(values))}}}" if values else "numeric"
        file.write(f"@attribute a{attribute} {kind}\n")
    file.write(f"@attribute class {{{','.join(f'c{c}' for c in range(table.classes))}}}\n@data\n")
    if isinstance(table.x, Sparse):
        for row, label in enumerate(table.labels.tolist()):
            start, end = int(table.x.start[row]), int(table.x.start[row + 1])
            cells = zip(table.x.columns[start:end].tolist(), table.x.values[start:end].tolist(), strict=True)
            stored = "".join(f"{column} {value:g}," for column, value in cells)
            file.write(f"{{{stored}{table.width} c{label}}}\n")
        return
    nominal = table.arity > 0
    for values_of, label in zip(table.x, table.labels.tolist(), strict=True):
        cells_of = [
            "?" if missing else f"v{int(value)}" if named else repr(value)
            for value, named, missing in zip(
                values_of.tolist(), nominal.tolist(), np.isnan(values_of).tolist(), strict=True
            )
        ]
        file.write(",".join([*cells_of, f"c{label}"]) + "\n")
