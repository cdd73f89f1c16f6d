"""How fast, how big, how steady: what `espalier bench` measures, beside the peers, in one run.

Reading order: `streams` (what is learned), `measure` (how time is taken), `peers` (River and MOA), `core`,
`growth` and `passthrough` (the three benches), `report` (what they print and write).
"""
