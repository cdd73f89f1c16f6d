"""The tables and figures of the papers, done again: what `espalier reproduce` runs.

An experiment is pure: it is given its data and its seeds, returns pieces of work that can be done in any
process, and makes a report of what they came to. Reading files, spreading the work and showing the report
are the command's.
"""

from lab.experiments.example import Example
from lab.experiments.experiment import Experiment
from lab.experiments.figures import Figures
from lab.experiments.mdl_noise import MDLNoise
from lab.experiments.mdl_nominal import MDLNominal
from lab.experiments.mdl_sets import MDLSpect, MDLTicTacToe
from lab.experiments.mdl_worked import MDLWorked
from lab.experiments.parity import Parity
from lab.experiments.table3 import Table3
from lab.experiments.table6 import Table6
from lab.experiments.table7 import Table7
from lab.experiments.table8 import Table8
from lab.experiments.table9 import Table9

_ALL: tuple[Experiment, ...] = (
    Parity(),
    Table3(),
    Example(),
    Table6(),
    Table7(),
    Table8(),
    Table9(),
    Figures(),
    MDLWorked(),
    MDLSpect(),
    MDLTicTacToe(),
    MDLNominal(),
    MDLNoise(),
)

EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in _ALL}
"""Every experiment by its name on the command line, in the order of the papers."""
