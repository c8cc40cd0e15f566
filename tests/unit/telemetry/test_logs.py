from __future__ import annotations

import errno
import io
import json
import os
import resource
import signal
from pathlib import Path
from typing import Any

import pytest

from kubewright.telemetry import new_log


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_has_its_message_level_and_the_values_bound_on_the_way() -> None:
    stream = io.StringIO()
    log = new_log("json", stream=stream).bind(component="kubelet")
    log.bind(pod="web-0").info("started", attempt=2)
    log.warning("slow")
    first, second = lines(stream)
    assert first.pop("timestamp")
    assert first == {"msg": "started", "level": "info", "component": "kubelet", "pod": "web-0", "attempt": 2}
    assert (second["msg"], second["component"], "pod" in second) == ("slow", "kubelet", False)


def test_what_is_below_the_level_is_not_written() -> None:
    stream = io.StringIO()
    log = new_log("json", level="warning", stream=stream)
    for write in (log.debug, log.info, log.warning, log.error):
        write("said")
    assert [line["level"] for line in lines(stream)] == ["warning", "error"]


def test_an_exception_is_written_with_its_traceback() -> None:
    stream = io.StringIO()
    log = new_log("json", stream=stream).bind(request="GET /")
    try:
        int("nought")
    except ValueError:
        log.exception("failed")
    (line,) = lines(stream)
    assert (line["msg"], line["level"], line["request"]) == ("failed", "error", "GET /")
    assert "ValueError: invalid literal" in line["exception"]


def test_an_unknown_level_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="unknown log level 'loud'"):
        new_log("json", level="loud")


class Disk(io.StringIO):
    """Full now and then."""

    full = False

    def write(self, text: str) -> int:
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(text)


def test_lines_that_can_not_be_written_are_left_out_and_counted() -> None:
    disk = Disk()
    log = new_log("json", stream=disk)
    log.info("one")
    disk.full = True
    log.info("two")
    log.bind(more=1).info("three")
    disk.full = False
    log.info("four")
    log.info("five")
    assert [(line["msg"], line.get("lines_left_out")) for line in lines(disk)] == [
        ("one", None),
        ("four", 2),
        ("five", None),
    ]


def test_lines_that_can_not_be_written_do_not_come_later_from_a_buffer(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("w") as stream, Path("/dev/full").open("w") as full:
        log = new_log("json", stream=stream)
        log.info("one")
        there = os.dup(stream.fileno())
        os.dup2(full.fileno(), stream.fileno())
        log.info("two")
        log.info("three")
        os.dup2(there, stream.fileno())
        os.close(there)
        log.info("four")
    assert [json.loads(line)["msg"] for line in path.read_text().splitlines()] == ["one", "four"]


def test_a_line_after_one_that_is_there_in_part_is_a_line(tmp_path: Path) -> None:
    path, limits = tmp_path / "log", resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with path.open("w") as stream:
        log = new_log("json", stream=stream)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20, limits[1]))
        try:
            log.info("one")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            signal.signal(signal.SIGXFSZ, before)
        log.info("two")
    part, whole = path.read_text().splitlines()
    assert len(part) == 20
    assert (json.loads(whole)["msg"], json.loads(whole)["lines_left_out"]) == ("two", 1)


def test_a_pipe_without_a_reader_is_told_of() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with pytest.raises(BrokenPipeError), open(writer, "w") as pipe:
        new_log("json", stream=pipe).info("one")
