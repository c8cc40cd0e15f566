"""Talking to a Kubernetes API server.

Start with `Client` (typed objects, and those of kinds that have no class); `Discovery` says which kinds there are,
`RestClient` is the same on raw JSON, `Transport` how requests get there, and `kubeconfig` where a server's address and
credentials come from.
"""

from kubewright.client.client import Client
from kubewright.client.credentials import BasicAuth, ClusterConfig, ConfigError, ExecPlugin
from kubewright.client.discovery import ApiResource, ApiSubresource, Discovery, UnknownKind
from kubewright.client.fence import Fence, FencedTransport
from kubewright.client.https import HttpsTransport
from kubewright.client.patches import JsonPatch, MergePatch, Patch, StrategicMergePatch
from kubewright.client.pod_exec import ExecResult, Output, Process
from kubewright.client.port_forward import ForwardedPort, PortConnection
from kubewright.client.reader import Page
from kubewright.client.requests import WriteOptions
from kubewright.client.rest import RestClient
from kubewright.client.subresource import Subresource
from kubewright.client.transport import (
    CredentialError,
    HttpRequest,
    HttpResponse,
    NotLeading,
    StreamingResponse,
    Transport,
    TransportError,
    UpgradeRefused,
    WebSocket,
)
from kubewright.client.watch import WatchEvent

__all__ = [
    "ApiResource",
    "ApiSubresource",
    "BasicAuth",
    "Client",
    "ClusterConfig",
    "ConfigError",
    "CredentialError",
    "Discovery",
    "ExecPlugin",
    "ExecResult",
    "Fence",
    "FencedTransport",
    "ForwardedPort",
    "HttpRequest",
    "HttpResponse",
    "HttpsTransport",
    "JsonPatch",
    "MergePatch",
    "NotLeading",
    "Output",
    "Page",
    "Patch",
    "PortConnection",
    "Process",
    "RestClient",
    "StrategicMergePatch",
    "StreamingResponse",
    "Subresource",
    "Transport",
    "TransportError",
    "UnknownKind",
    "UpgradeRefused",
    "WatchEvent",
    "WebSocket",
    "WriteOptions",
]
