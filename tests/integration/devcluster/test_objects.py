"""Creating, reading, changing and deleting objects, as a real server answers it."""

from __future__ import annotations

from typing import Any

import pytest

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def test_a_created_object_has_what_only_the_server_sets(databases: Any, samples: Any) -> None:
    reply = databases.post(samples.databases, samples.database("a", metadata={"uid": "mine", "generation": 9}))
    assert reply.status == 201
    metadata = reply.body["metadata"]
    assert metadata["generation"] == 1
    assert metadata["namespace"] == "default"
    assert metadata["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert len(metadata["uid"]) == 36
    assert reply.body["spec"] == {"engine": "postgres", "replicas": 1}
    assert metadata["managedFields"][0]["manager"] == "test"
    assert reply.headers["cache-control"] == "no-cache, private"
    assert len(reply.headers["audit-id"]) == 36


def test_a_second_object_of_the_name_is_refused(databases: Any, samples: Any) -> None:
    databases.post(samples.databases, samples.database("a"))
    reply = databases.post(samples.databases, samples.database("a"))
    assert reply.status == 409
    assert reply.body["reason"] == "AlreadyExists"
    assert reply.message == 'databases.apps.example.com "a" already exists'
    assert reply.body["details"] == {"name": "a", "group": "apps.example.com", "kind": "databases"}


def test_a_generated_name_keeps_its_prefix(databases: Any, samples: Any) -> None:
    body = samples.database("")
    body["metadata"] = {"generateName": "db-"}
    names = {databases.post(samples.databases, body).body["metadata"]["name"] for _ in range(5)}
    assert len(names) == 5
    assert all(name.startswith("db-") and len(name) == 8 for name in names)


def test_all_that_is_wrong_with_an_object_is_said_at_once(databases: Any, samples: Any) -> None:
    reply = databases.post(samples.databases, samples.database("Bad_Name", engine="oracle", replicas=0))
    assert reply.status == 422
    fields = [cause["field"] for cause in reply.body["details"]["causes"]]
    assert (fields[0], sorted(fields[1:])) == ("metadata.name", ["spec.engine", "spec.replicas"])
    assert 'spec.engine: Unsupported value: "oracle": supported values: "postgres", "mysql"' in reply.message
    assert "spec.replicas in body should be greater than or equal to 1" in reply.message


@pytest.mark.parametrize(
    ("validation", "status", "warned"),
    [("Strict", 400, False), ("Warn", 201, True), ("Ignore", 201, False), ("", 201, True)],
)
def test_an_unknown_field_is_refused_warned_of_or_dropped(
    databases: Any, samples: Any, validation: str, status: int, warned: bool
) -> None:
    query = {"fieldValidation": validation} if validation else {}
    reply = databases.post(samples.databases, samples.database("a", colour="red"), **query)
    assert reply.status == status
    assert (reply.headers.get("warning") == '299 - "unknown field \\"spec.colour\\""') is warned
    if status == 400:
        assert reply.message.endswith('strict decoding error: unknown field "spec.colour"')
    else:
        assert "colour" not in reply.body["spec"]


def test_a_dry_run_answers_and_stores_nothing(databases: Any, samples: Any) -> None:
    before = databases.server.store.revision
    reply = databases.post(samples.databases, samples.database("a"), dryRun="All")
    assert reply.status == 201
    assert "resourceVersion" not in reply.body["metadata"]
    assert databases.server.store.revision == before
    databases.post(samples.databases, samples.database("b"))
    assert (
        databases.patch(f"{samples.databases}/b", {"spec": {"replicas": 3}}, dryRun="All").body["spec"]["replicas"] == 3
    )
    assert databases.delete(f"{samples.databases}/b", dryRun="All").status == 200
    assert databases.get(f"{samples.databases}/b").body["spec"]["replicas"] == 1


def test_an_object_for_a_namespace_that_is_not_there_is_refused(databases: Any, samples: Any) -> None:
    reply = databases.post(samples.databases.replace("default", "nope"), samples.database("a"))
    assert (reply.status, reply.message) == (404, 'namespaces "nope" not found')
    assert reply.body["details"] == {"name": "nope", "kind": "namespaces"}


def test_a_read_after_a_write_sees_it(databases: Any, samples: Any) -> None:
    written = databases.post(samples.databases, samples.database("a")).body
    assert databases.get(f"{samples.databases}/a").body == written
    assert databases.get(samples.databases).body["items"] == [written]


def test_a_stale_update_conflicts(databases: Any, samples: Any) -> None:
    old = databases.post(samples.databases, samples.database("a")).body
    path = f"{samples.databases}/a"
    assert databases.put(path, {**old, "spec": {**old["spec"], "replicas": 2}}).status == 200
    reply = databases.put(path, {**old, "spec": {**old["spec"], "replicas": 3}})
    assert (reply.status, reply.body["reason"]) == (409, "Conflict")
    assert reply.message.endswith("please apply your changes to the latest version and try again")
    stale = [{"op": "replace", "path": "/metadata/resourceVersion", "value": old["metadata"]["resourceVersion"]}]
    assert databases.patch(path, stale, "json").status == 409


def test_a_custom_resource_is_not_replaced_without_a_resource_version(databases: Any, samples: Any) -> None:
    databases.post(samples.databases, samples.database("a"))
    reply = databases.put(f"{samples.databases}/a", samples.database("a", replicas=2))
    assert reply.status == 422
    assert "metadata.resourceVersion: Invalid value: 0: must be specified for an update" in reply.message


def test_a_config_map_is(api: Any) -> None:
    api.post(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"x": "1"}})
    reply = api.put(f"{CONFIG_MAPS}/a", {"metadata": {"name": "a"}, "data": {"x": "2"}})
    assert (reply.status, reply.body["data"]) == (200, {"x": "2"})


