# cython: language_level=3, cdivision=True
"""C4.5's estimate of the errors of a leaf on records it has not seen (Quinlan 1993, section 4.2)."""

from libc.math cimport pow, sqrt


cpdef double expected_errors(double n, double wrong, double confidence, double z):
    """Return the errors to be expected of a leaf with so many records, so many of them wrong (C4.5)."""
    cdef double share, none
    if n <= 0:
        return 0
    if wrong < 1:
        none = n * (1 - pow(confidence, 1 / n))
        return none if wrong <= 0 else none + wrong * (expected_errors(n, 1, confidence, z) - none)
    if wrong + 0.5 >= n:
        return n
    share = (wrong + 0.5) / n
    share = (share + z * z / (2 * n) + z * sqrt(share / n - share * share / n + z * z / (4 * n * n))) / (
        1 + z * z / n
    )
    return share * n
