"""get, list and watch."""

from __future__ import annotations

from dataclasses import replace

from kubewright.devcluster.options import list_options
from kubewright.devcluster.reading import check_not_future, list_objects, parse_revision
from kubewright.devcluster.statuses import StatusError, status_body
from kubewright.devcluster.subresources import scale_of
from kubewright.devcluster.verbs.call import Answer, Call, Stream

__all__ = ["get", "list_", "watch"]


def get(call: Call) -> Answer:
    """One object, or its scale."""
    registry = call.registry
    try:
        revision = parse_revision(dict(call.request.query).get("resourceVersion", ""))
    except ValueError as error:
        raise StatusError(status_body(500, "", str(error))) from error
    check_not_future(registry.store, revision)
    obj = registry.get(call.resource, call.namespace, call.name)
    if call.route.subresource == "scale":
        return Answer(200, call.presenter.one(scale_of(call.resource, obj), scale=True), call.representation)
    return call.answer(obj)


def list_(call: Call) -> Answer:
    options = list_options(call.request.query, watch=False)
    found = list_objects(call.registry.store, call.resource, call.namespace, options)
    return Answer(200, call.presenter.many(found), call.representation)


def watch(call: Call) -> Stream:
    options = list_options(call.request.query, watch=True)
    if call.name:  # the older way to watch one object: /watch/namespaces/default/pods/web
        options = replace(options, field_selector=f"metadata.name={call.name}")
    chunks = call.watches.open(call.resource, call.namespace, options, call.presenter)
    return Stream(chunks, "application/json")
