"""In which form an answer goes out: JSON or YAML; whole objects, their metadata, or a table of them.

See "Resource representations" in https://kubernetes.io/docs/reference/using-api/api-concepts/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import yaml

from kubewright.devcluster.bodies import JSON, YAML
from kubewright.devcluster.statuses import StatusError, status_body

__all__ = ["Representation", "encoded", "negotiate", "not_acceptable"]

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
    for media_type, parameters in _accepted(headers.get("accept") or "*/*"):
        if media_type in {JSON, "application/*", "*/*"}:
            chosen = JSON
        elif media_type == YAML and not watch:
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
    raise not_acceptable(watch=watch)


def not_acceptable(*, watch: bool = False) -> StatusError:
    types = [JSON, YAML, "application/vnd.kubernetes.protobuf"]
    if watch:
        types = [f"{each};stream=watch" for each in types if each != YAML]
    return StatusError(
        status_body(406, "NotAcceptable", f"only the following media types are accepted: {', '.join(types)}")
    )


_encoder = msgspec.json.Encoder()


def encoded(value: Any, representation: Representation) -> bytes:
    """The bytes of an answer's body."""
    if representation.media_type == YAML:
        return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=2**31).encode()
    data = _encoder.encode(value)
    return msgspec.json.format(data, indent=2) if representation.pretty else data + b"\n"