def test_a_write_that_changes_nothing_keeps_the_resource_version(databases: Any, samples: Any) -> None:
    written = databases.post(samples.databases, samples.database("a")).body
    path = f"{samples.databases}/a"
    databases.clock.move(100)
    assert databases.put(path, written).body == written
    assert databases.patch(path, {"spec": {"replicas": 1}}).body == written
    assert databases.patch(path, [], "json").body == written
    assert databases.get(samples.databases).version == written["metadata"]["resourceVersion"]


def test_generation_counts_changes_of_the_spec_only(databases: Any, samples: Any) -> None:
    databases.post(samples.databases, samples.database("a"))
    path = f"{samples.databases}/a"
    assert databases.patch(path, {"metadata": {"labels": {"a": "b"}}}).body["metadata"]["generation"] == 1
    assert databases.patch(path, {"spec": {"replicas": 2}}).body["metadata"]["generation"] == 2
    assert databases.patch(f"{path}/status", {"status": {"phase": "Running"}}).body["metadata"]["generation"] == 2


def test_status_and_spec_are_written_apart(databases: Any, samples: Any) -> None:
    body = {**samples.database("a"), "status": {"phase": "Mine"}}
    assert "status" not in databases.post(samples.databases, body).body
    path = f"{samples.databases}/a"
    changed = databases.patch(f"{path}/status", {"spec": {"replicas": 9}, "status": {"phase": "Running"}}).body
    assert (changed["spec"]["replicas"], changed["status"]) == (1, {"phase": "Running"})
    changed = databases.patch(path, {"spec": {"replicas": 2}, "status": {"phase": "Gone"}}).body
    assert (changed["spec"]["replicas"], changed["status"]) == (2, {"phase": "Running"})
    entries = {(each["manager"], each.get("subresource")) for each in changed["metadata"]["managedFields"]}
    assert entries == {("test", None), ("test", "status")}


def test_scale_reads_and_writes_the_declared_paths(databases: Any, samples: Any) -> None:
    databases.post(samples.databases, samples.database("a"))
    path = f"{samples.databases}/a"
    databases.patch(f"{path}/status", {"status": {"readyReplicas": 1}})
    scale = databases.get(f"{path}/scale").body
    assert (scale["kind"], scale["spec"], scale["status"]) == ("Scale", {"replicas": 1}, {"replicas": 1})
    assert databases.put(f"{path}/scale", {**scale, "spec": {"replicas": 4}}).body["spec"] == {"replicas": 4}
    assert databases.put(f"{path}/scale", {**scale, "spec": {"replicas": 5}}).status == 409
    assert databases.patch(f"{path}/scale", {"spec": {"replicas": 6}}).status == 200
    assert databases.get(path).body["spec"]["replicas"] == 6
    assert "should be less than or equal to 10" in databases.patch(f"{path}/scale", {"spec": {"replicas": 50}}).message


