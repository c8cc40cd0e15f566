"""The report of `benchmarks.cache`: targets, failures, and a peer that is not there."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from benchmarks.cache.__main__ import main
from benchmarks.cache.report import Figure, Goal, Report
from benchmarks.cache.resources import PODS, WIDGETS
from benchmarks.cache.running import Cell, Failed, Found, Results


@pytest.mark.parametrize(
    ("goal", "ours", "met"),
    [
        (Goal("≥", 3, "client-go"), 300, True),
        (Goal("≥", 3, "client-go"), 299, False),
        (Goal("≤", 0.5, "client-go"), 50, True),
        (Goal("≤", 20), 20, True),
        (Goal("≤", 20), 20.1, False),
        (Goal("≥", 3, "official"), 300, None),
        (Goal("≥", 3, "Kopf"), 300, None),
    ],
)
def test_a_goal_is_met_missed_or_can_not_be_told(goal: Goal, ours: float, met: bool | None) -> None:
    found: dict[str, Found | Failed] = {
        "kubewright": Found(ours, 10),
        "client-go": Found(100, 10),
        "official": Failed("no"),
    }
    assert goal.met(found) is met


def test_a_table_says_who_failed_and_why_and_who_was_measured_with_fewer() -> None:
    report = Report("a machine", 50_000)
    reason = Failed("not done after 90 s")
    for name in ("sync", "watch"):
        report.add(
            Figure(name, "/s", (Goal("≥", 3, "client-go"),)),
            {"kubewright": Found(900, 50_000), "client-go": Found(300, 50_000), "kr8s": Found(7, 500), "Kopf": reason},
        )
    table = report.table()
    row = next(line for line in table.splitlines() if line.startswith("| sync"))
    assert [cell.strip() for cell in row.split("|")[1:-2]] == [
        *("sync", "/s", "900", "300", "7 (500)", "failed [1]", "3.00", "≥ 3× client-go", "yes"),
    ]
    assert table.count("Kopf: not done after 90 s") == 1
    assert len({len(line) for line in table.splitlines() if line.startswith("|")}) == 1


def test_the_figures_are_written_with_their_goals(tmp_path: Path) -> None:
    report = Report("a machine", 50_000)
    report.add(Figure("sync", "/s", (Goal("≥", 1000),)), {"kubewright": Found(900, 50_000), "Kopf": Failed("no")})
    path = tmp_path / "out" / "cache.json"
    report.write(path)
    figure = msgspec.json.decode(path.read_bytes())["figures"][0]
    assert figure["goals"] == {"≥ 1,000": False}
    assert figure["found"] == {"kubewright": {"value": 900, "objects": 50_000}, "Kopf": {"reason": "no"}}


def test_of_several_rounds_the_median_counts_and_each_form_is_told_apart() -> None:
    stream = Cell("kubewright", "follow", WIDGETS, 10, "stream")
    listed = Cell("kubewright", "follow", WIDGETS, 10, "list")
    broken = Cell("Kopf", "follow", WIDGETS, 5)
    results = Results(
        {stream: [{"bytes": 3}, {"bytes": 1}, {"bytes": 2}], listed: [{"bytes": 9}]}, {broken: Failed("no")}
    )
    assert results.of("follow", WIDGETS, "bytes") == {"kubewright": Found(2, 10), "Kopf": Failed("no")}
    assert results.of("follow", WIDGETS, "bytes", "list") == {"kubewright": Found(9, 10), "Kopf": Failed("no")}
    assert results.of("follow", PODS, "bytes") == {}


def test_without_the_go_peer_one_line_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("KUBEWRIGHT_GO_PEER", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["benchmarks.cache", "--quick"])
    assert main() == 2
    assert capsys.readouterr().out.splitlines() == [
        f"the Go peer is not in {tmp_path}: set KUBEWRIGHT_GO_PEER to the folder that holds gopeer.xz"
    ]
