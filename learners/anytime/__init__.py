"""Anytime trees (Esmeir and Markovitch 2006): LSID3, IIDT and I-IIDT turn spare time into better trees.

* `space.c`, `sample.c`, `job.c`: SID3 and LSID3 in whole numbers, as work that stops after any unit;
* `_anytime.pyx`: that work as an object; `_tree.pyx`: the tree in use and its records; `_choosing.pyx`: which
  node to improve next, what is better, and pruning;
* `growing.py`: IIDT-TS, IIDT-EE and their incremental forms;
* `forms.py`: the tree as plain lists, and as data for people;
* `options.py`, `state.py`, `learner.py`: the tree as a learner; `lsid3.py`: LSID3 built anew in the stream.
"""
