"""The promises checked from the topics alone: what is in them, what is not, and what contradicts what.

Nothing is shared with the worker but the form of the records, and the learner where it is to learn again.
Reading order:

1. `findings.py`: what can be wrong, and how it is told.
2. `change_chain.py`: the tree changes of a model are one chain, `seq` and digests.
3. `journal_chain.py`: the journal of a model is one chain too, and says which offsets each transaction took.
4. `partition_offsets.py`: one input partition; what became of each of its offsets.
5. `auditor.py`: all of them together, in the order in which the topics are read.
6. `replay_check.py`: the tree recomputed, from the journal and from the changes.
7. `topic_scan.py`: the topics read in that order; the only part that reads from a broker, by the engines.
"""

from stream.audit.auditor import Auditor, Report
from stream.audit.findings import Finding, Kind
from stream.audit.replay_check import ChangeProof, JournalProof
from stream.audit.topic_scan import AuditProgress, Inspection

__all__ = [
    "AuditProgress",
    "Auditor",
    "ChangeProof",
    "Finding",
    "Inspection",
    "JournalProof",
    "Kind",
    "Report",
]
