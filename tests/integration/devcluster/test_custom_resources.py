"""The life of a CustomResourceDefinition and of what it defines."""

from __future__ import annotations

from typing import Any

NAME = "databases.apps.example.com"


def conditions(obj: dict[str, Any]) -> dict[str, tuple[str, str]]:
    found = obj["status"]["conditions"] or []
    return {each["type"]: (each["status"], each["reason"]) for each in found}


async def test_a_definition_is_served_at_once_and_its_history_is_the_real_one(api: Any, samples: Any) -> None:
    version = api.get(samples.definitions).version
    created = api.post(samples.definitions, samples.definition())
    assert created.body["status"] == {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": ["v1alpha1"],
    }
    assert api.post(samples.databases, samples.database("a")).status == 201
    events = await api.events(samples.definitions, 3, resourceVersion=version)
    assert [(type_, conditions(obj)) for type_, obj in events] == [
        ("ADDED", {}),
        ("MODIFIED", {"NamesAccepted": ("True", "NoConflicts"), "Established": ("False", "Installing")}),
        ("MODIFIED", {"NamesAccepted": ("True", "NoConflicts"), "Established": ("True", "InitialNamesAccepted")}),
    ]
    assert events[-1][1]["status"]["acceptedNames"]["listKind"] == "DatabaseList"


def test_a_name_that_is_taken_is_not_accepted_until_it_is_free(databases: Any, samples: Any) -> None:
    other = samples.definition()
    other["metadata"]["name"] = "dbs.apps.example.com"
    other["spec"]["names"]["plural"] = "dbs"
    databases.post(samples.definitions, other)
    path = f"{samples.definitions}/dbs.apps.example.com"
    refused = databases.get(path).body
    assert conditions(refused) == {
        "NamesAccepted": ("False", "ListKindConflict"),
        "Established": ("False", "NotAccepted"),
    }
    assert databases.get("/apis/apps.example.com/v1alpha1/dbs").status == 404
    databases.delete(f"{samples.definitions}/{NAME}")
    assert conditions(databases.get(path).body)["Established"] == ("True", "InitialNamesAccepted")
    assert databases.get("/apis/apps.example.com/v1alpha1/dbs").status == 200


