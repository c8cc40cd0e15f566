"""`ExecCredentials`: credentials from a program, as kubectl gets them.

https://kubernetes.io/docs/reference/config-api/client-authentication.v1/
"""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import signal
import sys
from contextlib import suppress
from datetime import datetime

import msgspec
from msgspec import Struct

from kubewright.api import Clock
from kubewright.client.credentials import ClusterConfig, ExecPlugin, is_token
from kubewright.client.transport import CredentialError

__all__ = ["Credential", "ExecCredentials"]

_LEAST_INTERVAL = 10.0
"""Seconds between renewals after a refusal: a server that refuses every credential must not start program after program."""
_TIMEOUT = 60.0
_TIMEOUT_OF_PEOPLE = 300.0
_LONGEST_STDERR = 2000


class Credential(Struct, frozen=True, eq=False):
    """What one request is sent with: an ``Authorization`` header, a client certificate with its key as PEM, or neither."""

    authorization: str | None = None
    certificate: bytes | None = None
    key: bytes | None = None
    expires: datetime | None = None

    def __repr__(self) -> str:
        return f"Credential(expires={self.expires})"


class _Status(Struct, rename="camel"):
    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: datetime | None = None


class _ExecCredential(Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _Status | None = None


class ExecCredentials:
    """Runs a program when a credential is needed, and keeps what it gave until that expires or is refused.

    Guarantees
        One run at a time, shared by all who wait; who stops waiting ends it for nobody else. `close` ends it.
    Errors
        `CredentialError` with the program, its exit code and what it wrote to standard error.
    """

    def __init__(
        self, config: ClusterConfig, plugin: ExecPlugin, *, clock: Clock, timeout: float | None = None
    ) -> None:
        self._config = config
        self._plugin = plugin
        self._clock = clock
        self._timeout = timeout
        self._current: Credential | None = None
        self._running: asyncio.Task[Credential] | None = None
        self._renewed_at = float("-inf")

    async def credential(self) -> Credential:
        current = self._current
        if current is None or (current.expires is not None and self._clock.now() >= current.expires):
            return await self._run_once()
        return current

    async def renewed(self, refused: Credential) -> Credential | None:
        """Another credential than the refused one; None where the program was asked for one a moment ago."""
        if self._current is not None and self._current is not refused:
            return self._current
        if self._running is None:
            now = self._clock.monotonic()
            if now - self._renewed_at < _LEAST_INTERVAL:
                return None
            self._renewed_at = now
        return await self._run_once()

    async def close(self) -> None:
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])

    async def _run_once(self) -> Credential:
        if self._running is None:
            self._running = asyncio.create_task(self._run(), name=f"credentials from {self._plugin.command}")
            self._running.add_done_callback(self._ended)
        return await asyncio.shield(self._running)

    def _ended(self, task: asyncio.Task[Credential]) -> None:
        self._running = None
        if not task.cancelled() and task.exception() is None:
            self._current = task.result()

    async def _run(self) -> Credential:
        plugin = self._plugin
        terminal = sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()
        interactive = plugin.interactive_mode != "Never" and terminal
        if plugin.interactive_mode == "Always" and not terminal:
            raise self._failure("it asks for input (interactiveMode Always), and standard input is no terminal")
        command = shutil.which(plugin.command)
        if command is None:
            hint = f"\n{plugin.install_hint}" if plugin.install_hint else "; install it, or correct the path"
            raise self._failure(f"there is no such program that may be run{hint}")
        environment = {
            **os.environ,
            **dict(plugin.env),
            "KUBERNETES_EXEC_INFO": self._exec_info(interactive=interactive),
        }
        starting = asyncio.create_task(self._started(command, environment, interactive=interactive))
        try:
            process = await asyncio.shield(starting)
        except asyncio.CancelledError:  # half-started, asyncio would leave its children running
            process = await starting
            await _end(process, group=not interactive)
            raise
        limit = self._timeout or (_TIMEOUT_OF_PEOPLE if interactive else _TIMEOUT)
        try:
            async with asyncio.timeout(limit):
                output, complaint = await process.communicate()
        except TimeoutError:
            raise self._failure(f"it did not end within {limit:g} seconds") from None
        finally:
            if process.returncode is None:
                await _end(process, group=not interactive)
        said = (complaint or b"").decode(errors="replace").strip()[-_LONGEST_STDERR:]
        if process.returncode != 0:
            raise self._failure(f"it ended with exit code {process.returncode}" + (f": {said}" if said else ""))
        return self._read(output)

    async def _started(
        self, command: str, environment: dict[str, str], *, interactive: bool
    ) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                command,
                *self._plugin.args,
                env=environment,
                stdin=None if interactive else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=None if interactive else asyncio.subprocess.PIPE,
                start_new_session=not interactive,
            )
        except OSError as error:
            raise self._failure((error.strerror or str(error)).lower()) from error

    def _exec_info(self, *, interactive: bool) -> str:
        spec: dict[str, object] = {"interactive": interactive}
        if self._plugin.provide_cluster_info:
            config = self._config
            authority = self._authority()
            told = {
                "server": config.server,
                "tls-server-name": config.tls_server_name,
                "insecure-skip-tls-verify": config.insecure_skip_tls_verify or None,
                "certificate-authority-data": base64.b64encode(authority).decode() if authority else None,
                "proxy-url": config.proxy_url,
                "disable-compression": config.disable_compression or None,
                "config": self._plugin.cluster_extension,
            }
            spec["cluster"] = {name: value for name, value in told.items() if value is not None}
        info = {"apiVersion": self._plugin.api_version, "kind": "ExecCredential", "spec": spec}
        return msgspec.json.encode(info).decode()

    def _authority(self) -> bytes | None:
        file = self._config.ca_file
        if self._config.ca is not None or file is None:
            return self._config.ca
        try:
            return file.read_bytes()
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise self._failure(f"it is to be told of the certificate authority in {file}: {why}") from error

    def _read(self, output: bytes) -> Credential:
        """Errors name fields and never quote the output, which holds the credential."""
        try:
            answer = msgspec.json.decode(output, type=_ExecCredential)
        except msgspec.ValidationError as error:
            raise self._failure(f"its output is no ExecCredential: {error}") from None
        except msgspec.DecodeError:
            raise self._failure(f"its output ({len(output)} bytes) is not JSON") from None
        if answer.kind != "ExecCredential" or answer.api_version != self._plugin.api_version:
            expected = f"ExecCredential of {self._plugin.api_version}"
            raise self._failure(f"its output is a {answer.kind!r} of {answer.api_version!r}, not an {expected}")
        status = answer.status or _Status()
        certificate, key = status.client_certificate_data, status.client_key_data
        if bool(certificate) is not bool(key):
            missing = "clientKeyData" if certificate else "clientCertificateData"
            raise self._failure(f"its output lacks status.{missing}: certificate and key go together")
        if not status.token and not certificate:
            raise self._failure("its output has neither status.token nor status.clientCertificateData")
        if status.token and not is_token(status.token):
            raise self._failure("status.token in its output has blanks, line breaks or strange characters in it")
        expires = status.expiration_timestamp
        if expires is not None and expires.tzinfo is None:
            raise self._failure("status.expirationTimestamp in its output has no time zone")
        return Credential(
            f"Bearer {status.token}" if status.token else None,
            certificate.encode() if certificate else None,
            key.encode() if key else None,
            expires,
        )

    def _failure(self, why: str) -> CredentialError:
        return CredentialError(f"no credential for {self._config.identity}: {self._plugin.command!r}: {why}")


async def _end(process: asyncio.subprocess.Process, *, group: bool) -> None:
    with suppress(ProcessLookupError):
        if group:  # a script's children hold its pipes open
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    await process.wait()
