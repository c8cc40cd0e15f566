"""The figures, what we want them to be, and what bounds them."""

from __future__ import annotations

from benchmarks.controllers.plan import GO, Measured, Sizes
from benchmarks.controllers.report import Figure, Report, Target

__all__ = ["add_figures"]

_KOPF, _FLOOR = "Kopf", "bare loop"
_STEADY = "the figure above as processor time, which bears other load on the machine"
_RUN = "Python on one core: five timed steps, a fifth; the queue, decoding, snapshots, a tenth each; many small pieces"
_WRITE = (
    "two runs without the write, two fifths; the PATCH, a quarter, a third of that in the kernel; the watch and the difference, a "
    "tenth each"
)


def add_figures(report: Report, found: Measured, sizes: Sizes) -> None:
    report.failures += found.failures
    _add_queue(report, found)
    for place in ("", "embedded "):
        _add_paces(report, found, place)
    _add_latency(report, found)
    _add_databases(report, found, sizes.databases)
    report.figures = [each for each in report.figures if each.ours is not None or report.failures]


def _add_queue(report: Report, found: Measured) -> None:
    for key, name in (
        ("cycle_s", "add, get, done of one key after the other"),
        ("filled_s", "the same, all added first"),
    ):
        target = Target("≥", 200_000)
        theirs = found.of("queue", "cycle_s", GO) if key == "cycle_s" else None
        ours, peer = found.of("queue", key), GO if theirs else ""
        report.figures.append(
            Figure(name=f"queue: {name}", unit="/s", ours=ours, peer=peer, peers=theirs, target=target, bound="Python")
        )


def _add_paces(report: Report, found: Measured, place: str) -> None:
    """Without a ``place``, on the Go peer's stub."""
    words = {"reconcile": "no-op", "write": "one status write"}
    wanted = {"reconcile": 20_000, "write": 3_000}
    over_kopf = {"reconcile": 10, "write": 6}
    bounds = {"reconcile": _RUN, "write": _WRITE}
    where = place.strip() or "stub"
    for kind, what in words.items():
        measurement = f"{place}{kind}"
        served = " the server's one core" if place and kind == "write" else ""

        def figure(
            key: str,
            name: str,
            unit: str,
            target: Target | None,
            peer: str = "",
            bound: str = "",
            *,
            of: str = measurement,
        ) -> None:
            theirs = found.of(of, key, peer) if peer else None
            text = f"{where}, {name}"
            report.figures.append(
                Figure(
                    name=text, unit=unit, ours=found.of(of, key), peer=peer, peers=theirs, target=target, bound=bound
                )
            )

        bound = served.strip() or bounds[kind]
        figure("work_s", f"{what}", "/s", Target("≥", wanted[kind]), _FLOOR, bound)
        micros = 1e6 / wanted[kind]
        figure("work_cpu_us", f"{what}: processor time of each", "µs", Target("≤", micros), _FLOOR, _STEADY)
        if kind == "write" and not place:
            figure("work_s", f"{what}, beside Go", "/s", Target("≥", 0.8, times=True), GO, bound)
            figure(
                "work_cpu_us", f"{what}: processor time, beside Go", "µs", Target("≤", 1.25, times=True), GO, _STEADY
            )
        figure("work_s", f"{what}, beside Kopf", "/s", Target("≥", over_kopf[kind], times=True), _KOPF, bound)
        times = Target("≤", 1 / over_kopf[kind], times=True)
        figure("work_cpu_us", f"{what}: processor time, beside Kopf", "µs", times, _KOPF, _STEADY)
        figure(
            "all_s", f"{what}, all from nothing", "/s", None, _FLOOR if place else GO, "the list, before any run begins"
        )
        if place and kind == "write":
            figure("server_cpu_us", f"{what}: processor time of the server", "µs", None, _FLOOR)


def _add_latency(report: Report, found: Measured) -> None:
    for key in ("p50_ms", "p99_ms"):
        for peer, target in ((_KOPF, Target("≤", 0.5, times=True)), (_FLOOR, None)):
            report.figures.append(
                Figure(
                    name=f"stub, event → reconciler, {key.removesuffix('_ms')}",
                    unit="ms",
                    ours=found.of("latency", key),
                    peer=peer,
                    peers=found.of("latency", key, peer),
                    target=target,
                    bound="waking up, the loop's turns; whoever else has the core" if target else "",
                )
            )


def _add_databases(report: Report, found: Measured, count: int) -> None:
    def figure(measurement: str, key: str, name: str, unit: str, target: Target | None = None, bound: str = "") -> None:
        report.figures.append(Figure(name=name, unit=unit, ours=found.of(measurement, key), target=target, bound=bound))

    over = f"restart over {count:,} Databases"
    figure("restart", "seconds", f"{over}: until all were looked at", "s", Target("≤", 5), "comparing what is applied")
    figure("restart", "cpu_s", f"{over}: processor time", "s", Target("≤", 5), _STEADY)
    figure("restart", "writes_of_others", f"{over}: writes but those of the edit below", "", Target("≤", 0))
    figure("restart", "edited_s", f"{over}: a user's edit meanwhile is handled", "s", Target("≤", 0.5))
    fresh = f"{count:,} fresh Databases"
    figure("fresh", "seconds", f"{fresh}: until all is written", "s", bound="the server's and our share of two cores")
    figure("fresh", "writes_each", f"{fresh}: writes of each", "")
    figure("fresh", "server_cpu_ms", f"{fresh}: processor time of the server for each write", "ms")
    figure("fresh", "cpu_ms", f"{fresh}: our processor time for each write", "ms")
    figure("empty", "resident_mb", "memory of `kubewright run` without objects", "MB", Target("≤", 70), "imports")
    figure("restart", "resident_mb", f"memory with {count:,} Databases", "MB")
    figure("restart", "idle_percent", f"processor with {count:,} settled Databases", "%", Target("≤", 1))
