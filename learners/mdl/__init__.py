"""The incremental MDL tree of Bhatia and Schuch (2008): the tree that describes the data in the fewest bits.

* `bits.py`: the paper's code lengths in its own words, and the table that the tree's whole numbers come from;
* `tree.py`: the tree: update, restructure, prune, extend, in the paper's order; compiled, see `tree.pxd`;
* `forms.py`: the tree as plain lists, and as data for people;
* `learner.py`: the tree as a learner: names, numbers, settings, snapshots.
"""
