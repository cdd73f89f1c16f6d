"""The demonstration: a broker, a worker, made-up instances, and a view of what comes out.

1. `runtime.py`: what a demonstration needs to run on: a real Kafka, or topics that are lists.
2. `feeder.py`: a thread that puts instances in.
3. `results.py`: what the output topics have told so far. Nothing that is shown comes from anywhere else.
4. `view.py`: the board in a terminal.
"""
