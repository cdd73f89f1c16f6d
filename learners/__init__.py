"""Decision-tree learners that know nothing of streams, clocks or files.

Read in this order: `schema` and `codes` (what an instance is), `outline` and `change` (the tree as data),
`learner` (the promises), `merit` (which test is better), `utgoff` (the systems of 1989), `checks` (the laws).
"""

from learners.learner import Learner
from learners.utgoff.id3prime import ID3, ID3Prime
from learners.utgoff.id5 import ID5
from learners.utgoff.id5r import ID5R

LEARNERS: dict[str, type[Learner]] = {learner.name: learner for learner in (ID3, ID3Prime, ID5, ID5R)}
"""Every learner by the name it has in a configuration."""
