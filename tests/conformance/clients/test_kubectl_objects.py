"""kubectl, old and new: reading and writing objects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conformance.clients.bodies import config_map, deployment
from tests.conformance.clients.servers import Server
from tests.conformance.resources import GROUP, widget
from tests.e2e.processes import Kubectl, eventually


def new(kubectl: Kubectl) -> bool:
    return kubectl.binary.name != "1.20"


def editor(kubectl: Kubectl, folder: Path, expression: str) -> None:
    """Makes ``kubectl edit`` run a script in place of an editor."""
    script = folder / "editor.sh"
    script.write_text(f"#!/bin/sh\nsed -i -e '{expression}' \"$1\"\n")
    script.chmod(0o755)
    kubectl.environment["KUBE_EDITOR"] = str(script)


def test_what_is_created_is_shown_in_every_output_format(kubectl: Kubectl) -> None:
    assert kubectl.run("create", "configmap", "a", "--from-literal=x=1").strip() == "configmap/a created"
    kubectl.run("create", "-f", "-", stdin=json.dumps(config_map("b", x="2", y="3")))
    refused = kubectl.refused("create", "configmap", "a")
    assert refused.strip().endswith('configmaps "a" already exists')
    assert kubectl.run("get", "cm", "b", "-o", "jsonpath={.data.x}{.data.y}") == "23"
    columns = kubectl.run("get", "cm", "a", "b", "-o", "custom-columns=N:.metadata.name,X:.data.x", "--no-headers")
    assert columns.split() == ["a", "1", "b", "2"]
    template = "{{range .items}}{{.metadata.name}} {{end}}"
    names = kubectl.run("get", "cm", "-o", "go-template", "--template", template, "--field-selector=metadata.name!=a")
    assert "b" in names.split()
    assert "a" not in names.split()
    assert kubectl.run("get", "cm/a", "cm/b", "-o", "name").split() == ["configmap/a", "configmap/b"]
    ordered = kubectl.run("get", "cm", "--sort-by={.data.x}", "--no-headers").split()
    assert ordered.index("a") < ordered.index("b")
    assert '  x: "2"\n' in kubectl.run("get", "cm", "b", "-o", "yaml")
    described = kubectl.run("describe", "cm", "b")
    assert "Name:         b" in described
    assert "\ny:\n----\n3\n" in described
    assert kubectl.refused("get", "cm", "none").strip().endswith('configmaps "none" not found')
    assert kubectl.run("get", "cm", "none", "--ignore-not-found") == ""


def test_edit_sends_what_the_editor_changed(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl.run("create", "configmap", "a", "--from-literal=x=1")
    editor(kubectl, tmp_path, "s/x: .*/x: edited/")
    assert kubectl.run("edit", "cm", "a").strip() == "configmap/a edited"
    assert kubectl.json("cm", "a")["data"] == {"x": "edited"}
    assert "no changes" in kubectl.attempt("edit", "cm", "a").stderr
    kubectl.run("apply", "-f", "-", stdin=json.dumps(widget("w", size=3)))
    editor(kubectl, tmp_path, "s/size: 3/size: 5/")
    assert kubectl.run("edit", "widget", "w").strip() == f"widget.{GROUP}/w edited"
    assert kubectl.json("widget", "w")["spec"]["size"] == 5


def test_diff_shows_what_apply_would_change_and_changes_nothing(kubectl: Kubectl) -> None:
    kubectl.run("apply", "-f", "-", stdin=json.dumps(config_map("a", x="1")))
    assert kubectl.run("diff", "-f", "-", stdin=json.dumps(config_map("a", x="1"))) == ""
    wanted = [config_map("a", x="2"), config_map("b", z="1")]
    listed = {"apiVersion": "v1", "kind": "List", "items": wanted}
    different = kubectl.attempt("diff", "-f", "-", stdin=json.dumps(listed))
    assert different.returncode == 1, different.stderr
    lines = different.stdout.splitlines()
    assert {'-  x: "1"', '+  x: "2"', '+  z: "1"'} <= set(lines)
    assert kubectl.json("cm", "a")["data"] == {"x": "1"}
    assert "b" not in kubectl.names("cm")


def test_label_and_annotate_change_and_select(kubectl: Kubectl) -> None:
    for name in ("a", "b"):
        kubectl.run("create", "configmap", name)
    kubectl.run("label", "cm", "a", "tier=web", "zone=x")
    kubectl.run("label", "cm", "b", "tier=db")
    assert "already has a value" in kubectl.refused("label", "cm", "a", "tier=db")
    assert kubectl.run("label", "cm", "a", "tier=front", "--overwrite").strip() == "configmap/a labeled"
    assert kubectl.names("cm", "-l", "tier in (front,back),zone") == ["a"]
    assert kubectl.names("cm", "-l", "tier,!zone") == ["b"]
    row = kubectl.run("get", "cm", "a", "-L", "tier", "--no-headers").split()
    assert (row[0], row[-1]) == ("a", "front")
    assert "tier=front,zone=x" in kubectl.run("get", "cm", "a", "--show-labels")
    kubectl.run("label", "cm", "a", "zone-")
    kubectl.run("annotate", "cm", "a", "b", "note=some words")
    kubectl.run("annotate", "cm", "b", "note-")
    assert kubectl.json("cm", "a")["metadata"]["labels"] == {"tier": "front"}
    assert kubectl.json("cm", "a")["metadata"]["annotations"] == {"note": "some words"}
    assert "annotations" not in kubectl.json("cm", "b")["metadata"]
    assert "valid label" in kubectl.refused("label", "cm", "a", "tier=-")


@pytest.mark.servers("embedded", "1.36")
def test_each_kind_of_patch_is_carried_out(kubectl: Kubectl) -> None:
    kubectl.run("create", "-f", "-", stdin=json.dumps(deployment("web", replicas=0)))
    more = {"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "busybox"}]}}}}
    kubectl.run("patch", "deploy", "web", "-p", json.dumps(more))
    containers = kubectl.json("deploy", "web")["spec"]["template"]["spec"]["containers"]
    assert {each["name"] for each in containers} == {"main", "side"}
    operations = [
        {"op": "test", "path": "/spec/replicas", "value": 0},
        {"op": "replace", "path": "/metadata/labels/app", "value": "other"},
    ]
    kubectl.run("patch", "deploy", "web", "--type=json", "-p", json.dumps(operations))
    kubectl.run(
        "patch", "deploy", "web", "--type=merge", "-p", '{"metadata": {"labels": {"app": null, "kept": "yes"}}}'
    )
    assert kubectl.json("deploy", "web")["metadata"]["labels"] == {"kept": "yes"}
    same = kubectl.run("patch", "deploy", "web", "--type=merge", "-p", '{"metadata": {"labels": {"kept": "yes"}}}')
    assert same.strip() == "deployment.apps/web patched (no change)"
    failing = [{"op": "test", "path": "/spec/replicas", "value": 9}]
    assert "is invalid" in kubectl.refused("patch", "deploy", "web", "--type=json", "-p", json.dumps(failing))
    kubectl.run("create", "-f", "-", stdin=json.dumps(widget("w")))
    assert "the body of the request was in an unknown format" in kubectl.refused("patch", "widget", "w", "-p", "{}")


def test_status_is_patched_through_its_subresource(kubectl: Kubectl) -> None:
    kubectl.run("create", "-f", "-", stdin=json.dumps(widget("w")))
    if not new(kubectl):
        assert "unknown flag: --subresource" in kubectl.refused("get", "widget", "w", "--subresource=status")
        return
    patch = '{"spec": {"size": 9}, "status": {"phase": "Ready"}}'
    kubectl.run("patch", "widget", "w", "--subresource=status", "--type=merge", "-p", patch)
    found = kubectl.json("widget", "w")
    assert (found["spec"]["size"], found["status"]) == (1, {"phase": "Ready"})
    shown = kubectl.run("get", "widget", "w", "--subresource=status", "-o", "jsonpath={.status.phase}")
    assert shown == "Ready"
    kubectl.run("wait", "widget/w", "--for=jsonpath={.status.phase}=Ready", "--timeout=10s")


def test_replace_takes_the_place_of_the_old_or_makes_a_new_one(kubectl: Kubectl) -> None:
    kubectl.run("create", "-f", "-", stdin=json.dumps(config_map("a", x="1", y="1")))
    before = kubectl.json("cm", "a")
    kubectl.run("replace", "-f", "-", stdin=json.dumps(config_map("a", x="2")))
    after = kubectl.json("cm", "a")
    assert after["data"] == {"x": "2"}
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    stale = kubectl.refused("replace", "-f", "-", stdin=json.dumps(before))
    assert "the object has been modified" in stale
    kubectl.run("replace", "--force", "-f", "-", stdin=json.dumps(config_map("a", x="3")))
    assert kubectl.json("cm", "a")["metadata"]["uid"] != before["metadata"]["uid"]
    assert "not found" in kubectl.refused("replace", "-f", "-", stdin=json.dumps(config_map("none")))


def test_apply_remembers_removes_and_prunes(kubectl: Kubectl) -> None:
    labels = {"suite": "prune"}
    both = [config_map("a", labels=labels, x="1", y="1"), config_map("b", labels=labels)]
    kubectl.run("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": both}))
    kubectl.run("patch", "cm", "a", "--type=merge", "-p", '{"data": {"z": "of others"}}')
    last = kubectl.run("apply", "view-last-applied", "cm", "a", "-o", "json")
    assert json.loads(last)["data"] == {"x": "1", "y": "1"}
    pruned = kubectl.run(
        "apply",
        "--prune",
        "-l",
        "suite=prune",
        "--prune-whitelist=core/v1/ConfigMap" if not new(kubectl) else "--prune-allowlist=core/v1/ConfigMap",
        "-f",
        "-",
        stdin=json.dumps(config_map("a", labels=labels, x="2")),
    )
    assert pruned.splitlines() == ["configmap/a configured", "configmap/b pruned"]
    assert kubectl.json("cm", "a")["data"] == {"x": "2", "z": "of others"}
    tried = kubectl.run("apply", "--dry-run=server", "-f", "-", stdin=json.dumps(config_map("new")))
    assert tried.strip() == "configmap/new created (server dry run)"
    assert "new" not in kubectl.names("cm")


@pytest.mark.servers("embedded", "1.36")
def test_server_side_apply_names_who_is_in_the_way(kubectl: Kubectl) -> None:
    def apply(size: int, *more: str) -> list[str]:
        del size
        return ["apply", "--server-side", *more, "-f", "-"]

    first, second = json.dumps(widget("w", size=1)), json.dumps(widget("w", size=2))
    kubectl.run(*apply(1, "--field-manager=one"), stdin=first)
    conflict = kubectl.refused(*apply(2, "--field-manager=two"), stdin=second)
    assert 'conflict with "one": .spec.size' in conflict
    kubectl.run(*apply(2, "--field-manager=two", "--force-conflicts"), stdin=second)
    arguments = ["--show-managed-fields"] if new(kubectl) else []
    entries = kubectl.json("widget", "w", *arguments)["metadata"]["managedFields"]
    assert [each["manager"] for each in entries] == ["two"]


def test_a_kustomization_is_applied(kubectl: Kubectl, tmp_path: Path) -> None:
    (tmp_path / "deployment.json").write_text(json.dumps(deployment("web", replicas=0)))
    (tmp_path / "kustomization.yaml").write_text(
        "namePrefix: pre-\nresources: [deployment.json]\nconfigMapGenerator:\n- name: settings\n  literals: [a=b]\n"
    )
    created = kubectl.run("apply", "-k", str(tmp_path)).split()
    assert "deployment.apps/pre-web" in created
    assert any(each.startswith("configmap/pre-settings-") for each in created)


def test_unknown_fields_are_found_before_anything_is_written(kubectl: Kubectl) -> None:
    wrong = {**config_map("a"), "datum": {"x": "1"}}
    assert "datum" in kubectl.refused("create", "-f", "-", stdin=json.dumps(wrong))
    wrong = {**widget("w"), "spec": {"size": 1, "colur": "red"}}
    assert "colur" in kubectl.refused("create", "-f", "-", stdin=json.dumps(wrong))
    assert "w" not in kubectl.names("widget")


def _gone(kubectl: Kubectl, kind: str, name: str) -> None:
    assert name not in kubectl.names(kind)


@pytest.mark.parametrize("cascade", ["background", "foreground", "orphan"])
def test_deletion_cascades_as_asked(kubectl: Kubectl, server: Server, cascade: str) -> None:
    kubectl.run("create", "configmap", "owner")
    uid = kubectl.json("cm", "owner")["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid, "blockOwnerDeletion": True}
    child = config_map("child")
    child["metadata"]["ownerReferences"] = [owner]
    kubectl.run("create", "-f", "-", stdin=json.dumps(child))
    deleted = kubectl.run("delete", "cm", "owner", f"--cascade={cascade}", "--timeout=50s")
    assert deleted.startswith('configmap "owner" deleted')
    if cascade == "orphan":
        assert "ownerReferences" not in kubectl.json("cm", "child")["metadata"]
    else:
        eventually(lambda: _gone(kubectl, "cm", "child"), within=100)  # a real collector takes its time


def test_many_are_deleted_at_once(kubectl: Kubectl) -> None:
    for name in ("a", "b", "c", "d"):
        kubectl.run("create", "-f", "-", stdin=json.dumps(widget(name)))
    kubectl.run("label", "widget", "a", "b", "gone=soon")
    assert "deleted" in kubectl.run("delete", "widget", "a", "--dry-run=server")
    kubectl.run("delete", "widget", "-l", "gone=soon")
    assert kubectl.names("widget") == ["c", "d"]
    kubectl.run("delete", "widget", "--all")
    assert kubectl.names("widget") == []
    assert "No resources found" in kubectl.attempt("get", "widget").stderr
    kubectl.run("delete", "widget", "none", "--ignore-not-found")
