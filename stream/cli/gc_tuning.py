"""Python's collector of cycles, in a process that makes thousands of small objects for each batch."""

import gc

YOUNG = 100_000
"""After so many new objects the young ones are looked through. Python's own number is 700, which for us is
several times in each batch, though hardly anything here is part of a cycle."""


def look_less_often() -> None:
    """Have a program that is about to carry records look for cycles less often, and not among what it is.

    What is there now (modules, classes, settings) stays for good, and is left out of every later search.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, 20, 50)
