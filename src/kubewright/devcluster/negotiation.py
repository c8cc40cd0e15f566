"""In which form an answer goes out: JSON or YAML; whole objects, their metadata, or a table of them.

See "Resource representations" in https://kubernetes.io/docs/reference/using-api/api-concepts/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import msgspec

from kubewright.devcluster.bodies import JSON, YAML
from kubewright.devcluster.statuses import StatusError, status_body
from kubewright.devcluster.store import State

__all__ = ["Representation", "encoded", "negotiate", "not_acceptable", "of_error"]

Form = Literal["", "Table", "PartialObjectMetadata", "PartialObjectMetadataList"]

_FORMS: dict[tuple[str, str, str], Form] = {
    (form, "meta.k8s.io", version): form
    for form in ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")
    for version in ("v1", "v1beta1")
}


@dataclass(frozen=True)
class Representation:
    """What the client asked for. ``form`` is empty for the object as it is; ``version`` that of meta.k8s.io."""

    media_type: str = JSON
    form: Form = ""
    version: str = "v1"
    pretty: bool = False

    as_it_is: bool = field(init=False)
    """Whether stored JSON can go out as it is."""

    def __post_init__(self) -> None:
        plain = not self.form and not self.pretty and self.media_type == JSON
        object.__setattr__(self, "as_it_is", plain)


def _accepted(accept: str) -> Iterator[tuple[str, dict[str, str]]]:
    ranges = []
    for part in accept.split(","):
        media_type, *parameters = (each.strip() for each in part.split(";"))
        if media_type:
            ranges.append((media_type, dict(each.partition("=")[::2] for each in parameters)))
    ranges.sort(key=lambda each: -float(each[1].get("q", "1") or 1))
    yield from ranges


def negotiate(headers: Mapping[str, str], *, watch: bool = False, pretty: bool = False) -> Representation:
    """The first form in the client's order that can be had; raises `StatusError` (406) where there is none."""
    found = _negotiated(headers.get("accept") or "*/*", pretty)
    if watch and found.media_type == YAML:
        raise not_acceptable(watch=True)
    return found


def of_error(headers: Mapping[str, str], *, pretty: bool) -> Representation:
    """The form of a refusal."""
    try:
        found = _negotiated(headers.get("accept") or "*/*", pretty)
    except StatusError:
        return Representation(pretty=pretty)
    return Representation(found.media_type, pretty=found.pretty)


@lru_cache(256)
def _negotiated(accept: str, pretty: bool) -> Representation:
    for media_type, parameters in _accepted(accept):
        if media_type in {JSON, "application/*", "*/*"}:
            chosen = JSON
        elif media_type == YAML:
            chosen = YAML
        else:
            continue
        asked = parameters.get("as")
        pretty = pretty or parameters.get("pretty") == "1"
        if asked is None:
            return Representation(chosen, pretty=pretty)
        form = _FORMS.get((asked, parameters.get("g", ""), parameters.get("v", "")))
        if form is not None:
            return Representation(chosen, form, parameters["v"], pretty=pretty)
    raise not_acceptable()


def not_acceptable(*, watch: bool = False) -> StatusError:
    types = [JSON, YAML, "application/vnd.kubernetes.protobuf"]
    if watch:
        types = [f"{each};stream=watch" for each in types if each != YAML]
    return StatusError(
        status_body(406, "NotAcceptable", f"only the following media types are accepted: {', '.join(types)}")
    )


_encoder = msgspec.json.Encoder()


def encoded(value: Any, representation: Representation) -> bytes:
    """The bytes of an answer's body, which may be a stored state."""
    if isinstance(value, State):
        if representation.as_it_is:
            return value.data + b"\n"
        value = value.obj
    if representation.media_type == YAML:
        import yaml  # noqa: PLC0415 - few clients ask for YAML; it loads slowly

        return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=2**31).encode()
    data = _encoder.encode(value)
    return msgspec.json.format(data, indent=2) if representation.pretty else data + b"\n"
