from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubewright.client.transport import HttpRequest, HttpResponse
from kubewright.devcluster import discovery
from kubewright.devcluster.catalog import Catalog
from kubewright.devcluster.documents import ServerDocuments

KUBECTL = (
    f"{discovery.AGGREGATED},application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
)
PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"


@pytest.fixture
def documents(catalog: Catalog) -> ServerDocuments:
    return ServerDocuments(catalog, address="127.0.0.1:6443")


def get(documents: ServerDocuments, path: str, *, accept: str = "", **headers: str) -> HttpResponse:
    path, _, query = path.partition("?")
    pairs = tuple((key, value) for key, _, value in (each.partition("=") for each in query.split("&") if each))
    sent = {
        **({"accept": accept} if accept else {}),
        **{key.replace("_", "-"): value for key, value in headers.items()},
    }
    found = documents.answer(HttpRequest("GET", path, pairs, sent))
    assert found is not None, path
    return found


def body(response: HttpResponse) -> Any:
    return msgspec.json.decode(response.body)


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/healthz/ping"])
def test_health_is_ok(documents: ServerDocuments, path: str) -> None:
    response = get(documents, path)
    assert (response.status, response.body) == (200, b"ok")
    assert response.headers["content-type"] == "text/plain; charset=utf-8"


def test_health_tells_its_checks_when_asked(documents: ServerDocuments) -> None:
    assert get(documents, "/readyz?verbose").body == b"[+]ping ok\nreadyz check passed\n"


def test_the_version_is_one_that_kubectl_can_compare(documents: ServerDocuments) -> None:
    found = body(get(documents, "/version"))
    assert (found["major"], found["minor"]) == ("1", "36")
    assert found["gitVersion"].startswith("v1.36.")


def test_the_root_lists_paths(documents: ServerDocuments) -> None:
    assert {"/api/v1", "/apis/apps/v1", "/openapi/v3", "/version"} <= set(body(get(documents, "/"))["paths"])


@pytest.mark.parametrize("accept", ["", "*/*", "application/json", "application/json, */*", "text/html"])
def test_discovery_is_legacy_unless_the_newer_form_is_asked_for(documents: ServerDocuments, accept: str) -> None:
    assert body(get(documents, "/apis", accept=accept))["kind"] == "APIGroupList"
    assert body(get(documents, "/api", accept=accept))["kind"] == "APIVersions"


@pytest.mark.parametrize("path", ["/api", "/apis"])
def test_kubectl_gets_the_newer_form(documents: ServerDocuments, path: str) -> None:
    response = get(documents, path, accept=KUBECTL)
    assert body(response)["kind"] == "APIGroupDiscoveryList"
    assert response.headers["content-type"] == discovery.AGGREGATED


def test_a_form_that_is_not_known_is_passed_over(documents: ServerDocuments) -> None:
    accept = "application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList,application/json"
    assert body(get(documents, "/apis", accept=accept))["kind"] == "APIGroupList"


def test_unknown_groups_and_versions_are_not_found(documents: ServerDocuments) -> None:
    assert get(documents, "/apis/nope").body == b"404 page not found\n"
    response = get(documents, "/apis/apps/v9")
    assert response.status == 404
    assert body(response) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "the server could not find the requested resource",
        "reason": "NotFound",
        "details": {},
        "code": 404,
    }


def test_documents_can_only_be_read(documents: ServerDocuments) -> None:
    response = documents.answer(HttpRequest("POST", "/apis"))
    assert response is not None
    assert response.status == 405
    assert body(response)["reason"] == "MethodNotAllowed"


@pytest.mark.parametrize("path", ["/api/v1/namespaces", "/apis/apps/v1/statefulsets"])
def test_everything_else_is_left_to_others(documents: ServerDocuments, path: str) -> None:
    assert documents.answer(HttpRequest("GET", path)) is None


@pytest.mark.parametrize("path", ["/elsewhere", "/healthz/nope"])
def test_a_path_of_no_api_is_answered_with_the_paths_that_are(documents: ServerDocuments, path: str) -> None:
    response = documents.answer(HttpRequest("GET", path))
    assert response is not None
    assert response.status == 404
    assert "/apis" in body(response)["paths"]


@pytest.mark.parametrize("accept", [PROTOBUF, "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"])
def test_openapi_v2_is_protobuf_for_those_who_ask(documents: ServerDocuments, accept: str) -> None:
    response = get(documents, "/openapi/v2", accept=accept)
    assert response.headers["content-type"] == PROTOBUF
    assert response.body.startswith(b"\x0a\x032.0")


@pytest.mark.parametrize("accept", ["", "application/json", "text/html, */*"])
def test_openapi_v2_is_json_otherwise(documents: ServerDocuments, accept: str) -> None:
    assert body(get(documents, "/openapi/v2", accept=accept))["swagger"] == "2.0"


@pytest.mark.parametrize("path", ["/openapi/v2", "/openapi/v3/api/v1"])
def test_openapi_in_another_form_is_not_acceptable(documents: ServerDocuments, path: str) -> None:
    assert get(documents, path, accept="text/plain").status == 406


def test_what_a_client_has_already_is_not_sent_again(documents: ServerDocuments) -> None:
    first = get(documents, "/openapi/v2")
    again = get(documents, "/openapi/v2", if_none_match=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")


def test_the_v3_index_leads_to_documents_that_may_be_kept(documents: ServerDocuments) -> None:
    index = body(get(documents, "/openapi/v3"))["paths"]
    response = get(documents, index["apis/apps/v1"]["serverRelativeURL"])
    assert body(response)["openapi"] == "3.0.0"
    assert response.headers["cache-control"] == "public, immutable"


def test_an_outdated_hash_leads_to_the_document_of_now(documents: ServerDocuments) -> None:
    response = get(documents, "/openapi/v3/apis/apps/v1?hash=00")
    assert response.status == 301
    assert get(documents, response.headers["location"]).status == 200


def test_a_v3_document_that_is_not_there_is_not_found(documents: ServerDocuments) -> None:
    assert get(documents, "/openapi/v3/apis/nope/v1").status == 404


def test_all_documents_follow_the_catalog(catalog: Catalog, documents: ServerDocuments) -> None:
    paths = ["/openapi/v2", "/openapi/v3", "/openapi/v3/apis/apps/v1"]
    before = {path: get(documents, path).body for path in paths}
    aggregated = get(documents, "/apis", accept=KUBECTL).body
    catalog.remove("apps.example.com", "databases")
    after = {path: get(documents, path).body for path in paths}
    assert {path for path in paths if before[path] != after[path]} == {"/openapi/v2", "/openapi/v3"}
    assert b"databases" in aggregated
    assert b"databases" not in get(documents, "/apis", accept=KUBECTL).body
