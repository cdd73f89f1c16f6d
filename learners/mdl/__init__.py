"""The incremental MDL tree of Bhatia and Schuch (2008): the tree that describes the data in the fewest bits.

* `bits.py`: the paper's code lengths in its own words, and the table that the tree's whole numbers come from;
* `records.py`, `judging.py`, `growing.py`, `tree.py`: the tree, from counts to the paper's order of
  steps: update, restructure, prune, extend; compiled, with types in the `.pxd` files;
* `scales.py`: numbers and their cuts; `classes.py`: two classes and no more, for the paper's code;
* `forms.py`: the tree as plain lists, and as data for people;
* `options.py`, `state.py`, `learner.py`: the tree as a learner: settings, names, answers, snapshots.
"""
