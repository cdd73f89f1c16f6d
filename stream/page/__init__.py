"""The live page, the health checks and the metrics, on one port; nothing here changes what is learned.

1. `live_state.py`: an observer like the metrics. The agent's thread hands over, after each batch, what is
   there already: no lock, no copy, and queues that forget the oldest.
2. `feed.py`: a thread that makes of it, at most ten times a second, what a page shows, and keeps
   older versions of the tree (`versions.py`) and the curves (`downsampling.py`).
3. `server.py`: a thread for each reader; who may read is in `access_policy.py`, what for in `routes.py`, and
   what is behind which port in `http_app.py`.
4. `static/`: the page itself. It needs nothing from anywhere else.

A reader who is slow gets fewer updates, one who is stuck is dropped, and none of them is ever waited for.
"""
