"""get, list and watch."""

from __future__ import annotations

from dataclasses import replace

from kubewright.devcluster.bodies import JSON
from kubewright.devcluster.compression import takes_gzip
from kubewright.devcluster.long_lists import is_long, long_list
from kubewright.devcluster.options import list_options
from kubewright.devcluster.reading import check_not_future, list_page, parse_revision, whole_list
from kubewright.devcluster.statuses import StatusError, not_found, status_body
from kubewright.devcluster.subresources import scale_of
from kubewright.devcluster.verbs.call import Answer, Call, Stream, Text
from kubewright.devcluster.verbs.pods import CONNECTED, connect, read_log

__all__ = ["get", "list_", "watch"]


def get(call: Call) -> Answer | Stream | Text:
    """One object, or its scale, or its log."""
    if call.route.subresource == "log":
        return read_log(call)
    if call.route.subresource in CONNECTED:
        return connect(call)
    registry = call.registry
    try:
        revision = parse_revision(dict(call.request.query).get("resourceVersion", ""))
    except ValueError as error:
        raise StatusError(status_body(500, "", str(error))) from error
    check_not_future(registry.store, revision)
    if not call.route.subresource and call.representation.as_it_is:
        state = registry.state(call.resource, call.namespace, call.name)
        if state is not None:
            return Answer(200, state, call.representation)
    try:
        obj = registry.get(call.resource, call.namespace, call.name)
    except StatusError:
        if call.route.subresource == "scale" and not call.resource.custom:
            raise not_found(call.resource.info, call.name, subresource="scale") from None
        raise
    if call.route.subresource == "scale":
        return Answer(200, call.presenter().one(scale_of(call.resource, obj), scale=True), call.representation)
    return call.answer(obj)


def list_(call: Call) -> Answer | Stream:
    options = list_options(call.request.query, watch=False)
    page = list_page(call.registry.store, call.resource, call.namespace, options)
    if call.request.method == "GET" and call.representation.as_it_is and is_long(call.resource, page):
        compress = takes_gzip(call.request.headers)
        chunks = long_list(call.resource, page, compress=compress)
        return Stream(chunks, JSON, {"content-encoding": "gzip", "vary": "Accept-Encoding"} if compress else {})
    return Answer(200, call.presenter().many(whole_list(call.resource, page)), call.representation)


def watch(call: Call) -> Stream:
    options = list_options(call.request.query, watch=True)
    if call.name:  # the older way to watch one object: /watch/namespaces/default/pods/web
        options = replace(options, field_selector=f"metadata.name={call.name}")
    chunks = call.watches.open(call.resource, call.namespace, options, call.presenter())
    return Stream(chunks, "application/json")
