"""An API server of its own for each test, and a terse way to talk to it."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from kubewright.client.transport import HttpRequest, HttpResponse, StreamingResponse
from kubewright.devcluster.api_server import ApiServer
from tests.clocks import SetClock

DATABASES = "/apis/apps.example.com/v1alpha1/namespaces/default/databases"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CONTENT_TYPES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: Any

    @property
    def message(self) -> str:
        text: str = self.body["message"]
        return text

    @property
    def version(self) -> str:
        text: str = self.body["metadata"]["resourceVersion"]
        return text


class Api:
    """Requests to one server; watches are read through `watch`."""

    def __init__(self, server: ApiServer, clock: SetClock) -> None:
        self.server = server
        self.clock = clock

    def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        accept: str = "",
        **query: str,
    ) -> Reply:
        headers = {"user-agent": "test/1.0"}
        if body is not None:
            headers["content-type"] = content_type
        if accept:
            headers["accept"] = accept
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        answer = self.server.answer(HttpRequest(method, path, tuple(query.items()), headers, data))
        assert isinstance(answer, HttpResponse)
        kind = answer.headers["content-type"]
        return Reply(
            answer.status, dict(answer.headers), json.loads(answer.body) if kind == "application/json" else answer.body
        )

    def get(self, path: str, **query: str) -> Reply:
        return self("GET", path, **query)

    def post(self, path: str, body: Any, **query: str) -> Reply:
        return self("POST", path, body, **query)

    def put(self, path: str, body: Any, **query: str) -> Reply:
        return self("PUT", path, body, **query)

    def patch(self, path: str, body: Any, kind: str = "merge", **query: str) -> Reply:
        return self("PATCH", path, body, content_type=CONTENT_TYPES[kind], **query)

    def delete(self, path: str, body: Any = None, **query: str) -> Reply:
        return self("DELETE", path, body, **query)

    def names(self, path: str, **query: str) -> list[str]:
        return [item["metadata"]["name"] for item in self.get(path, **query).body["items"]]

    def watch(self, path: str, accept: str = "", **query: str) -> AsyncIterator[bytes]:
        options = (("watch", "true"), *query.items())
        headers = {"user-agent": "test/1.0", **({"accept": accept} if accept else {})}
        answer = self.server.answer(HttpRequest("GET", path, options, headers))
        assert isinstance(answer, StreamingResponse)
        return answer.chunks

    async def events(self, path: str, count: int, **query: str) -> list[tuple[str, dict[str, Any]]]:
        """The first ``count`` events of a watch."""
        found: list[tuple[str, dict[str, Any]]] = []
        chunks = self.watch(path, **query)
        async for chunk in chunks:
            found += [(event["type"], event["object"]) for event in map(json.loads, chunk.splitlines())]
            if len(found) >= count:
                break
        await chunks.aclose()  # type: ignore[attr-defined]  # it is a generator
        return found


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def make_server(clock: SetClock) -> Callable[..., Api]:
    def make(**options: Any) -> Api:
        return Api(ApiServer(clock=clock, rng=random.Random(1), **options), clock)

    return make


@pytest.fixture
def api(make_server: Callable[..., Api]) -> Api:
    return make_server()


def database_definition(*versions: str) -> dict[str, Any]:
    """The definition of Databases; the last version is the one they are kept in."""
    names = versions or ("v1alpha1",)
    spec = {
        "type": "object",
        "required": ["engine"],
        "properties": {
            "engine": {"type": "string", "enum": ["postgres", "mysql"]},
            "replicas": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 10, "default": 1},
            "version": {"type": "string"},
        },
    }
    condition = {
        "type": "object",
        "required": ["type", "status"],
        "properties": {"type": {"type": "string"}, "status": {"type": "string"}},
    }
    status = {
        "type": "object",
        "properties": {
            "phase": {"type": "string"},
            "readyReplicas": {"type": "integer"},
            "conditions": {
                "type": "array",
                "items": condition,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["type"],
            },
        },
    }
    schema = {"type": "object", "properties": {"spec": spec, "status": status}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "databases.apps.example.com"},
        "spec": {
            "group": "apps.example.com",
            "scope": "Namespaced",
            "names": {"plural": "databases", "kind": "Database", "shortNames": ["db"]},
            "versions": [
                {
                    "name": name,
                    "served": True,
                    "storage": name == names[-1],
                    "schema": {"openAPIV3Schema": schema},
                    "subresources": {
                        "status": {},
                        "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.readyReplicas"},
                    },
                    "additionalPrinterColumns": [{"name": "Engine", "type": "string", "jsonPath": ".spec.engine"}],
                    "selectableFields": [{"jsonPath": ".spec.engine"}],
                }
                for name in names
            ],
        },
    }


def database(name: str, *, metadata: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apps.example.com/v1alpha1",
        "kind": "Database",
        "metadata": {"name": name, **(metadata or {})},
        "spec": {"engine": "postgres", **spec},
    }


@dataclass(frozen=True)
class Samples:
    """What tests are written with."""

    definition: Callable[..., dict[str, Any]] = database_definition
    database: Callable[..., dict[str, Any]] = database
    databases: str = DATABASES
    definitions: str = DEFINITIONS


@pytest.fixture
def samples() -> Samples:
    return Samples()


@pytest.fixture
def databases(api: Api, samples: Samples) -> Api:
    """A server that serves Databases."""
    assert api.post(DEFINITIONS, database_definition()).status == 201
    return api
