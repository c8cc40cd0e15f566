"""`ClusterConfig`: where an API server is and who we are to it, whatever file that came from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

__all__ = ["BasicAuth", "ClusterConfig", "ConfigError", "TokenFile"]


class ConfigError(Exception):
    """Credentials or addresses that can't be used; the message names file, field and remedy."""


class BasicAuth(Struct, frozen=True):
    username: str
    password: str


class ClusterConfig(Struct, frozen=True, kw_only=True):
    """One API server and one identity. Certificates and keys are PEM."""

    server: str
    """``https://host:port``, possibly with a path prefix."""
    ca: bytes | None = None
    """None: the certificates that the system trusts."""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str | None = None
    client_certificate: bytes | None = None
    client_key: bytes | None = None
    token: str | None = None
    token_file: Path | None = None
    """Read again as it is renewed; goes before ``token``."""
    basic: BasicAuth | None = None
    impersonate: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Headers that ask the server to act as someone else."""
    namespace: str | None = None
    """Where objects go that name no namespace."""
    source: str = ""
    """Which file, for messages."""


class TokenFile:
    """A bearer token in a file that is renewed under us, as a pod's service account token is."""

    def __init__(self, path: Path, *, keep: float = 60.0) -> None:
        self._path = path
        self._keep = keep
        self._token = ""
        self._read_at: float | None = None

    def token(self, now: float) -> str:
        """The token, read again when it was read long ago. ``now``: monotonic seconds. Raises `ConfigError`."""
        if self._read_at is None or now - self._read_at >= self._keep:
            try:
                text = self._path.read_text().strip()
            except OSError as error:
                if self._read_at is None:
                    raise ConfigError(f"token file {self._path}: {error.strerror or error}") from error
                text = ""  # it is being replaced: the one we have still serves
            if text:
                self._token = text
            elif self._read_at is None:
                raise ConfigError(f"token file {self._path} is empty")
            self._read_at = now
        return self._token

    def refused(self) -> None:
        """The server did not take the token: read the file anew next time."""
        if self._token:
            self._read_at = float("-inf")