async def test_a_deleted_definition_takes_its_objects_along(databases: Any, samples: Any) -> None:
    databases.post(samples.databases, samples.database("a"))
    databases.post(samples.databases, samples.database("held", metadata={"finalizers": ["example.com/clean"]}))
    version = databases.get(samples.definitions).version
    path = f"{samples.definitions}/{NAME}"
    answered = databases.delete(path).body
    assert answered["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    assert conditions(answered)["Terminating"] == ("True", "InstanceDeletionPending")
    assert databases.names(samples.databases) == ["held"]
    refused = databases.post(samples.databases, samples.database("new"))
    assert refused.message == (
        'databases.apps.example.com "new" is forbidden: create not allowed while custom resource definition is terminating'
    )
    databases.patch(f"{samples.databases}/held", {"metadata": {"finalizers": None}})
    assert databases.get(path).status == 404
    assert databases.get(samples.databases).body == b"404 page not found\n"
    events = await databases.events(samples.definitions, 3, resourceVersion=version)
    assert [(type_, conditions(obj)["Terminating"][1]) for type_, obj in events] == [
        ("MODIFIED", "InstanceDeletionPending"),
        ("MODIFIED", "InstanceDeletionInProgress"),
        ("DELETED", "InstanceDeletionInProgress"),
    ]


def test_definition_and_objects_can_come_again(databases: Any, samples: Any) -> None:
    databases.post(samples.databases, samples.database("a"))
    databases.delete(f"{samples.definitions}/{NAME}")
    assert databases.post(samples.definitions, samples.definition()).status == 201
    assert databases.names(samples.databases) == []


def test_an_object_is_served_in_every_version(api: Any, samples: Any) -> None:
    api.post(samples.definitions, samples.definition("v1alpha1", "v1"))
    created = api.post(samples.databases, samples.database("a")).body
    assert created["apiVersion"] == "apps.example.com/v1alpha1"
    newer = api.get("/apis/apps.example.com/v1/namespaces/default/databases/a").body
    assert newer["apiVersion"] == "apps.example.com/v1"
    assert {**newer, "apiVersion": ""} == {**created, "apiVersion": ""}
    assert api.get(samples.databases).body["items"][0]["apiVersion"] == "apps.example.com/v1alpha1"
    assert api.patch(f"{samples.databases}/a", {"spec": {"replicas": 1}}).body == created, "changes nothing"


def test_a_new_default_shows_in_objects_that_are_stored(databases: Any, samples: Any) -> None:
    databases.post(samples.databases, samples.database("a"))
    where = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/version/default"
    reply = databases.patch(f"{samples.definitions}/{NAME}", [{"op": "add", "path": where, "value": "16"}], "json")
    assert reply.body["metadata"]["generation"] == 2
    assert databases.get(f"{samples.databases}/a").body["spec"]["version"] == "16"
    assert databases.get(samples.databases).body["items"][0]["spec"]["version"] == "16"


def test_a_version_that_was_stored_stays_until_its_objects_are_migrated(databases: Any, samples: Any) -> None:
    path = f"{samples.definitions}/{NAME}"
    version = databases.get(path).body["spec"]["versions"][0]
    added = [
        {"op": "replace", "path": "/spec/versions/0/storage", "value": False},
        {"op": "add", "path": "/spec/versions/-", "value": {**version, "name": "v1"}},
    ]
    assert databases.patch(path, added, "json").body["status"]["storedVersions"] == ["v1alpha1", "v1"]
    refused = databases.patch(path, [{"op": "remove", "path": "/spec/versions/0"}], "json")
    assert "v1alpha1 was previously a storage version, and must remain in spec.versions" in refused.message
    assert databases.patch(f"{path}/status", {"status": {"storedVersions": ["v1"]}}).status == 200
    assert databases.patch(path, [{"op": "remove", "path": "/spec/versions/0"}], "json").status == 200
    assert (
        databases.get(samples.databases).body == b"404 page not found\n"
        or databases.get(samples.databases).status == 404
    )
    assert databases.get("/apis/apps.example.com/v1/databases").status == 200


def test_what_is_wrong_with_a_definition_is_said_as_the_server_says_it(api: Any, samples: Any) -> None:
    def refusal(change: Any) -> str:
        body = samples.definition()
        change(body["spec"], body["spec"]["versions"][0])
        reply = api.post(samples.definitions, body)
        assert reply.status == 422
        return str(reply.message).partition(" is invalid: ")[2]

    assert refusal(lambda spec, _: spec.update(scope="Galaxy")) == (
        'spec.scope: Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced"'
    )
    assert refusal(lambda spec, _: spec["names"].update(plural="dbs")) == (
        'metadata.name: Invalid value: "databases.apps.example.com": must be spec.names.plural+"."+spec.group'
    )
    assert refusal(lambda _, version: version.pop("schema")) == (
        "[spec.versions[0].schema.openAPIV3Schema: Required value, "
        'spec.selectableFields[0].jsonPath: Invalid value: ".spec.engine": is an invalid path: '
        "does not refer to a valid field]"
    )
    assert "must have exactly one version marked as storage version" in refusal(
        lambda _, version: version.update(storage=False)
    )
    assert refusal(lambda _, version: version["schema"]["openAPIV3Schema"]["properties"].update(x={})) == (
        "spec.validation.openAPIV3Schema.properties[x].type: Required value: must not be empty for specified object fields"
    )
    assert refusal(lambda _, version: version["subresources"]["scale"].update(specReplicasPath="spec.x")) == (
        'spec.subresources.scale.specReplicasPath: Invalid value: "spec.x": must be a simple json path starting with .'
    )


def test_what_a_definition_is_about_can_not_be_changed(databases: Any, samples: Any) -> None:
    path = f"{samples.definitions}/{NAME}"
    for change in ({"scope": "Cluster"}, {"group": "other.example.com"}, {"names": {"kind": "Base"}}):
        assert databases.patch(path, {"spec": change}).message.endswith("field is immutable")


def test_discovery_follows_the_definitions(databases: Any, samples: Any) -> None:
    listed = databases.get("/apis/apps.example.com/v1alpha1").body["resources"]
    assert [each["name"] for each in listed] == ["databases", "databases/status", "databases/scale"]
    assert listed[0]["shortNames"] == ["db"]
    databases.delete(f"{samples.definitions}/{NAME}")
    assert databases.get("/apis/apps.example.com/v1alpha1").status == 404
