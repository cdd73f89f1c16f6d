"""Batch learners over plain arrays: the naive tree, C4.5 and naive Bayes.

`table` holds the data, dense or sparse; `trees` grows `naive_tree` and `c45` trees from it; `naive_bayes` is
the third column of the naive tree's tables. Growing and pruning are in C: `batch.h` says what is where.
"""
