from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.controller.cron import Schedule


def next_times(text: str, start: str, number: int = 3, *, zone: str | None = None) -> list[str]:
    schedule = Schedule.parse(text, zone=zone)
    moment = datetime.fromisoformat(start)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    found = []
    for _ in range(number):
        due = schedule.after(moment)
        assert due is not None
        found.append(due.strftime("%m-%d %H:%M"))
        moment = due
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*/5 * * * *", ["01-01 00:05", "01-01 00:10", "01-01 00:15"]),
        ("0 9-17/4 * * *", ["01-01 09:00", "01-01 13:00", "01-01 17:00"]),
        ("30 8 * * mon-fri", ["01-01 08:30", "01-02 08:30", "01-05 08:30"]),
        ("0 0 1,15 * *", ["01-15 00:00", "02-01 00:00", "02-15 00:00"]),
        ("0 0 13 * fri", ["01-02 00:00", "01-09 00:00", "01-13 00:00"]),  # either day is enough
        ("0 0 29 feb *", ["02-29 00:00", "02-29 00:00", "02-29 00:00"]),
        ("0 0 * * 7", ["01-04 00:00", "01-11 00:00", "01-18 00:00"]),
        ("10/25 1 * * *", ["01-01 01:10", "01-01 01:35", "01-02 01:10"]),
        ("@hourly", ["01-01 01:00", "01-01 02:00", "01-01 03:00"]),
        ("@weekly", ["01-04 00:00", "01-11 00:00", "01-18 00:00"]),
    ],
)
def test_the_times_that_a_schedule_names(text: str, expected: list[str]) -> None:
    assert next_times(text, "2026-01-01T00:00") == expected


def test_a_schedule_follows_its_zones_clocks() -> None:
    assert next_times("30 2 * * *", "2026-03-27T12:00", zone="Europe/Berlin") == [
        "03-28 02:30",
        "03-29 03:30",  # half past two does not exist that day
        "03-30 02:30",
    ]
    # half past two comes twice on 25 October: a daily job runs once, an hourly one each hour
    assert next_times("30 2 * * *", "2026-10-24T12:00", 2, zone="Europe/Berlin") == ["10-25 02:30", "10-26 02:30"]
    hourly = next_times("30 * * * *", "2026-10-24T23:00+00:00", 4, zone="Europe/Berlin")
    assert hourly == ["10-25 01:30", "10-25 02:30", "10-25 02:30", "10-25 03:30"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("* * * *", "write five fields"),
        ("60 * * * *", "minute '60': 60 is not within 0-59"),
        ("* * 0 * *", "day of month '0': 0 is not within 1-31"),
        ("*/0 * * * *", "a step is 1 or more"),
        ("5-1 * * * *", "5 comes after 1"),
        ("* * * foo *", "month 'foo': 'foo' is no number"),
        ("0 0 31 feb *", "there is no such day in any year"),
        ("@reboot", "write five fields"),
    ],
)
def test_what_is_no_schedule_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Schedule.parse(text)


def test_a_zone_that_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone 'Mars/Base' is not known here"):
        Schedule.parse("@daily", zone="Mars/Base")


_minutes = st.lists(st.integers(0, 59), min_size=1, max_size=4)
_hours = st.lists(st.integers(0, 23), min_size=1, max_size=4)
_months = st.lists(st.integers(1, 12), min_size=1, max_size=4)


@given(_minutes, _hours, _months, st.datetimes(datetime(2000, 1, 1), datetime(2090, 1, 1)))
def test_no_time_is_left_out_and_none_is_added(
    minutes: list[int], hours: list[int], months: list[int], start: datetime
) -> None:
    moment = start.replace(tzinfo=ZoneInfo("UTC"))
    text = " ".join(",".join(map(str, field)) for field in (minutes, hours)) + f" * {','.join(map(str, months))} *"
    due = Schedule.parse(text).after(moment)
    assert due is not None
    assert due > moment
    assert (due.minute in minutes, due.hour in hours, due.month in months) == (True, True, True)
    between = (moment + timedelta(minutes=step) for step in range(1, 60 * 48))
    assert not any(
        step < due and step.minute in minutes and step.hour in hours and step.month in months
        for step in (at.replace(second=0, microsecond=0) for at in between)
        if step > moment
    )


@pytest.mark.parametrize("given", [None, 5, ["* * * * *"]])
def test_what_is_no_text_is_no_schedule(given: Any) -> None:
    with pytest.raises(TypeError, match=r"cron schedule .*: write it as text, such as"):
        Schedule.parse(given)
