"""Anytime trees (Esmeir and Markovitch 2006): IIDT and I-IIDT turn spare time into better trees.

* `_tree.pyx`: the tree in use and its records; `_choosing.pyx`: which node to improve next, what is better,
  and pruning. The work of one attempt is LSID3's, in `learners.lookahead`;
* `growing.py`: IIDT-TS, IIDT-EE and their incremental forms;
* `forms.py`: the tree as plain lists, and as data for people;
* `options.py`, `state.py`, `learner.py`: the tree as a learner.
"""
