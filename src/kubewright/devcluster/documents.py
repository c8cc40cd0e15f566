"""`ServerDocuments`: all that the server says about itself: discovery, OpenAPI, version, health.

Answers are made when first asked for and kept until a kind comes or goes.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from kubewright.client.transport import SAFE_METHODS, HttpRequest, HttpResponse
from kubewright.devcluster import discovery, openapi_v2
from kubewright.devcluster.openapi_v3 import OpenApiV3
from kubewright.devcluster.protobuf import encode_document
from kubewright.devcluster.statuses import status_body

if TYPE_CHECKING:
    from kubewright.devcluster.catalog import Catalog

__all__ = ["KUBERNETES_VERSION", "PUBLIC_PATHS", "ServerDocuments"]

KUBERNETES_VERSION = "1.36"
"""The Kubernetes whose behaviour is served."""

PUBLIC_PATHS = frozenset({"/healthz", "/livez", "/readyz", "/version"})
"""What may be read without credentials."""

_JSON = "application/json"
_OPENAPI_V2 = "application/com.github.proto-openapi.spec.v2"
_PROTOBUF = f"{_OPENAPI_V2}.v1.0+protobuf"
_NOT_CACHED = {"cache-control": "no-cache, private"}


class ServerDocuments:
    """Answers the requests that concern no object.

    ``address`` is the host:port that ``/api`` names; empty for a server in process.
    """

    def __init__(self, catalog: Catalog, *, address: str = "") -> None:
        self._catalog = catalog
        self.address = address
        self._kept: dict[str, bytes] = {}
        self._openapi = OpenApiV3(catalog, version=KUBERNETES_VERSION)
        self._generation = catalog.generation

    def answer(self, request: HttpRequest) -> HttpResponse | None:
        """The answer; None where the path is that of an API resource, or nothing known."""
        if self._generation != self._catalog.generation:
            self._kept.clear()
            self._openapi = OpenApiV3(self._catalog, version=KUBERNETES_VERSION)
            self._generation = self._catalog.generation
        found = self._route(request)
        if found is not None and found.status != 404 and request.method not in SAFE_METHODS:
            message = "the server does not allow this method on the requested resource"
            return _status(405, "MethodNotAllowed", message)
        return found

    def _route(self, request: HttpRequest) -> HttpResponse | None:
        path = request.path
        match path.strip("/").split("/"):
            case [""]:
                return _json({"paths": self._paths()})
            case ["version"]:
                return _json(_version())
            case ["healthz" | "livez" | "readyz" as check, *rest] if rest in ([], ["ping"]):
                return _health(check, verbose=not rest and any(key == "verbose" for key, _ in request.query))
            case ["api"]:
                return self._discovery(request, core=True)
            case ["apis"]:
                return self._discovery(request, core=False)
            case ["api", version]:
                return self._resources("", version)
            case ["apis", group]:
                found = discovery.api_group(self._catalog, group)
                return _json(found) if found else _page_not_found()
            case ["apis", group, version]:
                return self._resources(group, version)
            case ["openapi", "v2"]:
                return self._openapi_v2(request)
            case ["openapi", "v3"]:
                return self._openapi_v3_index(request)
            case ["openapi", "v3", *_]:
                return self._openapi_v3(request, path.removeprefix("/openapi/v3/"))
            case ["api" | "apis", *_]:
                return None
            case _:
                return _json({"paths": self._paths()}, 404)

    def _keep(self, key: str, make: Callable[[], bytes]) -> bytes:
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def _paths(self) -> list[str]:
        groups = [
            path
            for group in self._catalog.groups()
            for path in (
                [f"/api/{version}" for version in group.versions]
                if not group.name
                else [f"/apis/{group.name}", *(f"/apis/{group.name}/{version}" for version in group.versions)]
            )
        ]
        return sorted({"/api", "/apis", "/openapi/v2", "/openapi/v3", *PUBLIC_PATHS, *groups})

    def _discovery(self, request: HttpRequest, *, core: bool) -> HttpResponse:
        if _wants_aggregated(request):
            body = self._keep(f"aggregated {core}", lambda: _encode(discovery.aggregated(self._catalog, core=core)))
            headers = {"content-type": discovery.AGGREGATED, "vary": "Accept", "cache-control": "public"}
            return _tagged(request, body, headers)
        if core:
            return _json(discovery.api_versions(self._catalog, address=self.address))
        return _json(discovery.api_group_list(self._catalog))

    def _resources(self, group: str, version: str) -> HttpResponse:
        found = discovery.api_resource_list(self._catalog, group, version)
        if found:
            return _json(found)
        built_in = any(each.info.group == group and not each.custom for each in self._catalog)
        return _not_found() if built_in or not group else _page_not_found()

    def _openapi_v2(self, request: HttpRequest) -> HttpResponse:
        for media_type, _ in _accepted(request):
            if media_type in {_JSON, "application/*", "*/*"}:
                body = self._keep("v2", lambda: _encode(self._swagger()))
                return _tagged(request, body, {"content-type": _JSON, "vary": "Accept", **_NOT_CACHED})
            if media_type in {_PROTOBUF, f"{_OPENAPI_V2}@v1.0+protobuf"}:
                body = self._keep("v2 protobuf", lambda: encode_document(self._swagger()))
                return _tagged(request, body, {"content-type": _PROTOBUF, "vary": "Accept", **_NOT_CACHED})
        return _not_acceptable()

    def _swagger(self) -> dict[str, Any]:
        return openapi_v2.document(self._catalog, version=KUBERNETES_VERSION)

    def _openapi_v3_index(self, request: HttpRequest) -> HttpResponse:
        def make() -> bytes:
            openapi = OpenApiV3(self._catalog, version=KUBERNETES_VERSION)
            return _encode(
                {"paths": {name: {"serverRelativeURL": _address(openapi, name)} for name in openapi.names()}}
            )

        return _tagged(request, self._keep("v3", make), {"content-type": _JSON, **_NOT_CACHED})

    def _openapi_v3(self, request: HttpRequest, name: str) -> HttpResponse:
        if not any(media_type in {_JSON, "application/*", "*/*"} for media_type, _ in _accepted(request)):
            return _not_acceptable()
        openapi = self._openapi
        if name not in openapi.names():
            return _not_found()
        headers = {"content-type": _JSON, "vary": "Accept", **_NOT_CACHED}
        if asked := dict(request.query).get("hash"):
            if asked != openapi.digest(name):
                return HttpResponse(301, {**headers, "location": _address(openapi, name)}, b"")
            headers["cache-control"] = "public, immutable"
            headers["expires"] = _FAR_FUTURE
        return _tagged(request, self._keep(f"v3 {name}", lambda: _encode(openapi.document(name))), headers)


_FAR_FUTURE = "Thu, 31 Dec 2099 23:59:59 GMT"


def _address(openapi: OpenApiV3, name: str) -> str:
    return f"/openapi/v3/{name}?hash={openapi.digest(name)}"


def _accepted(request: HttpRequest) -> Iterator[tuple[str, dict[str, str]]]:
    """The media types of the Accept header with their parameters, in the caller's order; anything where it has none."""
    for part in (request.headers.get("accept") or "*/*").split(","):
        media_type, *parameters = (each.strip() for each in part.split(";"))
        yield media_type.lower(), dict(each.partition("=")[::2] for each in parameters)


