"""What is asked of a service account by its subresource: a token."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

from kubewright.api import ResourceInfo
from kubewright.devcluster.builtin.definitions import PREFIX, definition_names, merged_definitions
from kubewright.devcluster.builtin.strategy import strategy_for
from kubewright.devcluster.catalog import ServedResource
from kubewright.devcluster.incoming import object_of_body
from kubewright.devcluster.objects import Object, metadata_of, name_of, namespace_of, timestamp
from kubewright.devcluster.options import write_options
from kubewright.devcluster.service_account_tokens import AUDIENCE
from kubewright.devcluster.statuses import StatusError
from kubewright.devcluster.verbs.call import Answer, Call
from kubewright.patch.apply import track_update
from kubewright.patch.shape import Shape
from kubewright.schema.errors import FieldError, invalid, invalid_status

__all__ = ["issue_token"]

_SHORTEST, _LONGEST = 600, 1 << 32
_UNLESS_SAID = 3600


@cache
def _token_requests() -> ServedResource:
    """How the body is read; it is no resource that can be reached by itself."""
    info = ResourceInfo(
        group="authentication.k8s.io",
        version="v1",
        kind="TokenRequest",
        plural="tokenrequests",
        singular="tokenrequest",
        scope="Namespaced",
    )
    definition = definition_names()[info.group, info.version, info.kind]
    schema: Object = {"$ref": f"{PREFIX}{definition}"}
    return ServedResource(
        info=info,
        verbs=(),
        schema=schema,
        shape=Shape(schema, merged_definitions()),
        strategy=strategy_for(info, definition, status_apart=False),
        definition_name=definition,
    )


def issue_token(call: Call) -> Answer:
    """Answers a TokenRequest with a token of the service account."""
    options = write_options(call.request.query, "CreateOptions")
    resource = _token_requests()
    asked, warnings = object_of_body(resource, call.request.headers, call.request.body, options.field_validation)
    call.warnings += warnings
    _check_name(asked, call)
    account = call.registry.get(call.resource, call.namespace, call.name)
    spec = {**(asked.get("spec") or {})}
    seconds = spec.setdefault("expirationSeconds", _UNLESS_SAID)
    request: Object = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "metadata": {}, "spec": spec}
    request = track_update(
        None,
        request,
        manager=call.manager(options),
        shape=resource.shape,
        api_version=resource.info.api_version,
        now=call.registry.now(),
    )
    spec["audiences"] = audiences = spec.get("audiences") or [AUDIENCE]
    if errors := _lifetime_errors(seconds):
        raise _refused("", errors)
    bound = spec.setdefault("boundObjectRef", None)
    token, expires = call.tokens.issue(account, audiences=audiences, seconds=seconds, bound=bound)
    where = {"name": name_of(account), "namespace": namespace_of(account), "creationTimestamp": call.registry.now()}
    return call.plain(
        {
            **request,
            "metadata": {**where, **metadata_of(request)},
            "status": {"token": token, "expirationTimestamp": timestamp(datetime.fromtimestamp(expires, UTC))},
        },
        201,
    )


def _check_name(asked: Object, call: Call) -> None:
    for key, given, wanted in (
        ("name", name_of(asked), call.name),
        ("namespace", namespace_of(asked), call.namespace),
    ):
        if given not in {"", wanted}:
            why = f"must match the service account {key} if specified"
            raise _refused(call.name, [invalid(f"metadata.{key}", given, why)])


def _lifetime_errors(seconds: int) -> list[FieldError]:
    field = "spec.expirationSeconds"
    if seconds < _SHORTEST:
        return [invalid(field, seconds, "may not specify a duration less than 10 minutes")]
    if seconds > _LONGEST:
        return [invalid(field, seconds, "may not specify a duration larger than 2^32 seconds")]
    return []


def _refused(name: str, errors: list[FieldError]) -> StatusError:
    return StatusError.of(invalid_status(errors, kind="TokenRequest", group="authentication.k8s.io", name=name))
