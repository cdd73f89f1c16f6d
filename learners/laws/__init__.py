"""The laws of a learner: what each of them obeys, whatever tree it builds.

A law is a function of a way to make learners and of a stream of instances. It returns when it holds and
raises `LawError` when it does not. Whoever writes a learner runs them over it:

>>> from learners.schema import Instance
>>> from learners.utgoff.id5r import ID5R
>>> days = [Instance({"sky": "grey", "warm": False}, "stay"), Instance({"sky": "blue", "warm": True}, "go")]
>>> check_learner(ID5R, [days, days[::-1]], exact=True)

The laws know the promises of `learners.learner` and nothing of how a learner keeps them. A learner that
refuses an instance of the stream is held to the same laws on the rest of it.

* `laws.py`: of every learner; `input_laws.py`: names, limits and bad input, of every learner too;
* `retiring_laws.py`: attributes that are left out, of every learner and of those that are exact;
* `retention_laws.py`: of learners that can forget, and of those that are exact;
* `anytime_laws.py`: of learners that turn spare time into better trees;
* `story.py`: what happens to a learner, in a form that can be compared.
"""

from collections.abc import Iterable, Iterator

from learners.laws.anytime_laws import ANYTIME_LAWS
from learners.laws.input_laws import INPUT_LAWS
from learners.laws.laws import LAWS
from learners.laws.retention_laws import EXACT_LAWS, FORGETFUL_LAWS, UNDOING_LAWS, equals_batch
from learners.laws.retiring_laws import EXACT_RETIRING_LAWS, RETIRING_LAWS
from learners.laws.story import Law, LawError, Make, Stream
from learners.learner import Learner

__all__ = ["Law", "LawError", "Make", "Stream", "check_learner", "equals_batch", "laws_of"]


def laws_of(learner_type: type[Learner], *, exact: bool | None = None) -> Iterator[tuple[str, Law]]:
    """Yield the laws that a learner has to obey, with their names.

    Args:
        learner_type: The learner.
        exact: Whether it promises the tree of a batch learner; if not given, what it says itself.
    """
    exact = learner_type.exact if exact is None else exact
    laws = [*LAWS, *INPUT_LAWS, *RETIRING_LAWS]
    if learner_type.forgets:
        laws += FORGETFUL_LAWS
    if exact:
        laws += [*EXACT_LAWS, *EXACT_RETIRING_LAWS]
    if exact and learner_type.forgets:
        laws += UNDOING_LAWS
    if learner_type.improves:
        laws += ANYTIME_LAWS
    for law in laws:
        yield law.__name__, law


def check_learner(make: Make, streams: Iterable[Stream], *, exact: bool = False) -> None:
    """Hold a learner to all its laws.

    Args:
        make: Returns a new learner, the same one each time.
        streams: What to try it with.
        exact: Whether its tree is to depend on nothing but the instances retained.

    Raises:
        LawError: A law is broken; the message names it and the stream.
    """
    laws = list(laws_of(type(make()), exact=exact))
    for stream in streams:
        for name, law in laws:
            try:
                law(make, stream)
            except LawError as error:
                raise LawError(f"{name}: {error}; the stream is {list(stream)}") from error