def _wants_aggregated(request: HttpRequest) -> bool:
    """Whether the first media type that can be served is the newer form of discovery."""
    for media_type, parameters in _accepted(request):
        if media_type in {_JSON, "*/*"}:
            asked = parameters.get("as")
            if asked is None:
                return False
            if (asked, parameters.get("g"), parameters.get("v")) == (
                "APIGroupDiscoveryList",
                "apidiscovery.k8s.io",
                "v2",
            ):
                return True
    return False


def _encode(value: Any) -> bytes:
    return msgspec.json.encode(value)


def _json(value: Any, status: int = 200) -> HttpResponse:
    return HttpResponse(status, {"content-type": _JSON, **_NOT_CACHED}, _encode(value))


def _text(status: int, text: str) -> HttpResponse:
    headers = {"content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff", **_NOT_CACHED}
    return HttpResponse(status, headers, text.encode())


def _page_not_found() -> HttpResponse:
    return _text(404, "404 page not found\n")


def _status(code: int, reason: str, message: str) -> HttpResponse:
    return _json(status_body(code, reason, message, details={}), code)


def _not_found() -> HttpResponse:
    return _status(404, "NotFound", "the server could not find the requested resource")


def _not_acceptable() -> HttpResponse:
    return HttpResponse(406, {"vary": "Accept", **_NOT_CACHED}, b"")


def _tagged(request: HttpRequest, body: bytes, headers: Mapping[str, str]) -> HttpResponse:
    """An answer that a client may keep: with an ETag, and without a body where the client has it already."""
    tag = f'"{hashlib.sha256(body).hexdigest().upper()}"'
    tagged = {**headers, "etag": tag}
    if tag in (request.headers.get("if-none-match") or ""):
        return HttpResponse(304, tagged, b"")
    return HttpResponse(200, tagged, body)


def _health(check: str, *, verbose: bool) -> HttpResponse:
    return _text(200, f"[+]ping ok\n{check} check passed\n" if verbose else "ok")


def _version() -> dict[str, str]:
    major, minor = KUBERNETES_VERSION.split(".")
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine().lower())
    return {
        "major": major,
        "minor": minor,
        "gitVersion": f"v{KUBERNETES_VERSION}.0+kubewright",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": platform.python_implementation().lower(),
        "platform": f"{platform.system().lower()}/{machine}",
    }
