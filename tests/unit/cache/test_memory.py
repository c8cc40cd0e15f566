"""What an object costs in memory beside its JSON, and how little of it the garbage collector walks."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterable

import msgspec
import pytest

from kubewright.api import Resource, resource, resource_info
from kubewright.cache import METADATA, WHOLE, Entry, EntryParser, IndexBy, Projection, Store
from kubewright.cache.index import Held
from kubewright.cache.scope import Scope

OBJECTS, NAMESPACES, TEAMS = 5000, 4, 10
OWNERS, TEAM = "owners", "team"
LIMIT = 400
"""Bytes for entry, key, owners (each has five objects) and one more index."""


@resource("example.com/v1")
class Widget(Resource):
    spec: dict[str, str] | None = None


def _object(number: int) -> bytes:
    metadata = {
        "name": f"w-{number:06}",
        "namespace": f"ns-{number % NAMESPACES}",
        "uid": f"0d1c7a52-5a4e-4a0e-9a63-{number:012}",
        "resourceVersion": str(1_000_000_000 + number),
        "generation": 1,
        "ownerReferences": [{"uid": f"5f0e3c61-9b7d-4c1e-8f52-{number // 5:012}", "controller": True}],
        "labels": {"team": f"t{number % TEAMS}", "number": str(number)},
        "managedFields": [{"manager": "op", "operation": "Apply", "fieldsV1": {"f:spec": {"f:image": {}}}}],
    }
    spec = {"image": "registry.example.com/app:1.2.3", "text": "x" * 800}
    return msgspec.json.encode({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, "spec": spec})


def _pair(entry: Entry) -> tuple[str, ...]:
    """An index by a function that gives two values."""
    return entry.namespace, entry.name


def _filled(projection: Projection, **more: Callable[[Entry], Iterable[str]]) -> Store:
    """A store with indexes by owner, by a label and ``more``, as an informer fills it."""
    parser = EntryParser(resource_info(Widget), projection)
    place = parser.read_along(IndexBy.label("team"))
    assert place is not None
    store = Store(Scope.of(None, None, None), {OWNERS: Held(0), TEAM: Held(place), **more})
    incoming = store.begin_list()
    for number in range(OBJECTS):
        incoming.add(parser.parse(_object(number)))
    for _ in store.replace(incoming, 1_000_000_000 + OBJECTS):
        pass
    return store


@pytest.mark.parametrize("projection", [WHOLE, METADATA, Projection.of("spec.image")])
def test_beside_its_json_an_object_costs_little(projection: Projection) -> None:
    _filled(projection)  # what is made once is there
    tracemalloc.start()
    try:
        store = _filled(projection)
        gc.collect()
        used = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    json = sum(len(entry.raw) for entry in store)
    assert (used - json) / OBJECTS < LIMIT


def test_of_metadata_less_is_kept_than_its_json() -> None:
    for entry in _filled(METADATA):
        assert len(entry.text) + len('{"apiVersion":"example.com/v1","kind":"Widget",') < len(entry.raw)


@pytest.mark.parametrize("projection", [WHOLE, METADATA])
def test_the_collector_walks_no_entry(projection: Projection) -> None:
    _filled(projection, pair=_pair)
    gc.collect()
    before = len(gc.get_objects())
    store = _filled(projection, pair=_pair)
    gc.collect()
    assert len(gc.get_objects()) - before < OBJECTS / 10
    assert len(store) == OBJECTS
