"""How the state of a model is kept and restored: snapshots, and the journal behind them."""
