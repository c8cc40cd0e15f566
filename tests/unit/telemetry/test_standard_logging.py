from __future__ import annotations

import io
import json
import logging
from typing import Any

from kubewright import ObjectMeta
from kubewright.kinds import core_v1
from kubewright.telemetry import LogLevel, new_log
from kubewright.telemetry.standard_logging import RUN_LOG, heard_by


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
    text = stream.getvalue()
    assert "got Secret n/s with Bearer" in text
    assert "ValueError" in lines(stream)[2]["exception"]
    assert "hunter2" not in text
    assert "abcdefgh" not in text


def test_who_chose_handlers_keeps_them() -> None:
    stream, theirs, root, level = io.StringIO(), io.StringIO(), logging.Logger("root"), LogLevel()
    root.addHandler(logging.StreamHandler(theirs))
    with heard_by(new_log("json", level=level, stream=stream), level, root=root):
        root.warning("as they like it")
    assert theirs.getvalue() == "as they like it\n"
    assert stream.getvalue() == ""
