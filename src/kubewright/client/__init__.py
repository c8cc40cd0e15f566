"""Talking to a Kubernetes API server.

Start with `Client` (typed objects); `RestClient` is the same on raw JSON, `Transport` how requests get there, and
`kubeconfig` where a server's address and credentials come from.
"""

from kubewright.client.client import Client
from kubewright.client.credentials import BasicAuth, ClusterConfig, ConfigError, ExecPlugin
from kubewright.client.https import HttpsTransport
from kubewright.client.patches import JsonPatch, MergePatch, Patch, StrategicMergePatch
from kubewright.client.pod_exec import ExecResult, Output, Process
from kubewright.client.port_forward import ForwardedPort, PortConnection
from kubewright.client.rest import RestClient
from kubewright.client.transport import (
    CredentialError,
    HttpRequest,
    HttpResponse,
    StreamingResponse,
    Transport,
    TransportError,
    UpgradeRefused,
    WebSocket,
)
from kubewright.client.watch import WatchEvent

__all__ = [
    "BasicAuth",
    "Client",
    "ClusterConfig",
    "ConfigError",
    "CredentialError",
    "ExecPlugin",
    "ExecResult",
    "ForwardedPort",
    "HttpRequest",
    "HttpResponse",
    "HttpsTransport",
    "JsonPatch",
    "MergePatch",
    "Output",
    "Patch",
    "PortConnection",
    "Process",
    "RestClient",
    "StrategicMergePatch",
    "StreamingResponse",
    "Transport",
    "TransportError",
    "UpgradeRefused",
    "WatchEvent",
    "WebSocket",
]
