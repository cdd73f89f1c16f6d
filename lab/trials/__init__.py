"""Experiments that need files, a clock, or other people's programs: those of Su and Zhang 2006.

What is learned and what is made of it is in `lab.experiments`; here are the data, the time it takes, the
processes it is spread over, what was found already, and the peers: Weka and scikit-learn.
"""
