"""Programs that give credentials, run as processes."""

from __future__ import annotations

import asyncio
import json
import stat
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import pytest
from msgspec.structs import replace

from kubewright.client import ClusterConfig, CredentialError, ExecPlugin
from kubewright.client.exec_credentials import Credential, ExecCredentials
from tests.clocks import SetClock
from tests.integration.passing_time import time_passes

V1: Literal["client.authentication.k8s.io/v1"] = "client.authentication.k8s.io/v1"


class Program:
    """A shell script and the credentials that it gives; it counts its runs in a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "log-in"
        self.clock = SetClock()
        self.config = ClusterConfig(server="https://c:6443", user="joe", source="the file")
        self.plugin = ExecPlugin(api_version=V1, command=str(self.path), interactive_mode="Never")
        self.made: list[ExecCredentials] = []

    def will(self, script: str) -> None:
        self.path.write_text(f"#!/bin/sh\necho run >> {self.folder}/runs\n{script}\n")
        self.path.chmod(self.path.stat().st_mode | stat.S_IXUSR)

    def will_say(self, status: object, **parts: object) -> None:
        answer = {"apiVersion": V1, "kind": "ExecCredential", "status": status, **parts}
        (self.folder / "answer").write_text(json.dumps(answer))
        self.will(f"cat {self.folder}/answer")

    @property
    def runs(self) -> int:
        runs = self.folder / "runs"
        return len(runs.read_text().splitlines()) if runs.exists() else 0

    def will_hang(self) -> None:
        """Waits for a child for ever; ``pid`` is the child's."""
        self.will(f"sleep 1000 &\necho $! > {self.folder}/half; mv {self.folder}/half {self.folder}/pid; wait")

    async def child_ends(self) -> None:
        """Waits until the child is gone; that it was killed takes a moment to show."""
        pid = (self.folder / "pid").read_text().strip()
        async with asyncio.timeout(20):
            while True:
                listing = ["ps", "-o", "stat=", "-p", pid]
                listed = await asyncio.to_thread(subprocess.run, listing, capture_output=True, text=True, check=False)
                if listed.stdout.strip() in {"", "Z", "Zs"}:  # nobody may have fetched its end yet
                    return
                await asyncio.sleep(0.01)

    def credentials(self, timeout: float | None = None, **plugin: Any) -> ExecCredentials:
        made = ExecCredentials(self.config, replace(self.plugin, **plugin), clock=self.clock, timeout=timeout)
        self.made.append(made)
        return made


async def appears(path: Path) -> None:
    """Waits until there is such a file."""
    async with asyncio.timeout(20):
        while not path.exists():  # noqa: ASYNC110, ASYNC240 - another process makes it
            await asyncio.sleep(0.001)


@pytest.fixture
async def program(tmp_path: Path) -> AsyncIterator[Program]:
    made = Program(tmp_path)
    yield made
    for credentials in made.made:
        await credentials.close()


async def test_a_token_is_kept_until_it_expires(program: Program) -> None:
    program.will_say({"token": "t", "expirationTimestamp": "2026-01-01T01:00:00Z"})
    credentials = program.credentials()
    assert (await credentials.credential()).authorization == "Bearer t"
    program.clock.move(3599)
    assert (await credentials.credential()).authorization == "Bearer t"
    assert program.runs == 1
    program.will_say({"token": "t2"})
    program.clock.move(1)
    assert (await credentials.credential()).authorization == "Bearer t2"
    program.clock.move(1e6)
    await credentials.credential()
    assert program.runs == 2


async def test_a_client_certificate_may_come_with_or_without_a_token(program: Program) -> None:
    program.will_say({"clientCertificateData": "cert", "clientKeyData": "key"})
    credential = await program.credentials().credential()
    assert (credential.authorization, credential.certificate, credential.key) == (None, b"cert", b"key")
    assert "key" not in repr(credential)


async def test_the_program_gets_arguments_environment_and_what_it_is_for(program: Program) -> None:
    program.will(f'printf "%s\\n" "$@" "$WHO" "$KUBERNETES_EXEC_INFO" > {program.folder}/told; exit 1')
    program.config = replace(
        program.config, ca=b"PEM", tls_server_name="inner", proxy_url="http://p:1", disable_compression=True
    )
    extension = {"audience": "a"}
    for cluster_info in (False, True):
        credentials = program.credentials(
            args=("a b", "c"), env=(("WHO", "me"),), provide_cluster_info=cluster_info, cluster_extension=extension
        )
        with pytest.raises(CredentialError):
            await credentials.credential()
        *told, info = (program.folder / "told").read_text().splitlines()
        assert told == ["a b", "c", "me"]
        spec: dict[str, object] = {"interactive": False}
        if cluster_info:
            spec["cluster"] = {
                "server": "https://c:6443",
                "tls-server-name": "inner",
                "certificate-authority-data": "UEVN",
                "proxy-url": "http://p:1",
                "disable-compression": True,
                "config": extension,
            }
        assert json.loads(info) == {"apiVersion": V1, "kind": "ExecCredential", "spec": spec}


async def test_all_who_wait_share_one_run(program: Program) -> None:
    program.will_say({"token": "t"})
    credentials = program.credentials()
    found = await asyncio.gather(*[credentials.credential() for _ in range(50)])
    assert len(set(map(id, found))) == 1
    assert program.runs == 1
    renewed = await asyncio.gather(*[credentials.renewed(found[0]) for _ in range(50)])
    assert len(set(map(id, renewed))) == 1
    assert renewed[0] is not found[0]
    assert program.runs == 2


