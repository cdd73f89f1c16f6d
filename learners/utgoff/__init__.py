"""The systems of Utgoff (1989), in the paper's own words, one file per table.

* `id3.py`: Table 1, and ID3', which builds the tree again after each instance;
* `id4.py`: Table 2;
* `id5r.py`: Table 3, with the correction that makes it equal to ID3, and its mirror image, forgetting;
* `id5.py`: Table 3 without step 3(c)ii;
* `pull_up.py`: Table 4, on the nodes of `node.py`;
* `selection.py`: which attribute is best; `family.py`: what they all have in common;
* `retaining.py`: what those share that keep their instances.

They count the paper's operations by its conventions and are written to be read beside it. For speed there
is `learners.id5r`.
"""
