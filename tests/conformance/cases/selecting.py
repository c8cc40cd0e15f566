"""Label and field selectors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.conformance.listing import brief, brief_list, labelled
from tests.conformance.registry import case
from tests.conformance.resources import GROUP, WIDGETS, widget
from tests.conformance.world import World

SECRETS = "/api/v1/namespaces/{ns}/secrets"
CONFIG_MAPS = "/api/v1/namespaces/{ns}/configmaps"


async def _labelled(w: World) -> None:
    """A widget for each of what a label can be."""
    for name, labels in {
        "a": {"team": "x", "size": "5"},
        "b": {"team": "y", "size": "10"},
        "c": {"team": "z", "size": "big"},
        "d": {"team": "", "example.com/team": "x"},
        "e": {},
    }.items():
        await w.create(WIDGETS, labelled(name, labels))


async def _select(w: World, selectors: Iterable[str]) -> None:
    for selector in selectors:
        await brief_list(w, WIDGETS, labelSelector=selector)


async def _fields(w: World, path: str, selectors: Iterable[str]) -> None:
    for selector in selectors:
        await brief_list(w, path, fieldSelector=selector)


@case("list", given="labels of all kinds", body="labelSelector: =, ==, !=")
async def labels_equal(w: World) -> None:
    await _labelled(w)
    await _select(w, ["team=x", "team==x", "team!=x", "team=", "team!=", "none=x", "none!=x", "example.com/team=x"])


@case("list", given="labels of all kinds", body="labelSelector: in, notin")
async def labels_in_sets(w: World) -> None:
    await _labelled(w)
    await _select(
        w, ["team in (x,y)", "team notin (x,y)", "team in ()", "team notin ()", "team in (,)", "team in (x,)"]
    )
    await _select(w, ["team in (x,,y)", "team in (in,x)", "team in (x, x)", "none in (x)", "none notin (x)"])


@case("list", given="labels of all kinds", body="labelSelector: exists, does not exist")
async def labels_exist(w: World) -> None:
    await _labelled(w)
    await _select(w, ["team", "!team", "size,team", "size,!none", "in", "notin", "example.com/team"])


@case("list", given="labels of all kinds", body="labelSelector: >, <")
async def labels_compare(w: World) -> None:
    await _labelled(w)
    await _select(w, ["size>5", "size<10", "size > 4,size<6", "none>0", "team>0", "size>-1"])


@case("list", given="labels of all kinds", body="labelSelector: several, spaces")
async def labels_together(w: World) -> None:
    await _labelled(w)
    await _select(w, ["team=x,size=5", "team=x,team=y", " team = x ", "team in ( x , y ) , size", "", " ", "\tteam\n"])


@case("list", given="labels of all kinds", body="labelSelector: what does not parse")
async def labels_unreadable(w: World) -> None:
    await _labelled(w)
    await _select(
        w, ["team=x=y", "=x", ",", "team,", ",team", "team,,size", "(team)", "team=x y", "team x", "!", "!!team"]
    )
    await _select(w, ["!team=x", "!=x", "team!", "team==", "team===x", "team=!x", "team=(x)", "team gt 5", "team><5"])


@case("list", given="labels of all kinds", body="labelSelector: sets that don't parse")
async def labels_unreadable_sets(w: World) -> None:
    await _labelled(w)
    await _select(
        w, ["team in", "team in x", "team in (", "team in (x", "team in (x,", "team in (x y)", "team in (x=y)"]
    )
    await _select(
        w, ["team in (=)", "team in (x))", "team notin", "team notin x", "team in ((x))", "in in (x)", "team in (,x y)"]
    )


@case("list", given="labels of all kinds", body="labelSelector: keys and values that can't be")
async def labels_impossible(w: World) -> None:
    await _labelled(w)
    await _select(
        w, ["-team=x", "team=-x", "team in (x,-y,_)", "a/b/c=x", "/team=x", "example.com/=x", "Example_.com/x=y"]
    )
    await _select(w, ["t" * 64 + "=x", "team=" + "x" * 64, "size>x", "size>", "size>1.5", "size<99999999999999999999"])
    await _select(w, ["te$m", "!te$m", "team=x/y", "team in (x/y)", "tëam=x"])


@case("get", given="an object", body="labelSelector, fieldSelector that don't match it")
async def get_ignores_selectors(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    await w.get(f"{WIDGETS}/a", query={"labelSelector": "x in", "fieldSelector": "nonsense"}, label="get")


@case("list", given="widgets of two colours", body="fieldSelector: metadata")
async def fields_of_metadata(w: World) -> None:
    for name in ("a", "b", "c"):
        await w.create(WIDGETS, widget(name))
    here = w.namespace
    await _fields(w, WIDGETS, ["metadata.name=a", "metadata.name==a", "metadata.name!=a", "metadata.name=z", ""])
    await _fields(
        w, WIDGETS, ["metadata.name!=a,metadata.name!=b", "metadata.name=a,metadata.name=b", "metadata.name="]
    )
    await _fields(w, WIDGETS, [f"metadata.namespace={here}", "metadata.namespace=other", f"metadata.namespace!={here}"])
    await _fields(w, f"/apis/{GROUP}/v1/widgets", [f"metadata.namespace={here},metadata.name=b"])


@case("list", given="widgets of two colours", body="fieldSelector: a selectable field")
async def fields_of_definition(w: World) -> None:
    for name, colour in (("a", "red"), ("b", "blue"), ("c", "red")):
        await w.create(WIDGETS, widget(name, colour=colour))
    await _fields(w, WIDGETS, ["spec.colour=red", "spec.colour!=red", "spec.colour=pink", "spec.colour="])
    await _fields(w, WIDGETS, ["spec.colour=red,metadata.name!=a", "spec.colour=red,spec.colour=blue"])


@case("list", given="widgets of two colours", body="fieldSelector: what can't be selected by")
async def fields_unselectable(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    await _fields(
        w, WIDGETS, ["spec.size=1", "metadata.uid=x", "metadata.labels.a=b", "status.phase=x", ".spec.colour=red"]
    )
    await _fields(w, WIDGETS, ["spec.colour=red,spec.size=1", "z=1,y=2", " metadata.name=a", "metadata.name =a"])
    await _fields(w, f"/apis/{GROUP}/v1/sites", ["spec.any=x", "metadata.namespace=x"])


@case("list", given="widgets of two colours", body="fieldSelector: what does not parse")
async def fields_unreadable(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    await _fields(
        w, WIDGETS, ["metadata.name", "metadata.name=a,x", ",", "metadata.name=a,", ",metadata.name=a", "=", "!=", "=a"]
    )
    await _fields(
        w,
        WIDGETS,
        ["metadata.name=a=b", "metadata.name===a", "metadata.name!a", "metadata.name=a\\", "metadata.name=\\x"],
    )
    await _fields(w, WIDGETS, ["metadata.name=\\,", "metadata.name=\\=\\\\", "metadata.name=\\a\\,b", "!metadata.name"])


@case("list", given="secrets", body="fieldSelector: type", truth="1.20")
async def fields_of_secrets(w: World) -> None:
    for name, kind in (("a", "Opaque"), ("b", "example.com/own")):
        await w.create(SECRETS, {"metadata": {"name": name, "labels": {"own": "yes"}}, "type": kind})
    for selector in ("type=Opaque", "type!=Opaque", "type=example.com/own", "metadata.name=a,type=Opaque"):
        await brief_list(w, SECRETS, labelSelector="own=yes", fieldSelector=selector)
    await brief_list(w, SECRETS, fieldSelector="data.x=y")


@case("list", given="config maps", body="fieldSelector", truth=("1.20", "1.36"))
async def fields_of_config_maps(w: World) -> None:
    for name in ("a", "b"):
        await w.create(CONFIG_MAPS, {"metadata": {"name": name, "labels": {"own": "yes"}}})
    for selector in ("metadata.name=a", "metadata.name!=a", f"metadata.namespace={w.namespace}"):
        await brief_list(w, CONFIG_MAPS, labelSelector="own=yes", fieldSelector=selector)


@case("list", given="config maps", body="fieldSelector: what can't be selected by", truth="1.20")
async def fields_unselectable_built_in(w: World) -> None:
    await _fields(w, CONFIG_MAPS, ["data.x=y", "metadata.uid=x", "metadata.name=a,spec.x=y", "=x"])
    await _fields(w, "/apis/apps/v1/namespaces/{ns}/deployments", ["spec.replicas=1"])
    await _fields(w, "/api/v1/namespaces/{ns}/pods", ["spec.containers=1", "status.podIPs=x"])
    await _fields(w, "/api/v1/namespaces/{ns}/events", ["message=x"])


def _pod(name: str, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}


@case("list", given="pods that no scheduler takes", body="fieldSelector: spec, status", truth="1.20")
async def fields_of_pods(w: World) -> None:
    path = "/api/v1/namespaces/{ns}/pods"
    await w.create(path, _pod("a", schedulerName="nobody"))
    await w.create(path, _pod("b", schedulerName="nobody", restartPolicy="Never"))
    await _fields(
        w, path, ["spec.nodeName=", "spec.nodeName!=", "spec.restartPolicy=Never", "spec.restartPolicy=Always"]
    )
    await _fields(
        w, path, ["spec.schedulerName=nobody", "spec.schedulerName!=nobody", "spec.serviceAccountName=default"]
    )
    await _fields(
        w, path, ["status.phase=Pending", "status.phase!=Pending", "status.podIP=", "status.nominatedNodeName=x"]
    )


@case("list", given="events about two objects", body="fieldSelector", truth="1.20")
async def fields_of_events(w: World) -> None:
    path = "/api/v1/namespaces/{ns}/events"
    for name, kind, reason in (("a", "Pod", "Started"), ("b", "Node", "Stopped")):
        about = {
            "kind": kind,
            "name": name,
            "namespace": w.namespace,
            "uid": name,
            "apiVersion": "v1",
            "fieldPath": "spec",
        }
        source = {"component": "suite"}
        body = {
            "metadata": {"name": name},
            "involvedObject": about,
            "reason": reason,
            "type": "Normal",
            "source": source,
        }
        await w.create(path, body)
    await _fields(
        w, path, ["involvedObject.name=a", "involvedObject.kind=Node", "involvedObject.uid=b", "reason=Started"]
    )
    await _fields(w, path, ["type=Normal", "source=suite", "source!=suite", "involvedObject.fieldPath=spec"])
    await _fields(
        w, path, ["involvedObject.apiVersion=v1", f"involvedObject.namespace={w.namespace}", "reason!=Started"]
    )
    await _fields(w, path, ["involvedObject.resourceVersion=", "involvedObject.name=a,involvedObject.kind=Pod"])


@case("list", given="a namespace", body="fieldSelector: status.phase", truth=("1.20", "1.36"))
async def fields_of_namespaces(w: World) -> None:
    path, here = "/api/v1/namespaces", w.namespace
    await _fields(
        w, path, [f"metadata.name={here},status.phase=Active", f"metadata.name={here},status.phase=Terminating"]
    )
    await _fields(w, path, [f"metadata.name={here},status.phase!=Active"])


@case("list", given="jobs and replica sets", body="fieldSelector: status", truth="1.20")
async def fields_of_workloads(w: World) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": _pod("x", schedulerName="nobody")["spec"]}
    sets, jobs = "/apis/apps/v1/namespaces/{ns}/replicasets", "/apis/batch/v1/namespaces/{ns}/jobs"
    spec = {"replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    await w.create(sets, {"metadata": {"name": "a"}, "spec": spec})
    once = {**template, "spec": {**template["spec"], "restartPolicy": "Never"}}
    await w.create(jobs, {"metadata": {"name": "a"}, "spec": {"template": once}})
    await _fields(w, sets, ["status.replicas=0", "status.replicas=1", "metadata.name=a,status.replicas!=1"])
    await _fields(w, jobs, ["status.successful=0", "status.successful=1", "status.successful!=0"])


@case("list", given="a node", body="fieldSelector: spec.unschedulable", truth="1.20")
async def fields_of_nodes(w: World) -> None:
    name = w.unique("node")
    await w.create("/api/v1/nodes", {"metadata": {"name": name}, "spec": {"unschedulable": True}})
    for selector in ("spec.unschedulable=true", "spec.unschedulable=false", "spec.unschedulable!=false"):
        answer = await w.get("/api/v1/nodes", query={"fieldSelector": f"metadata.name={name},{selector}"})
        brief(w, selector, answer)
    await w.delete(f"/api/v1/nodes/{name}")