async def test_who_stops_waiting_ends_the_run_for_nobody_else(program: Program) -> None:
    program.will_say({"token": "t"})
    credentials = program.credentials()
    waiting = [asyncio.create_task(credentials.credential()) for _ in range(2)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    assert (await waiting[1]).authorization == "Bearer t"
    assert waiting[0].cancelled()
    assert program.runs == 1


async def test_a_server_that_refuses_everything_starts_no_program_after_another(program: Program) -> None:
    program.will_say({"token": "t"})
    credentials = program.credentials()
    first = await credentials.credential()
    second = await credentials.renewed(first)
    assert second is not None
    assert await credentials.renewed(first) is second  # it came too late: there is another one already
    assert await credentials.renewed(second) is None
    assert program.runs == 2
    program.clock.move(10)
    assert await credentials.renewed(second) is not None


async def test_the_loop_goes_on_while_the_program_runs(program: Program) -> None:
    fifo = program.folder / "go"
    program.will(f"mkfifo {fifo}; cat {fifo} > /dev/null; cat {program.folder}/answer")
    (program.folder / "answer").write_text(
        json.dumps({"apiVersion": V1, "kind": "ExecCredential", "status": {"token": "t"}})
    )
    waiting = asyncio.create_task(program.credentials().credential())
    await appears(fifo)  # the loop that looks for it is what could not run
    await asyncio.to_thread(fifo.write_text, "go")
    assert (await waiting).authorization == "Bearer t"


async def test_a_program_that_does_not_end_is_killed_with_its_children(program: Program) -> None:
    program.will_hang()
    waiting = asyncio.create_task(program.credentials(timeout=60).credential())
    await appears(program.folder / "pid")
    await time_passes(61)
    with pytest.raises(
        CredentialError, match=r"^no credential for user 'joe' of the file: '.*/log-in': it did not end"
    ):
        await waiting
    await program.child_ends()


async def test_closing_ends_the_program(program: Program) -> None:
    program.will_hang()
    credentials = program.credentials()
    waiting = asyncio.create_task(credentials.credential())
    await appears(program.folder / "pid")
    await credentials.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await program.child_ends()


async def test_a_missing_program_is_said_with_how_to_get_it(program: Program) -> None:
    credentials = program.credentials(command="kubewright-no-such-program", install_hint="Get it from example.com.")
    with pytest.raises(CredentialError) as caught:
        await credentials.credential()
    assert str(caught.value) == (
        "no credential for user 'joe' of the file: 'kubewright-no-such-program': there is no such program that may be run\n"
        "Get it from example.com."
    )
    assert not caught.value.may_be_applied


async def test_a_file_that_may_not_be_run_is_no_program(program: Program) -> None:
    program.path.write_text("#!/bin/sh")
    with pytest.raises(CredentialError, match="no such program that may be run; install it, or correct the path"):
        await program.credentials().credential()
    program.will("exit 1")
    program.path.write_text("#!/no/such/interpreter")
    with pytest.raises(CredentialError, match="log-in': no such file or directory"):
        await program.credentials().credential()


async def test_a_certificate_authority_to_tell_of_must_be_there(program: Program) -> None:
    program.will_say({"token": "t"})
    program.config = replace(program.config, ca_file=program.folder / "ca.crt")
    with pytest.raises(CredentialError, match=r"the certificate authority in .*ca\.crt: no such file"):
        await program.credentials(provide_cluster_info=True).credential()


async def test_a_program_that_fails_is_run_again_next_time(program: Program) -> None:
    program.will("echo please log in >&2; exit 3")
    credentials = program.credentials()
    with pytest.raises(CredentialError, match="it ended with exit code 3: please log in$"):
        await credentials.credential()
    program.will_say({"token": "t"})
    assert await credentials.credential()


async def test_a_program_that_must_ask_needs_a_terminal(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(CredentialError, match="interactiveMode Always.*standard input is no terminal"):
        await program.credentials(interactive_mode="Always").credential()
    program.will_say({"token": "t"})
    assert await program.credentials(interactive_mode="IfAvailable").credential()


@pytest.mark.parametrize(
    ("status", "parts", "message"),
    [
        (
            {"token": "hunter2"},
            {"apiVersion": f"{V1}beta1"},
            "is a 'ExecCredential' of '.*v1beta1', not an ExecCredential",
        ),
        ({"token": "hunter2"}, {"kind": "Secret"}, "is a 'Secret' of"),
        ({"token": "hunter2 "}, {}, "status.token in its output has blanks"),
        ({"clientKeyData": "hunter2"}, {}, "lacks status.clientCertificateData: certificate and key go together"),
        ({"clientCertificateData": "hunter2"}, {}, "lacks status.clientKeyData"),
        (None, {}, "neither status.token nor status.clientCertificateData"),
        ({"token": 7}, {}, r"is no ExecCredential: Expected `str \| null`, got `int` - at `\$.status.token`"),
        ({"token": "hunter2", "expirationTimestamp": "2026-01-01T00:00:00"}, {}, "expirationTimestamp.* no time zone"),
    ],
)
async def test_what_is_wrong_with_the_output_is_said_without_it(
    program: Program, status: object, parts: dict[str, object], message: str
) -> None:
    program.will_say(status, **parts)
    with pytest.raises(CredentialError, match=message) as caught:
        await program.credentials().credential()
    assert "hunter2" not in str(caught.value)


async def test_output_that_is_no_json_is_not_quoted(program: Program) -> None:
    program.will("echo token: hunter2")
    with pytest.raises(CredentialError, match=r"its output \(15 bytes\) is not JSON") as caught:
        await program.credentials().credential()
    assert "hunter2" not in str(caught.value)


def test_credentials_are_not_shown() -> None:
    assert "hunter2" not in repr(Credential("Bearer hunter2", b"hunter2", b"hunter2"))