def test_a_deployments_scale_has_its_selector(api: Any) -> None:
    path = "/apis/apps/v1/namespaces/default/deployments"
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
    assert api.post(path, {"metadata": {"name": "web"}, "spec": spec}).status == 201
    assert api.get(f"{path}/web/scale").body["status"] == {"replicas": 0, "selector": "app=web"}
    assert api.patch(f"{path}/web/scale", {"spec": {"replicas": 3}}).body["spec"] == {"replicas": 3}
    entries = api.get(f"{path}/web").body["metadata"]["managedFields"]
    assert ("test", "scale") in [(entry["manager"], entry.get("subresource")) for entry in entries]


def test_patches_that_do_not_fit_are_refused(databases: Any, samples: Any) -> None:
    databases.post(samples.databases, samples.database("a"))
    path = f"{samples.databases}/a"
    assert databases.patch(path, [{"op": "test", "path": "/spec/engine", "value": "x"}], "json").status == 422
    assert databases.patch(path, b"{x", "merge").message.startswith("error decoding patch: invalid character 'x'")
    assert databases.patch(path, {"spec": {}}, "strategic").status == 415
    assert databases.patch(path, {"metadata": {"name": "b"}}).message == (
        "the name of the object (b) does not match the name on the URL (a)"
    )
    assert "metadata.uid: Invalid value" in databases.patch(path, {"metadata": {"uid": "x"}}).message
    assert databases.patch(f"{samples.databases}/zz", {"spec": {}}).status == 404


