"""The kubeconfig that lets kubectl, and anything else, in."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from kubewright.devcluster.certificates import Credentials
from kubewright.devcluster.private_files import private_directory, write_private

__all__ = ["kubeconfig", "write_kubeconfig"]


def kubeconfig(server: str, credentials: Credentials, *, name: str = "kubewright") -> dict[str, Any]:
    """A kubeconfig with one cluster, one user and one context, all called ``name``. ``server`` is a URL."""
    authority = base64.b64encode(credentials.ca).decode()
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": server, "certificate-authority-data": authority}}],
        "users": [{"name": name, "user": {"token": credentials.token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": "default"}}],
        "current-context": name,
    }


def write_kubeconfig(path: Path, server: str, credentials: Credentials, *, name: str = "kubewright") -> None:
    """Writes it, readable by its owner only."""
    import yaml  # noqa: PLC0415 - 20 ms that a cluster in process should not pay

    text = yaml.safe_dump(kubeconfig(server, credentials, name=name), sort_keys=False)
    private_directory(path.parent)
    write_private(path, text.encode())
