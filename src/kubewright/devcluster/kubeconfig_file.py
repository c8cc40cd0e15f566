"""The kubeconfig that lets kubectl, and anything else, in."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from kubewright.devcluster.credentials import Credentials
from kubewright.devcluster.private_files import private_directory, write_private

__all__ = ["write_kubeconfig"]

_TEXT = """\
apiVersion: v1
kind: Config
clusters:
- name: kubewright
  cluster:
    server: {server}
    certificate-authority-data: {authority}
users:
- name: kubewright
  user:
    token: {token}
contexts:
- name: kubewright
  context:
    cluster: kubewright
    user: kubewright
    namespace: default
current-context: kubewright
"""
"""Written out, since loading a library for YAML takes longer than all that a start writes. JSON's strings are YAML's."""


def write_kubeconfig(path: Path, server: str, credentials: Credentials) -> None:
    """Writes a kubeconfig with one cluster, one user and one context, readable by its owner only. ``server`` is a URL."""
    authority = base64.b64encode(credentials.ca).decode()
    text = _TEXT.format(server=json.dumps(server), authority=json.dumps(authority), token=json.dumps(credentials.token))
    private_directory(path.parent)
    write_private(path, text.encode())