def test_a_strategic_patch_merges_by_key(api: Any) -> None:
    path = "/apis/apps/v1/namespaces/default/deployments"
    containers = [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}]
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers}}
    api.post(
        path, {"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template}}
    )
    change = {"spec": {"template": {"spec": {"containers": [{"name": "b", "image": "b:2"}]}}}}
    changed = api.patch(f"{path}/web", change, "strategic").body["spec"]["template"]["spec"]["containers"]
    assert {each["name"]: each["image"] for each in changed} == {"a": "a:1", "b": "b:2"}


def test_applying_creates_then_changes_nothing_then_conflicts(databases: Any, samples: Any) -> None:
    path = f"{samples.databases}/a"
    first = databases.patch(path, samples.database("a"), "apply", fieldManager="one")
    assert first.status == 201
    databases.clock.move(100)
    again = databases.patch(path, samples.database("a"), "apply", fieldManager="one")
    assert (again.status, again.body) == (200, first.body)
    refused = databases.patch(path, samples.database("a", engine="mysql"), "apply", fieldManager="two")
    assert refused.message == 'Apply failed with 1 conflict: conflict with "one": .spec.engine'
    forced = databases.patch(path, samples.database("a", engine="mysql"), "apply", fieldManager="two", force="true")
    assert forced.body["spec"]["engine"] == "mysql"


def test_an_apply_with_a_uid_creates_nothing(databases: Any, samples: Any) -> None:
    body = samples.database("a", metadata={"uid": "1234"})
    reply = databases.patch(f"{samples.databases}/a", body, "apply", fieldManager="one")
    assert reply.status == 409
    assert databases.names(samples.databases) == []


def test_deleting_answers_with_a_status_that_names_the_object(databases: Any, samples: Any) -> None:
    uid = databases.post(samples.databases, samples.database("a")).body["metadata"]["uid"]
    reply = databases.delete(f"{samples.databases}/a")
    assert (reply.status, reply.body["status"]) == (200, "Success")
    assert reply.body["details"] == {"name": "a", "group": "apps.example.com", "kind": "databases", "uid": uid}
    assert databases.delete(f"{samples.databases}/a").status == 404


def test_a_finalizer_holds_an_object_until_it_is_removed(databases: Any, samples: Any) -> None:
    path = f"{samples.databases}/a"
    databases.post(samples.databases, samples.database("a", metadata={"finalizers": ["example.com/clean"]}))
    marked = databases.delete(path).body
    assert marked["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:00Z"
    assert marked["metadata"]["generation"] == 2
    assert databases.delete(path).body == marked
    added = databases.patch(path, {"metadata": {"finalizers": ["example.com/clean", "example.com/more"]}})
    assert "no new finalizers can be added if the object is being deleted" in added.message
    assert databases.patch(path, {"metadata": {"finalizers": None}}).status == 200
    assert databases.get(path).status == 404


@pytest.mark.parametrize(("policy", "finalizer"), [("Foreground", "foregroundDeletion"), ("Orphan", "orphan")])
def test_a_propagation_policy_leaves_its_finalizer_to_the_garbage_collector(
    databases: Any, samples: Any, policy: str, finalizer: str
) -> None:
    databases.post(samples.databases, samples.database("a"))
    reply = databases.delete(f"{samples.databases}/a", {"propagationPolicy": policy})
    assert reply.body["metadata"]["finalizers"] == [finalizer]
    assert databases.delete(f"{samples.databases}/a", propagationPolicy="Background").body["status"] == "Success"


def test_a_delete_means_the_object_that_its_preconditions_describe(databases: Any, samples: Any) -> None:
    databases.post(samples.databases, samples.database("a"))
    path = f"{samples.databases}/a"
    assert "the UID in the precondition (x)" in databases.delete(path, {"preconditions": {"uid": "x"}}).message
    assert databases.delete(path, {"preconditions": {"resourceVersion": "1"}}).status == 409
    version = databases.get(path).version
    assert databases.delete(path, {"preconditions": {"resourceVersion": version}}).status == 200


def test_a_collection_is_deleted_by_selector(databases: Any, samples: Any) -> None:
    for name, tier in (("a", "x"), ("b", "y"), ("c", "x")):
        databases.post(samples.databases, samples.database(name, metadata={"labels": {"tier": tier}}))
    deleted = databases.delete(samples.databases, labelSelector="tier=x").body["items"]
    assert [each["metadata"]["name"] for each in deleted] == ["a", "c"]
    assert databases.names(samples.databases) == ["b"]


def test_a_pod_on_a_node_gets_its_grace_period(api: Any) -> None:
    pods = "/api/v1/namespaces/default/pods"
    api.post(pods, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}})
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "p"},
        "target": {"kind": "Node", "name": "n"},
    }
    assert api.post(f"{pods}/p/binding", binding).status == 201
    marked = api.delete(f"{pods}/p").body["metadata"]
    assert (marked["deletionTimestamp"], marked["deletionGracePeriodSeconds"]) == ("2026-01-01T00:00:30Z", 30)
    assert api.delete(f"{pods}/p", {"gracePeriodSeconds": 5}).body["metadata"]["deletionGracePeriodSeconds"] == 5
    assert api.delete(f"{pods}/p", {"gracePeriodSeconds": 60}).body["metadata"]["deletionGracePeriodSeconds"] == 5
    assert api.delete(f"{pods}/p", {"gracePeriodSeconds": 0}).body["kind"] == "Pod"
    assert api.get(f"{pods}/p").status == 404


def test_an_event_is_one_object_under_two_names(api: Any) -> None:
    regarded = {"kind": "Pod", "name": "p", "namespace": "default"}
    event = {
        "metadata": {"name": "e"},
        "involvedObject": regarded,
        "reason": "Pulled",
        "message": "hello",
        "type": "Normal",
    }
    assert api.post("/api/v1/namespaces/default/events", event).status == 201
    other = api.get("/apis/events.k8s.io/v1/namespaces/default/events/e").body
    assert (other["apiVersion"], other["note"], other["regarding"]) == ("events.k8s.io/v1", "hello", regarded)


def test_access_reviews_are_answered_and_not_kept(api: Any) -> None:
    before = api.server.store.revision
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {"verb": "get"}},
    }
    reply = api.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body)
    assert (reply.status, reply.body["status"]["allowed"]) == (201, True)
    assert api.server.store.revision == before


