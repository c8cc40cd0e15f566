"""create, update and patch, of objects and of their subresources."""

from __future__ import annotations

from collections.abc import Callable

from kubewright.client.media_types import APPLY
from kubewright.devcluster.admission import forbidden
from kubewright.devcluster.bodies import media_type, unsupported
from kubewright.devcluster.incoming import load_object, object_of_body, object_of_patch, placed
from kubewright.devcluster.objects import Object, name_of
from kubewright.devcluster.options import WriteOptions, write_options
from kubewright.devcluster.patching import apply, patch_types, read_patch
from kubewright.devcluster.registry import Write
from kubewright.devcluster.statuses import StatusError, status_body
from kubewright.devcluster.verbs.accounts import issue_token
from kubewright.devcluster.verbs.call import Answer, Call
from kubewright.devcluster.verbs.pods import CONNECTED, bind, connect, evict
from kubewright.devcluster.verbs.scaling import apply_scale, rescale
from kubewright.devcluster.verbs.virtual import answer_review, is_review
from kubewright.patch.shape import UNTYPED

__all__ = ["create", "patch", "update"]


def create(call: Call) -> Answer:
    """A new object; or what is posted to one: an eviction, a binding, a wish for a token."""
    info = call.resource.info
    if is_review(call):
        return answer_review(call)
    if call.route.subresource in CONNECTED:
        return connect(call)
    if call.route.subresource == "token":
        return issue_token(call)
    if call.route.subresource == "eviction":
        return evict(call)
    if call.route.subresource == "binding" or (info.group, info.plural) == ("", "bindings"):
        return bind(call)
    options = write_options(call.request.query, "CreateOptions")
    resource, request = call.resource, call.request
    obj, warnings = object_of_body(resource, request.headers, request.body, options.field_validation)
    call.warnings += warnings
    obj = placed(obj, namespace=call.namespace, name=call.name or None)
    if "create" not in resource.verbs:
        why = "create not allowed while custom resource definition is terminating"
        raise forbidden(resource.info, name_of(obj), why)
    created = call.registry.create(resource, call.namespace, obj, call.write(options))
    call.warnings += resource.strategy.warnings(created, None)
    return call.answer(created, 201)


def update(call: Call) -> Answer:
    """Replaces an object, its status, or its scale."""
    options = write_options(call.request.query, "UpdateOptions")
    resource, request = call.resource, call.request
    if call.route.subresource == "scale":
        scale, _ = load_object(request.headers, request.body, "Scale", duplicates=False)
        return rescale(call, lambda _: scale, options)
    obj, warnings = object_of_body(resource, request.headers, request.body, options.field_validation)
    call.warnings += warnings
    obj = placed(obj, namespace=call.namespace, name=call.name)
    missing = call.registry.store.get(resource.storage, call.namespace, call.name) is None
    if missing and resource.create_on_update and not call.route.subresource:
        created = call.registry.create(resource, call.namespace, obj, call.write(options))
        return call.answer(created, 201)
    return _changed(call, lambda _: obj, call.write(options), whole=True)


def _changed(call: Call, change: Callable[[Object], Object], write: Write, *, whole: bool) -> Answer:
    seen: list[Object] = []

    def remembered(old: Object) -> Object:
        seen.append(old)
        return change(old)

    where = (call.resource, call.namespace, call.name)
    new = call.registry.update(*where, remembered, write, unconditional=False, whole=whole)
    call.warnings += call.resource.strategy.warnings(new, seen[0])
    return call.answer(new)


def patch(call: Call) -> Answer:
    """Changes an object by a patch of any type, or applies one."""
    found = media_type(call.request.headers)
    accepted = patch_types(strategic=not call.resource.custom)
    if found not in accepted:
        if call.resource.custom:
            raise unsupported(accepted)
        raise StatusError(status_body(415, "UnsupportedMediaType", "415: Unsupported Media Type", details={}))
    options = write_options(call.request.query, "PatchOptions", apply=found == APPLY)
    if found == APPLY:
        return _apply(call, options)
    scale = call.route.subresource == "scale"
    checked = options.field_validation != "Ignore"
    patched = read_patch(found, call.request.body, UNTYPED if scale else call.resource.shape, checked=checked)
    if scale:
        return rescale(call, patched, options)

    def change(old: Object) -> Object:
        known, warnings = object_of_patch(
            call.resource,
            patched(old),
            options.field_validation,
            lambda why: patched.refusal(call.resource, old, why),
            patched.problems,
            old,
        )
        call.warnings += warnings
        return placed(known, namespace=call.namespace, name=call.name)

    return _changed(call, change, call.write(options), whole=False)


def _apply(call: Call, options: WriteOptions) -> Answer:
    if call.route.subresource == "scale":
        return apply_scale(call, options)
    obj, created, warnings = apply(
        call.registry,
        call.resource,
        namespace=call.namespace,
        name=call.name,
        body=call.request.body,
        options=options,
        write=call.write(options, tracked=True),
    )
    call.warnings += warnings
    return call.answer(obj, 201 if created else 200)
