"""Espalier's stream side: from a record in Kafka to a prediction and a tree change in Kafka.

The path of one record:

1. the engine polls a batch of records;
2. the decoder turns bytes into values, or into a dead letter with a reason;
3. the engine hands each record to the processor of its model;
4. the learner answers, then learns: test, then train;
5. prediction, tree changes, journal entry and dead letters become outputs;
6. metrics observe the same events;
7. the engine produces all of them and the offsets to read next in one transaction;
8. and commits it.

On assignment a model is restored from its newest snapshot and the journal after it. On revocation it is
dropped: whatever was not committed has left no trace. `kafka/session.py` reads as this list.
"""
