"""`ClusterConfig`: where an API server is and who we are to it, whatever file that came from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct, field

__all__ = ["BasicAuth", "ClusterConfig", "ConfigError", "ExecPlugin", "InteractiveMode", "is_token"]

InteractiveMode: TypeAlias = Literal["Never", "IfAvailable", "Always"]


_TOKEN = re.compile(r"[!-~]+")


def is_token(text: str) -> bool:
    """Whether it can be sent as a bearer token: without blanks, line breaks and what a header can't hold."""
    return _TOKEN.fullmatch(text) is not None


class ConfigError(Exception):
    """Credentials or addresses that can't be used; the message names file, field and remedy."""


class BasicAuth(Struct, frozen=True):
    """User and password, which API servers since 1.19 do not know; proxies before them may."""

    username: str
    password: str

    def __repr__(self) -> str:
        return f"BasicAuth(username={self.username!r}, password=…)"


class ExecPlugin(Struct, frozen=True, kw_only=True):
    """A program that gives credentials.

    https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
    """

    api_version: Literal["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"]
    command: str
    """A path, or a name to be looked for in PATH."""
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    """Set for the program on top of our own environment."""
    install_hint: str = ""
    interactive_mode: InteractiveMode = "IfAvailable"
    provide_cluster_info: bool = False
    """Whether the program is told of the cluster it gives credentials for."""
    cluster_extension: object = None
    """What the kubeconfig's cluster has to say to the program; JSON."""

    def __repr__(self) -> str:
        return f"ExecPlugin(command={self.command!r})"  # arguments and environment may hold secrets


class ClusterConfig(Struct, frozen=True, kw_only=True):
    """One API server and one identity. Certificates and keys are PEM; their files are read again when they change."""

    server: str
    """``https://host:port``, possibly with a path prefix."""
    ca: bytes | None = None
    ca_file: Path | None = None
    """Without ``ca`` and ``ca_file``: the certificates that the system trusts."""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str | None = None
    """The name that the server's certificate must have, where it is not the server's own."""
    proxy_url: str | None = None
    """``http://``, ``https://`` or ``socks5://``, possibly with user and password; None: as the environment says."""
    disable_compression: bool = False
    client_certificate: bytes | None = None
    client_certificate_file: Path | None = None
    client_key: bytes | None = None
    client_key_file: Path | None = None
    token: str | None = None
    token_file: Path | None = None
    """Read again as it is renewed; goes before ``token``, which is used as long as the file was never readable."""
    basic: BasicAuth | None = None
    exec: ExecPlugin | None = None
    """Asked for a credential where there is no token, no password and no client certificate."""
    impersonate: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Headers that ask the server to act as someone else."""
    namespace: str | None = None
    """Where objects go that name no namespace."""
    user: str | None = None
    """The user's name in ``source``."""
    source: str = ""
    """Which file the user is from, for messages."""

    def __repr__(self) -> str:
        return f"ClusterConfig(server={self.server!r}, user={self.user!r}, source={self.source!r})"

    @property
    def has_client_certificate(self) -> bool:
        return self.client_certificate is not None or self.client_certificate_file is not None

    @property
    def identity(self) -> str:
        """Who we are, for messages."""
        if self.user is not None:
            return f"user {self.user!r} of {self.source}"
        if self.token_file is not None:
            return f"the service account in {self.token_file.parent}"
        return f"the user of {self.source}" if self.source else "the configured user"
