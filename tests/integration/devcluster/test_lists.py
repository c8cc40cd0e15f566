"""Lists: selectors, pages, old revisions, tables."""

from __future__ import annotations

from typing import Any

import pytest

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
def five(databases: Any, samples: Any) -> Any:
    for number, name in enumerate("abcde"):
        labels = {"even": str(number % 2 == 0).lower(), "name": name}
        databases.post(
            samples.databases,
            samples.database(name, metadata={"labels": labels}, engine="mysql" if name == "c" else "postgres"),
        )
    return databases


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"labelSelector": "even=true"}, "ace"),
        ({"labelSelector": "even!=true"}, "bd"),
        ({"labelSelector": "name in (a,b),even"}, "ab"),
        ({"labelSelector": "name notin (a,b)"}, "cde"),
        ({"labelSelector": "!even"}, ""),
        ({"fieldSelector": "metadata.name=d"}, "d"),
        ({"fieldSelector": "metadata.name!=d,metadata.namespace=default"}, "abce"),
        ({"fieldSelector": "spec.engine=mysql"}, "c"),
    ],
)
def test_selectors_choose(five: Any, samples: Any, query: dict[str, str], expected: str) -> None:
    assert five.names(samples.databases, **query) == list(expected)


def test_selectors_that_mean_nothing_are_refused(five: Any, samples: Any) -> None:
    assert (
        five.get(samples.databases, fieldSelector="spec.replicas=1").message
        == "field label not supported: spec.replicas"
    )
    assert five.get(samples.databases, labelSelector="a b").status == 400
    message = '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"'
    assert five.get(CONFIG_MAPS, fieldSelector="data.x=1").message == message


def test_pages_show_one_revision_while_objects_change(five: Any, samples: Any) -> None:
    first = five.get(samples.databases, limit="2").body
    assert first["metadata"]["remainingItemCount"] == 3
    five.delete(f"{samples.databases}/d")
    five.post(samples.databases, samples.database("f"))
    second = five.get(samples.databases, limit="2", **{"continue": first["metadata"]["continue"]}).body
    third = five.get(samples.databases, limit="2", **{"continue": second["metadata"]["continue"]}).body
    names = [item["metadata"]["name"] for page in (first, second, third) for item in page["items"]]
    assert names == list("abcde")
    assert second["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    assert third["metadata"]["continue"] == ""


def test_a_page_of_a_forgotten_revision_can_go_on_inconsistently(five: Any, samples: Any) -> None:
    token = five.get(samples.databases, limit="2").body["metadata"]["continue"]
    five.post(samples.databases, samples.database("f"))
    five.server.store.compact(five.server.store.revision)
    refused = five.get(samples.databases, limit="2", **{"continue": token})
    assert (refused.status, refused.body["reason"]) == (410, "Expired")
    rest = five.names(samples.databases, **{"continue": refused.body["metadata"]["continue"]})
    assert rest == list("cdef")


def test_broken_continue_tokens_are_refused(five: Any, samples: Any) -> None:
    for token in ("foo", "e30"):
        reply = five.get(samples.databases, **{"continue": token})
        assert (reply.status, reply.message[:23]) == (400, "invalid continue token:")


def test_a_list_can_be_read_as_of_an_older_revision(five: Any, samples: Any) -> None:
    version = five.get(f"{samples.databases}/b").version
    exact = {"resourceVersion": version, "resourceVersionMatch": "Exact"}
    assert five.names(samples.databases, **exact) == ["a", "b"]
    assert five.names(samples.databases, resourceVersion=version, resourceVersionMatch="NotOlderThan") == list("abcde")
    assert five.names(samples.databases, resourceVersion="0") == list("abcde")
    five.server.store.compact(five.server.store.revision)
    assert five.get(samples.databases, **exact).status == 410


def test_a_revision_that_does_not_exist_yet_is_refused(five: Any, samples: Any) -> None:
    future = str(five.server.store.revision + 1)
    reply = five.get(samples.databases, resourceVersion=future)
    assert (reply.status, reply.headers["retry-after"]) == (504, "1")
    assert reply.body["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"


def test_items_say_what_they_are_only_in_custom_lists(five: Any, samples: Any) -> None:
    assert five.get(samples.databases).body["items"][0]["kind"] == "Database"
    five.post(CONFIG_MAPS, {"metadata": {"name": "x"}})
    listed = five.get(CONFIG_MAPS).body
    assert listed["kind"] == "ConfigMapList"
    assert "kind" not in listed["items"][0]


def test_a_table_has_the_definitions_columns(five: Any, samples: Any) -> None:
    table = five("GET", samples.databases, accept=TABLE, limit="2").body
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Engine"]
    assert [row["cells"] for row in table["rows"]] == [["a", "postgres"], ["b", "postgres"]]
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    assert table["metadata"]["remainingItemCount"] == 3


def test_metadata_can_be_had_alone(five: Any, samples: Any) -> None:
    accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    listed = five("GET", samples.databases, accept=accept).body
    assert listed["kind"] == "PartialObjectMetadataList"
    assert all("spec" not in item for item in listed["items"])
    assert five("GET", f"{samples.databases}/a", accept=accept).status == 500
