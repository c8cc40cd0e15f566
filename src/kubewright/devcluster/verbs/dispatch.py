"""From a call to the function that answers it, and the refusals for what does not exist or is not allowed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kubewright.devcluster.bodies import check_size
from kubewright.devcluster.statuses import PageNotFoundError, StatusError, bad_request, not_found, status_body
from kubewright.devcluster.verbs import deleting, reading, writing
from kubewright.devcluster.verbs.call import Answer, Call, Stream, Text

__all__ = ["perform"]

_VERBS: Mapping[str, Callable[[Call], Answer | Stream | Text]] = {
    "get": reading.get,
    "list": reading.list_,
    "watch": reading.watch,
    "create": writing.create,
    "update": writing.update,
    "patch": writing.patch,
    "delete": deleting.delete_one,
    "deletecollection": deleting.delete_collection,
}


def perform(call: Call) -> Answer | Stream | Text:
    """Answers a call; raises `StatusError` for what is refused."""
    if call.found is None:
        raise _no_such_resource()
    if call.resource.deprecation:
        call.warnings.append(call.resource.deprecation)
    verb = call.route.verb
    _check_namespace(call)
    if call.route.subresource:
        _check_subresource(call)
    elif verb not in call.resource.verbs and not call.resource.custom:
        raise _refused_verb(call)
    if verb is None or (verb == "create" and call.name and not call.route.subresource and not call.resource.custom):
        raise _refused_verb(call)
    check_size(call.request.body)
    call.representation  # noqa: B018 - refuses what can't be answered before anything is written
    return _VERBS[verb](call)


def _no_such_resource() -> StatusError:
    return StatusError(status_body(404, "NotFound", "the server could not find the requested resource", details={}))


def _check_namespace(call: Call) -> None:
    """Objects of namespaces are reached within one; only reading them all needs none."""
    collection = not call.name and call.route.verb in {"list", "watch"}
    if call.resource.info.namespaced == bool(call.namespace) or (call.resource.info.namespaced and collection):
        return
    if call.resource.custom:
        raise PageNotFoundError
    raise _no_such_resource() if call.namespace or call.name else _refused_verb(call)


def _check_subresource(call: Call) -> None:
    found = call.resource.subresource(call.route.subresource)
    if found is None:
        raise not_found(call.resource.info, call.name) if call.resource.custom else _no_such_resource()
    if call.route.verb not in found.verbs:
        raise _refused_verb(call)


def _refused_verb(call: Call) -> StatusError:
    info, verb = call.resource.info, call.route.verb
    if call.resource.custom:
        if call.request.method in {"PUT", "PATCH"} and not call.name:
            return bad_request("name must be provided")
        message = f'{verb or ""} is not supported on resources of kind "{info.qualified_plural}"'
        details = {"group": info.group, "kind": info.plural}
        return StatusError(status_body(405, "MethodNotAllowed", message, details=details))
    message = "the server does not allow this method on the requested resource"
    return StatusError(status_body(405, "MethodNotAllowed", message, details={}))
