"""What is done to a Pod through its subresources: bound to a node, evicted, its log read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kubewright.devcluster.deletion import delete
from kubewright.devcluster.eviction import check_budgets
from kubewright.devcluster.incoming import load_object
from kubewright.devcluster.objects import Object, metadata_of, name_of
from kubewright.devcluster.options import DeleteOptions, write_options
from kubewright.devcluster.pod_log import Log, log_options
from kubewright.devcluster.statuses import StatusError, bad_request, not_found, status_body
from kubewright.devcluster.subresources import bound
from kubewright.devcluster.verbs.call import Answer, Call, Stream, Text

if TYPE_CHECKING:
    from kubewright.devcluster.catalog import ServedResource

__all__ = ["CONNECTED", "bind", "connect", "evict", "read_log"]

CONNECTED = frozenset({"attach", "exec", "portforward", "proxy"})
"""Subresources that are a connection to the node, where nothing runs here."""


def bind(call: Call) -> Answer:
    """Puts a Pod on a node."""
    options = write_options(call.request.query, "CreateOptions")
    body, _ = load_object(call.request.headers, call.request.body, "Binding", duplicates=False)
    if body.get("kind") not in {None, "Binding"}:
        raise bad_request(f"unexpected object of kind {body.get('kind')}, expected a Binding")
    name = call.name or name_of(body)
    if name_of(body) not in {"", name}:
        raise bad_request("name in URL does not match name in Binding object")
    write = call.write(options, tracked=True, subresource="binding")
    now = call.registry.now()
    call.registry.update(_pods(call), call.namespace, name, lambda pod: bound(pod, body, now=now), write)
    return call.plain(status_body(201, "", "", status="Success"), 201)


def evict(call: Call) -> Answer:
    """Deletes a Pod on behalf of who drains its node, if its disruption budget allows it."""
    options = write_options(call.request.query, "CreateOptions")
    body, _ = load_object(call.request.headers, call.request.body, "Eviction", duplicates=False)
    if name_of(body) not in {"", call.name}:
        raise bad_request("name in URL does not match name in Eviction object")
    options_given = body.get("deleteOptions") or {}
    if not isinstance(options_given, dict):
        raise bad_request("Eviction.deleteOptions: a DeleteOptions object is expected")
    deletion = DeleteOptions.from_body(options_given)
    deletion = replace(deletion, dry_run=deletion.dry_run or options.dry_run)
    pod = call.registry.get(call.resource, call.namespace, call.name)
    check_budgets(call.registry, call.catalog, pod, dry_run=deletion.dry_run)
    delete(call.registry, call.resource, call.namespace, call.name, deletion)
    return call.plain(status_body(201, "", "", status="Success"), 201)


def read_log(call: Call) -> Stream | Text:
    """What a simulated container has said, as text."""
    pod = call.registry.store.get(call.resource.storage, call.namespace, call.name)
    if pod is None:
        raise not_found(call.resource.info, call.name)
    options = log_options(call.request.query, pod=call.name)
    log = Log(call.registry.store, call.resource.storage, pod, options, clock=call.registry.clock)
    if not log.exists:
        return Text(None)
    return Stream(log.followed(), "text/plain") if options.follow else Text(log.text())


def connect(call: Call) -> Answer:
    """A connection to a container, which a simulated one can't take."""
    info, subresource = call.resource.info, call.route.subresource
    pod = call.registry.get(call.resource, call.namespace, call.name)
    if info.kind == "Pod" and not (pod.get("spec") or {}).get("nodeName"):
        raise bad_request(f"pod {call.name} does not have a host assigned")
    why = f"this cluster does not serve {info.plural}/{subresource}: its containers are simulated"
    raise StatusError(status_body(501, "NotImplemented", why, details=_details(call, pod)))


def _details(call: Call, obj: Object) -> Object:
    return {"name": name_of(obj), "kind": call.resource.info.plural, "uid": metadata_of(obj).get("uid")}


def _pods(call: Call) -> ServedResource:
    found = call.catalog.find("", "v1", "pods")
    if found is None:
        raise LookupError("a catalog with bindings has pods")
    return found
