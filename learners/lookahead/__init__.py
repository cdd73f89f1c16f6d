"""LSID3's lookahead, which `learners.iidt` and `learners.rebuilt.lsid3` share.

* `space.c`, `sample.c`, `job.c`: SID3 and LSID3 in whole numbers, as work that stops after any unit;
* `_lookahead.pyx`: that work as an object; `_errors.pyx`: C4.5's estimate of a leaf's errors.
"""
