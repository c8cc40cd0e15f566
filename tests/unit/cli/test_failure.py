"""How a command's end is told: to people in a line, to machines in one as those of the log."""

from __future__ import annotations

import json

import pytest

from kubewright.cli.commands import run_command
from kubewright.cli.failure import Telling, asked_format


@pytest.mark.parametrize(
    ("arguments", "variable", "expected"),
    [
        ([], None, "console"),
        ([], "json", "json"),
        (["--log-format", "json"], None, "json"),
        (["x", "--log-format=json", "--wrong"], "console", "json"),
        (["--log-format", "console"], "json", "console"),
        (["--log-format=json", "--log-format=console"], None, "console"),
        (["--log-format"], "json", "console"),
        (["--log-format=yaml"], "json", "console"),
    ],
)
def test_the_format_is_known_from_what_was_asked(arguments: list[str], variable: str | None, expected: str) -> None:
    environment = {} if variable is None else {"KUBEWRIGHT_LOG_FORMAT": variable}
    assert asked_format(arguments, environment) == expected


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["run", "no.such.module"], 2, "there is no module 'no.such.module' here"),
        (["run", "no.such.module", "--stop-withn=3"], 2, "Did you mean '--stop-within'?"),
        (["run"], 2, "Missing argument 'TARGET'"),
        (["dev", "no.such.module"], 2, "there is no module"),
        (["dev", "x", "--port", "no"], 2, "'no' is not a valid integer"),
    ],
)
def test_a_failure_is_a_line_of_the_log_where_json_is_wanted(
    arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run_command([*arguments, "--log-format=json"])
    assert ended.value.code == code
    line = json.loads(capsys.readouterr().err)
    assert (line["msg"], line["level"], line["exit_code"]) == ("failed", "error", code)
    assert said in line["error"]
    with pytest.raises(SystemExit):
        run_command(arguments)
    assert not capsys.readouterr().err.startswith("{")


def test_a_bug_is_told_with_its_traceback_where_that_is_wanted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no luck")

    monkeypatch.setattr("kubewright.cli.prepared.load_operator", broken)
    for variable, format_, expected in (
        ("", "console", "kubewright: a bug of ours: RuntimeError: no luck; set KUBEWRIGHT_TRACEBACK=1"),
        ("1", "console", "Traceback (most recent call last)"),
    ):
        monkeypatch.setenv("KUBEWRIGHT_TRACEBACK", variable)
        with pytest.raises(SystemExit):
            run_command(["run", "x", f"--log-format={format_}"])
        assert capsys.readouterr().err.startswith(expected)
    with pytest.raises(SystemExit):
        run_command(["run", "x", "--log-format=json"])
    assert json.loads(capsys.readouterr().err)["exception"].endswith("RuntimeError: no luck")


@pytest.mark.parametrize("format_", ["console", "json"])
def test_it_tells_no_credentials(format_: str, capsys: pytest.CaptureFixture[str]) -> None:
    telling = Telling()
    telling.format = "json" if format_ == "json" else "console"
    telling.failed("no way to https://me:canary-7e57@host: Bearer canary-7e57-0001", exit_code=1)
    assert "canary" not in capsys.readouterr().err
