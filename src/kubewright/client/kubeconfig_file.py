"""One kubeconfig file as it is written: its clusters, users and contexts, read and not yet judged."""

from __future__ import annotations

from pathlib import Path

import msgspec
import yaml
from msgspec import Struct, field

from kubewright.client.credentials import ConfigError

__all__ = [
    "Cluster",
    "ExecEntry",
    "KubeconfigError",
    "KubeconfigFile",
    "NamedCluster",
    "NamedContext",
    "NamedUser",
    "User",
    "parse_kubeconfig",
    "read_file",
]


class KubeconfigError(ConfigError):
    """A kubeconfig that can't be used."""


class Extension(Struct):
    name: str = ""
    extension: object = None


class Cluster(Struct, rename="kebab"):
    server: str = ""
    certificate_authority: str | None = None
    certificate_authority_data: str | None = None
    insecure_skip_tls_verify: bool = False
    tls_server_name: str | None = None
    proxy_url: str | None = None
    disable_compression: bool = False
    extensions: list[Extension] | None = None


class EnvironmentVariable(Struct):
    name: str = ""
    value: str = ""


class ExecEntry(Struct, rename="camel"):
    api_version: str = ""
    command: str = ""
    args: list[str] | None = None
    env: list[EnvironmentVariable] | None = None
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class AuthProvider(Struct):
    name: str = ""


class User(Struct, rename="kebab"):
    client_certificate: str | None = None
    client_certificate_data: str | None = None
    client_key: str | None = None
    client_key_data: str | None = None
    token: str | None = None
    token_file: str | None = field(default=None, name="tokenFile")
    username: str | None = None
    password: str | None = None
    as_: str | None = field(default=None, name="as")
    as_uid: str | None = None
    as_groups: list[str] | None = None
    as_user_extra: dict[str, list[str]] | None = None
    exec: ExecEntry | None = None
    auth_provider: AuthProvider | None = None


class Context(Struct):
    cluster: str = ""
    user: str = ""
    namespace: str | None = None


class NamedCluster(Struct):
    name: str
    cluster: Cluster
    origin: Path = Path()


class NamedUser(Struct):
    name: str
    user: User | None = None
    origin: Path = Path()


class NamedContext(Struct):
    name: str
    context: Context
    origin: Path = Path()


class KubeconfigFile(Struct, rename="kebab"):
    current_context: str | None = None
    clusters: list[NamedCluster] | None = None
    users: list[NamedUser] | None = None
    contexts: list[NamedContext] | None = None


def parse_kubeconfig(path: Path) -> KubeconfigFile:
    """Raises `KubeconfigError` for a file that can't be read or is no kubeconfig."""
    data = read_file(path)
    try:
        document = yaml.load(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe
    except yaml.YAMLError as error:
        raise KubeconfigError(f"{path} is not YAML: {_where(error)}") from None  # the error quotes the file, tokens too
    if document is None:
        return KubeconfigFile()
    try:
        return msgspec.convert(_without_nulls(document), KubeconfigFile)
    except msgspec.ValidationError as error:
        raise KubeconfigError(f"{path} is not a kubeconfig: {error}") from error


def _without_nulls(value: object) -> object:
    """To kubectl, and the tools that write these files, a null is a field that is not set; plugins' own JSON stays."""
    if isinstance(value, dict):
        return {
            key: each if key == "extension" else _without_nulls(each) for key, each in value.items() if each is not None
        }
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


def read_file(path: Path, needed_by: str | None = None) -> bytes:
    """Raises `KubeconfigError` that names the file and, where given, the field that names it."""
    try:
        return path.read_bytes()
    except OSError as error:
        what = f"{needed_by}: {path}" if needed_by else str(path)
        raise KubeconfigError(f"{what}: {(error.strerror or str(error)).lower()}") from error


def _where(error: yaml.YAMLError) -> str:
    """What is wrong and where, without the lines around it."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f"{error.problem or 'it can not be read'}, line {mark.line + 1}, column {mark.column + 1}"
    return " ".join(str(error).split())
