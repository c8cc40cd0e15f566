"""The figures, what we want them to be, and what bounds them."""

from __future__ import annotations

from benchmarks.cache.report import Figure, Goal, Report
from benchmarks.cache.resources import PODS, WIDGETS, Resource
from benchmarks.cache.running import Results

__all__ = ["add_figures"]

_GO = "client-go"
_BOOKKEEPING = 500
"""Bytes that may be added to an object's JSON: key, owners, an index."""
_STEADY = "the figure above as processor time, which bears other load on the machine"


def add_figures(report: Report, results: Results, lengths: dict[str, int]) -> None:
    """``lengths`` are of one object's JSON without managedFields, by resource."""
    for kind in (WIDGETS, PODS):
        _following(report, results, kind, lengths[kind.plural])
    _pauses(report, results)
    _reads(report, results)
    gets = results.of("gets", WIDGETS, "gets_s")
    goals = (Goal("≥", 4000), Goal("≥", 4, "lightkube"), Goal("≥", 4, "httpx2"))
    report.add(
        Figure(
            "client: GETs over one pool",
            "/s",
            goals,
            "the kernel's sending and receiving, a third; decoding, a sixth; asyncio, llhttp and ours, the rest",
        ),
        gets,
    )
    report.add(Figure("client: processor per GET", "µs"), results.of("gets", WIDGETS, "get_cpu_us"))


def _following(report: Report, results: Results, kind: Resource, length: int) -> None:
    name = kind.plural
    listed, streamed, memory = (3, 6, 0.8) if kind is WIDGETS else (3.5, 7, 0.5)
    index = "parsing: half; then store and delivery, and HTTP"
    report.add(
        Figure(f"{name}: sync, LIST", "/s", (Goal("≥", listed, _GO), Goal("≥", 10, "official")), index),
        results.of("follow", kind, "objects_s", "list"),
    )
    report.add(
        Figure(f"{name}: sync, streaming list", "/s", (Goal("≥", streamed, _GO),), index),
        results.of("follow", kind, "objects_s", "stream"),
    )
    for form, words, times in (("list", "LIST", listed), ("stream", "streaming list", streamed)):
        report.add(
            Figure(f"{name}: processor per object, {words}", "µs", (Goal("≤", 1 / times, _GO),), _STEADY),
            results.of("follow", kind, "cpu_us", form),
        )
    for words, key in (("object, streaming list", "cpu_us"), ("event", "event_cpu_us")):
        report.add(
            Figure(f"{name}: processor per {words}, index by a function", "µs", (), "it is given a typed object"),
            results.of("follow", kind, key, "function"),
        )
    goals = (Goal("≤", length + _BOOKKEEPING), Goal("≤", memory, _GO))
    report.add(
        Figure(
            f"{name}: memory per object (JSON {length})", "B", goals, "the JSON itself, and entry, key, two indexes"
        ),
        results.of("follow", kind, "bytes"),
    )
    report.add(
        Figure(
            f"{name}: memory, metadata only",
            "B",
            (Goal("≤", 700),),
            "what is kept of its JSON (351 of a widget, 792 of a pod); then entry, version, name, key, two indexes",
        ),
        results.of("follow", kind, "bytes", "metadata"),
    )
    report.add(Figure(f"{name}: peak while syncing", "MB"), results.of("follow", kind, "peak_mb"))
    report.add(Figure(f"{name}: one full collection", "ms"), results.of("follow", kind, "collection_ms"))
    report.add(
        Figure(f"{name}: watch", "events/s", (Goal("≥", 4, _GO),), "as the sync, and one call of the handler each"),
        results.of("follow", kind, "events_s"),
    )
    report.add(
        Figure(f"{name}: processor per event", "µs", (Goal("≤", 1 / 4, _GO),), _STEADY),
        results.of("follow", kind, "event_cpu_us"),
    )
    for share, most in (("p50", 0.3), ("p99", 1.2)):
        report.add(
            Figure(
                f"{name}: sent → handler, {share}",
                "ms",
                (Goal("≤", most),),
                "the loop's turn; whoever else has the core",
            ),
            results.of("follow", kind, f"{share}_ms"),
        )


def _pauses(report: Report, results: Results) -> None:
    for key, what, bound in (
        ("during_ms", "pause", "a page, or 256 objects of a stream"),
        ("during_cpu_ms", "pause, processor time,", _STEADY),
    ):
        for form, words in (("list", "LIST"), ("stream", "streaming list")):
            report.add(
                Figure(f"longest {what} in a 68 MB {words}", "ms", (Goal("≤", 20),), bound),
                results.of("pause", WIDGETS, key, form),
            )
    report.add(
        Figure(
            "longest pause after it, with a full collection",
            "ms",
            (Goal("≤", 20),),
            "what was imported: no entry and no index is walked",
        ),
        results.of("pause", WIDGETS, "after_ms"),
    )
    report.add(
        Figure("the same, processor time", "ms", (Goal("≤", 20),), _STEADY),
        results.of("pause", WIDGETS, "after_cpu_ms"),
    )


def _reads(report: Report, results: Results) -> None:
    report.add(Figure("widgets: get by key", "µs", (Goal("≤", 5),), "decoding"), results.of("reads", WIDGETS, "key_us"))
    report.add(
        Figure("widgets: list of 100 of 50,000 by index", "ms", (Goal("≤", 0.6),), "decoding"),
        results.of("reads", WIDGETS, "index_ms"),
    )
