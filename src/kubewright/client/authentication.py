"""`Authentication`: the credential that goes with each request, renewed as it expires or is refused."""

from __future__ import annotations

import base64
from contextlib import suppress

from kubewright.api import Clock
from kubewright.client.credentials import ClusterConfig, ConfigError, is_token
from kubewright.client.exec_credentials import Credential, ExecCredentials
from kubewright.client.renewed_file import RenewedFile
from kubewright.client.transport import CredentialError

__all__ = ["Authentication"]

_KEEP_TOKEN = 60.0


class Authentication:
    """Guarantees
        Callers that come at the same time share one renewal; a plugin never blocks the event loop.
    Errors
        `CredentialError` where there is no credential to send.
    """

    def __init__(self, config: ClusterConfig, *, clock: Clock) -> None:
        self._clock = clock
        self._identity = config.identity
        self._token_file: RenewedFile | None = None
        self._plugin: ExecCredentials | None = None
        self._current = _configured(config)
        if config.token_file is not None:
            self._token_file = RenewedFile(config.token_file, "token file", keep=_KEEP_TOKEN)
        elif config.exec is not None and not (config.token or config.basic or config.has_client_certificate):
            self._plugin = ExecCredentials(config, config.exec, clock=clock)
        self.remedy = _remedy(config)

    async def credential(self) -> Credential:
        if self._plugin is not None:
            return await self._plugin.credential()
        if self._token_file is not None:
            return self._from_file(self._token_file)
        return self._current

    async def renewed(self, refused: Credential) -> Credential | None:
        """Another credential than the one that the server did not take; None where there is no other."""
        if self._plugin is not None:
            return await self._plugin.renewed(refused)
        if self._token_file is not None:
            with suppress(ConfigError):  # as long as it was never readable
                self._token_file.reread()
            current = self._from_file(self._token_file)
            return None if current is refused else current
        return None

    async def close(self) -> None:
        if self._plugin is not None:
            await self._plugin.close()

    def _from_file(self, file: RenewedFile) -> Credential:
        try:
            token = _token_in(file, self._clock.monotonic())
        except ConfigError as error:
            if self._current.authorization is not None:  # the token that is configured beside the file, or was in it
                return self._current
            raise CredentialError(f"no credential for {self._identity}: {error}") from None
        authorization = f"Bearer {token}"
        if authorization != self._current.authorization:
            self._current = Credential(authorization)
        return self._current


def _token_in(file: RenewedFile, now: float) -> str:
    token = file.content(now).decode(errors="replace")
    if not is_token(token):
        raise ConfigError(f"token file {file.path} holds no token")
    return token


def _configured(config: ClusterConfig) -> Credential:
    """What is sent without asking a file or a program."""
    if config.token:
        return Credential(f"Bearer {config.token}")
    if config.basic is not None:
        pair = f"{config.basic.username}:{config.basic.password}".encode()
        return Credential(f"Basic {base64.b64encode(pair).decode()}")
    return Credential()


def _remedy(config: ClusterConfig) -> str:
    """What helps where the server does not know us."""
    if config.token_file is not None:
        return f"see whether {config.token_file} holds a token of this cluster"
    if config.token:
        return "get a new token; this one is expired, or another cluster's"
    if config.basic is not None:
        return "API servers since 1.19 know no passwords; use a token, a client certificate or an exec plugin"
    if config.exec is not None and not config.has_client_certificate:
        return f"log in anew with what {config.exec.command!r} belongs to"
    if config.has_client_certificate:
        return "see whether the client certificate is expired, or another cluster's"
    return "it has no credentials; add a token, a client certificate or an exec plugin"
