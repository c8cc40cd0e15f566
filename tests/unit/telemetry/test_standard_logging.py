from __future__ import annotations

import io
import json
import logging
import sys
import threading
import warnings
from dataclasses import dataclass
from typing import Any, cast

from kubewright import ObjectMeta
from kubewright.kinds import core_v1
from kubewright.telemetry import LogLevel, new_log
from kubewright.telemetry.standard_logging import RUN_LOG, Early, heard_by


@dataclass
class Found:
    object: object


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_what_is_logged_by_other_means_is_a_line_too_with_the_run_it_is_of() -> None:
    stream, root, level = io.StringIO(), logging.Logger("root"), LogLevel("info")
    log = new_log("json", level=level, stream=stream)
    with heard_by(log, level, root=root):
        root.info("%s of %d", "one", 2, extra={"size": 3})
        token = RUN_LOG.set(log.bind(name="web"))
        root.error("no %(what)s", {"what": "way"})
        RUN_LOG.reset(token)
    root.warning("nobody hears")
    first, second = lines(stream)
    assert (first["msg"], first["level"], first["logger"], first["extra"]) == (
        "one of 2",
        "info",
        "root",
        {"size": 3},
    )
    assert (second["msg"], second["level"], second["name"]) == ("no way", "error", "web")


def test_it_follows_the_level() -> None:
    stream, root, level = io.StringIO(), logging.Logger("root"), LogLevel("warning")
    with heard_by(new_log("json", level=level, stream=stream), level, root=root):
        root.info("below")
        level.set("debug")
        root.debug("wanted now")
    assert [line["msg"] for line in lines(stream)] == ["wanted now"]


def test_neither_objects_nor_credentials_are_spelt_out() -> None:
    stream, root, level = io.StringIO(), logging.Logger("root"), LogLevel()
    secret = core_v1.Secret(metadata=ObjectMeta(name="s", namespace="n"), string_data={"key": "hunter2"})
    with heard_by(new_log("json", level=level, stream=stream), level, root=root):
        root.warning("got %s with Bearer abcdefgh12345678", secret)
        root.warning(secret)
        root.error("failed", exc_info=ValueError("Bearer abcdefgh12345678"))
        root.error("of %s: %s", [Found(secret)], KeyError("why"))
    text = stream.getvalue()
    assert "got Secret n/s with Bearer" in text
    assert "ValueError" in lines(stream)[2]["exception"]
    assert lines(stream)[3]["msg"] == "of [{'object': 'Secret n/s'}]: 'why'"
    assert "hunter2" not in text
    assert "abcdefgh" not in text


def test_who_chose_handlers_keeps_them() -> None:
    stream, theirs, root, level = io.StringIO(), io.StringIO(), logging.Logger("root"), LogLevel()
    root.addHandler(logging.StreamHandler(theirs))
    with heard_by(new_log("json", level=level, stream=stream), level, root=root):
        root.warning("as they like it")
    assert theirs.getvalue() == "as they like it\n"
    assert stream.getvalue() == ""


def test_a_line_that_can_not_be_made_is_told_of_in_the_same_log() -> None:
    stream, root, level = io.StringIO(), logging.Logger("root"), LogLevel()
    with heard_by(new_log("json", level=level, stream=stream), level, root=root):
        root.info("%d", "no number")
    (line,) = lines(stream)
    assert line["msg"] == "a line could not be logged"
    assert line["file"] == __file__
    assert "TypeError" in line["exception"]


def test_exceptions_that_nobody_could_catch_are_lines_too_and_tell_no_credentials() -> None:
    stream, root, level = io.StringIO(), logging.Logger("root"), LogLevel()
    hooks = threading.excepthook, sys.unraisablehook

    def fails() -> None:
        raise ValueError("Bearer abcdefgh12345678")

    with heard_by(new_log("json", level=level, stream=stream), level, root=root):
        thread = threading.Thread(target=fails, name="worker")
        thread.start()
        thread.join()
        try:
            fails()
        except ValueError as error:
            traceback = error.__traceback__
            found = {"exc_type": ValueError, "exc_value": error, "exc_traceback": traceback, "err_msg": None}
            sys.unraisablehook(cast("Any", type("Args", (), {**found, "object": fails})))
    assert (threading.excepthook, sys.unraisablehook) == hooks
    of_thread, unraisable = lines(stream)
    assert (of_thread["msg"], of_thread["thread"]) == ("a thread died", "worker")
    assert "fails" in unraisable["where"]
    for line in (of_thread, unraisable):
        assert line["exception"].endswith("ValueError: Bearer …")


def test_what_is_said_before_there_is_a_log_is_said_when_it_is_there() -> None:
    stream, early = io.StringIO(), Early()
    before = logging.lastResort, warnings.showwarning
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with early.kept():
            logging.Logger("library").error("no %s yet", "log")
            logging.Logger("library").info("below what is shown without a handler")
            warnings.warn("old ways", stacklevel=1)
    assert (logging.lastResort, warnings.showwarning) == before
    early.tell(new_log("json", stream=stream))
    early.tell(new_log("json", stream=stream))
    said, warned = lines(stream)
    assert (said["msg"], said["level"], said["logger"]) == ("no log yet", "error", "library")
    assert "UserWarning: old ways" in warned["msg"]
    assert (warned["level"], warned["logger"]) == ("warning", "py.warnings")
