"""One thread, many tasks: who runs next is drawn from a seed, and time is a number.

A task is a greenlet. It gives way when it asks a fake client for something, and waits by naming the time when
it goes on. Nobody sleeps: where all tasks wait, the clock goes to the earliest of their times.
"""

import heapq
import random
from collections.abc import Callable

from greenlet import getcurrent, greenlet

SWITCH_SECONDS = 0.001
"""How much time passes whenever another task may run."""


class Killed(BaseException):
    """The process of this task is gone. The product does not catch it, and no client works any more."""


class Process:
    """What is killed or frozen as a whole: the tasks of one worker and its clients."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_dead = False
        self.frozen_until = 0.0
        self.on_silence: list[Callable[[], None]] = []
        """Called when it is killed or frozen: whoever expects its heartbeats starts to count."""


class Task:
    """Something that runs until it waits."""

    def __init__(self, process: Process, run: Callable[[], None], main: greenlet) -> None:
        self.process = process
        self.is_done = False
        self.wake_at = 0.0
        self.can_be_woken = False
        self._run = run
        self.greenlet = greenlet(self._whole, main)

    def _whole(self) -> None:
        try:
            self._run()
        except Killed:
            pass
        finally:
            self.is_done = True


class Scheduler:
    """Runs tasks one at a time.

    Args:
        rng: Decides who runs next, and when a task gives way.
        give_way: The probability that a task gives way when it asks for something.
    """

    def __init__(self, rng: random.Random, give_way: float = 0.25) -> None:
        self.now = 1.0
        self.turns = 0
        self._rng = rng
        self._give_way = give_way
        self._main = getcurrent()
        self._tasks: list[Task] = []
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._timer_count = 0
        self._current: Task | None = None

    @property
    def process(self) -> Process:
        """The process that runs at the moment."""
        assert self._current is not None, "no task is running"
        return self._current.process

    @property
    def tasks(self) -> list[Task]:
        """The tasks that are not done."""
        return self._tasks

    def start(self, process: Process, run: Callable[[], None]) -> Task:
        """Add a task."""
        task = Task(process, run, self._main)
        task.wake_at = self.now
        self._tasks.append(task)
        return task

    def call_in(self, seconds: float, call: Callable[[], None]) -> None:
        """Call something later, whoever is dead by then."""
        self._timer_count += 1
        heapq.heappush(self._timers, (self.now + seconds, self._timer_count, call))

    # ---- for tasks

    def step(self) -> None:
        """Let another task run, or not."""
        task = self._current
        if task is None:
            return
        if task.process.is_dead:
            raise Killed
        if self._rng.random() < self._give_way:
            self._pause(task, self.now, can_be_woken=False)

    def wait(self, seconds: float, *, can_be_woken: bool = True) -> None:
        """Wait so long, or until something has happened on the cluster."""
        task = self._current
        assert task is not None, "only tasks can wait"
        if task.process.is_dead:
            raise Killed
        self._pause(task, self.now + max(0.0, seconds), can_be_woken=can_be_woken)

    def _pause(self, task: Task, until: float, *, can_be_woken: bool) -> None:
        task.wake_at, task.can_be_woken = until, can_be_woken
        self._main.switch()
        self._current = task
        if task.process.is_dead:
            raise Killed

    def wake(self) -> None:
        """Let everybody look who waits for something to happen."""
        for task in self._tasks:
            if task.can_be_woken and task.wake_at > self.now:
                task.wake_at = self.now

    # ---- for the world

    def turn(self) -> bool:
        """Run one task until it gives way; return whether there was one, or anything else to wait for."""
        self.turns += 1
        self.now += SWITCH_SECONDS
        while self._timers and self._timers[0][0] <= self.now:
            heapq.heappop(self._timers)[2]()
        now = self.now
        ready = [task for task in self._tasks if task.wake_at <= now and task.process.frozen_until <= now]
        if not ready:
            times = [max(task.wake_at, task.process.frozen_until) for task in self._tasks]
            if self._timers:
                times.append(self._timers[0][0])
            if not times:
                return False
            self.now = max(now, min(times))
            return True
        task = ready[int(self._rng.random() * len(ready))]
        self._switch_to(task)
        return True

    def _switch_to(self, task: Task) -> None:
        self._current = task
        try:
            task.greenlet.switch()
        finally:
            self._current = None
            if task.is_done:
                self._tasks.remove(task)
                self.wake()

    def kill(self, process: Process) -> None:
        """End a process between two of its instructions; what it had in memory is gone."""
        process.is_dead = True
        for task in [task for task in self._tasks if task.process is process]:
            if task.greenlet:
                self._current = task
                task.greenlet.throw(Killed)
                self._current = None
            if task in self._tasks:
                self._tasks.remove(task)
        for call in process.on_silence:
            call()

    def freeze(self, process: Process, seconds: float) -> None:
        """Let a process stand still for a while."""
        process.frozen_until = self.now + seconds
        for call in process.on_silence:
            call()


class Clock:
    """Stands in for the module `time`."""

    scheduler: Scheduler

    def monotonic(self) -> float:
        return self.scheduler.now

    perf_counter = monotonic

    def sleep(self, seconds: float) -> None:
        self.scheduler.wait(seconds, can_be_woken=False)


class Threads:
    """Stands in for the module `threading`: a thread is one more task of its process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def Thread(self, target: Callable[[], None], name: str, daemon: bool) -> "Thread":  # noqa: N802
        return Thread(self._clock.scheduler, target)


class Thread:
    """A task that can be waited for."""

    def __init__(self, scheduler: Scheduler, run: Callable[[], None]) -> None:
        self._scheduler = scheduler
        self._run = run
        self._task: Task | None = None

    def start(self) -> None:
        self._task = self._scheduler.start(self._scheduler.process, self._run)

    def is_alive(self) -> bool:
        return self._task is not None and not self._task.is_done

    def join(self, seconds: float | None = None) -> None:
        deadline = self._scheduler.now + (1e9 if seconds is None else seconds)
        while self.is_alive() and self._scheduler.now < deadline:
            self._scheduler.wait(deadline - self._scheduler.now)
