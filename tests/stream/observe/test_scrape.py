"""Scrapes: while records come, while a model is restored, and without any data."""

import threading

import numpy as np
from prometheus_client import generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.parser import text_string_to_metric_families

from stream.events import BatchPredicted, PartitionProgress, Rebalanced, RestoreProgress, Started
from stream.observe.metrics import Metrics, exposition
from tests.every_event import one_of_each


def lines(text: bytes) -> set[tuple[str | float, ...]]:
    """Return the words of each line, numbers as numbers; but for those of the process, which change."""

    def read(word: str) -> str | float:
        try:
            return float(word)
        except ValueError:
            return word

    told = [line for line in text.decode().splitlines() if not line.startswith("process_")]
    return {tuple(map(read, line.split(" "))) for line in told}


def test_both_texts_are_those_that_the_client_library_writes() -> None:
    metrics = Metrics()
    for event in one_of_each():
        metrics.observe(event)
    odd = 'a "quoted" \\ back\nslashed class'
    codes = np.zeros(3, dtype=np.int32)
    metrics.observe(BatchPredicted("b", [], 0, "in", codes, codes, [odd]))
    assert lines(exposition(metrics)[0]) == lines(generate_latest(metrics.registry))
    told, _ = exposition(metrics, "application/openmetrics-text")
    assert lines(told) == lines(generate_openmetrics(metrics.registry))
    assert told.endswith(b"# EOF\n")


def test_an_agent_that_has_no_data_can_be_scraped() -> None:
    for events in ([], [Started("a", "in", "id5r", "topic")]):
        metrics = Metrics()
        for event in events:
            metrics.observe(event)
        assert list(text_string_to_metric_families(exposition(metrics)[0].decode()))


def test_a_scrape_while_a_model_is_restored_shows_how_far_it_is() -> None:
    metrics = Metrics()
    metrics.observe(Started("a", "in", "id5r", "topic"))
    metrics.observe(RestoreProgress("a", "in", 10, 0.5))
    assert b'espalier_restore_progress_ratio{agent="a"} 0.5\n' in exposition(metrics)[0]


def test_scrapes_and_records_do_not_disturb_each_other() -> None:
    metrics = Metrics()
    ended = threading.Event()
    failures: list[BaseException] = []

    def scrape() -> None:
        try:
            while not ended.is_set():
                exposition(metrics)
                exposition(metrics, "application/openmetrics-text")
        except BaseException as error:
            failures.append(error)

    scraper = threading.Thread(target=scrape)
    scraper.start()
    chance = np.random.default_rng(1)
    total = 0
    for number in range(400):
        agent = f"a{number % 7}"
        labels = chance.integers(-1, 30, 50, dtype=np.int32)
        total += int((labels >= 0).sum())
        metrics.observe(BatchPredicted(agent, [], 0, "in", labels, labels, [f"c{n}" for n in range(30)]))
        metrics.observe(PartitionProgress(agent, "in", number, 0, 10, 1, 1))
        if number % 5 == 0:
            metrics.observe(Rebalanced(agent, (), (("in", number),)))
        for event in one_of_each():
            metrics.observe(event)
    ended.set()
    scraper.join(30)
    assert not failures
    seen = sum(
        sample.value
        for family in metrics.registry.collect()
        for sample in family.samples
        if sample.name == "espalier_confusion_total" and sample.labels["agent"] != "a"
    )
    assert seen == total