def test_what_is_not_there_or_not_allowed_is_told_apart(databases: Any, samples: Any) -> None:
    assert databases.get("/apis/nope.example.com/v1/things").body == b"404 page not found\n"
    assert databases.get("/apis/apps/v1/nope").message == "the server could not find the requested resource"
    assert databases("PUT", "/api/v1/nodes", {}).status == 405
    assert databases.post(f"{CONFIG_MAPS}/x", {}).status == 405
    databases.post(samples.databases, samples.database("a"))
    assert databases.get(f"{samples.databases}/a/nope").status == 404
    assert databases.delete(f"{samples.databases}/a/status").message == (
        'delete is not supported on resources of kind "databases.apps.example.com"'
    )
    assert databases("POST", CONFIG_MAPS, b"x", content_type="text/plain").status == 415
    assert databases("GET", CONFIG_MAPS, accept="text/plain").status == 406


@pytest.mark.parametrize("options", [7, "x", ["x"], {"preconditions": 7}, {"dryRun": "All"}])
def test_an_eviction_with_options_that_are_none_is_refused(api: Any, options: Any) -> None:
    path = "/api/v1/namespaces/default/pods"
    api.post(path, {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
    reply = api.post(f"{path}/a/eviction", {"metadata": {"name": "a"}, "deleteOptions": options})
    assert (reply.status, reply.body["reason"]) == (400, "BadRequest")


def test_a_label_without_a_value_is_an_empty_one(databases: Any, samples: Any) -> None:
    metadata = {"labels": {"a": None}, "annotations": {"b": None}}
    reply = databases.post(samples.databases, samples.database("a", metadata=metadata))
    assert reply.status == 201
    assert reply.body["metadata"]["labels"] == {"a": ""}
    assert reply.body["metadata"]["annotations"] == {"b": ""}
    built_in = databases.post(CONFIG_MAPS, {"metadata": {"name": "a", **metadata}})
    assert built_in.body["metadata"]["labels"] == {"a": ""}


def test_a_whole_number_is_written_without_a_fraction(api: Any, samples: Any) -> None:
    definition = samples.definition()
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"]["properties"]["ratio"] = {"type": "number"}
    api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
    for ratio, written in ((2.0, 2), (1e16, 10**16), (-0.0, 0), (2.5, 2.5)):
        for query in ({"dryRun": "All"}, {}):
            body = samples.database(f"a{abs(hash(ratio))}", ratio=ratio)
            found = api.post(samples.databases, body, **query).body["spec"]["ratio"]
            assert (found, type(found)) == (written, type(written))
    made = api.post(samples.databases, samples.database("b", ratio=2.0))
    again = api.patch(f"{samples.databases}/b", {"spec": {"ratio": 2.0}})
    assert again.version == made.version, "a write that changes nothing"


def test_unknown_fields_of_the_metadata_are_told_of_first(databases: Any, samples: Any) -> None:
    body = {**samples.database("a", metadata={"zoo": 1, "bar": 1}, colour="red"), "extra": 1}
    reply = databases.post(samples.databases, body, fieldValidation="Strict")
    fields = ["metadata.bar", "metadata.zoo", "extra", "spec.colour"]
    assert reply.message.endswith("strict decoding error: " + ", ".join(f'unknown field "{field}"' for field in fields))


@pytest.mark.parametrize(
    ("replicas", "found"),
    [(True, "true is of the type bool"), (2.0, "2 is of the type float64"), ("x", "x is of the type string")],
)
def test_replicas_that_are_no_number_are_named(databases: Any, samples: Any, replicas: object, found: str) -> None:
    reply = databases.post(samples.databases, samples.database("a", replicas=replicas))
    assert f".spec.replicas accessor error: {found}, expected int64" in reply.message


def test_a_readiness_gate_has_the_name_of_a_condition(api: Any) -> None:
    spec = {"containers": [{"name": "a", "image": "x"}], "readinessGates": [{"conditionType": "a b"}]}
    reply = api.post("/api/v1/namespaces/default/pods", {"metadata": {"name": "a"}, "spec": spec})
    assert [cause["field"] for cause in reply.body["details"]["causes"]] == ["spec.readinessGates[0].conditionType"]


def test_a_rule_is_for_resources_or_for_urls(api: Any) -> None:
    rule = {"verbs": ["get"], "nonResourceURLs": ["/x"], "resources": ["a"], "apiGroups": [""]}
    path = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles"
    reply = api.post(path, {"metadata": {"name": "a"}, "rules": [rule]})
    assert "namespaced rules cannot apply to non-resource URLs" in reply.message
    assert "rules cannot apply to both regular resources and non-resource URLs" in reply.message
