"""Indexes by labels and paths: read along with the metadata or alone, early or late, they have what the objects say."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubewright.api import resource_info
from kubewright.cache import METADATA, EntryParser, IndexBy, Projection
from tests.unit.cache.conftest import RunVirtually, Widget, World

PATHS = [
    ".spec.size",
    ".spec",
    ".spec.items[*].name",
    ".spec.items",
    ".spec.api_version",
    ".metadata.labels.app",
    ".metadata.labels['example.com/team']",
    ".metadata.annotations.app",
    ".metadata.name",
    ".metadata.ownerReferences[*].kind",
    ".status['at_0'][*]",
    ".api_version",
]
SCALARS = st.sampled_from([None, "a", "b", "", 1, 2.5, True, False])
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "size", "items", "at_0", "app"]), inner)
    ),
    max_leaves=8,
)
LABELS = (
    st.dictionaries(st.sampled_from(["app", "example.com/team"]), st.sampled_from(["x", "y"])) | st.none() | ANYTHING
)


class Misfit(Exception):
    pass


def recomputed(value: Any, steps: tuple[str | None, ...]) -> list[str]:
    """As the documentation has it, one step at a time over the whole object."""
    for number, step in enumerate(steps):
        if value is None:
            return []
        if not isinstance(value, list if step is None else dict):
            raise Misfit
        if step is None:
            return [text for item in value for text in recomputed(item, steps[number + 1 :])]
        value = value.get(step)  # type: ignore[union-attr]  # a list only where there is no step
    if value is None or isinstance(value, dict):
        return []
    if isinstance(value, list):
        return [text for item in value if not isinstance(item, list) for text in recomputed(item, ())]
    return [value if isinstance(value, str) else msgspec.json.encode(value).decode()]


def expected(obj: dict[str, Any], steps: tuple[str | None, ...]) -> tuple[str, ...]:
    try:
        return tuple(dict.fromkeys(recomputed(obj, steps)))
    except Misfit:
        return ()


@settings(deadline=None, max_examples=300)
@given(
    wanted=st.lists(st.sampled_from(PATHS), unique=True, min_size=1),
    labels=LABELS,
    annotations=LABELS,
    members=st.dictionaries(st.sampled_from(["spec", "status", "api_version"]), ANYTHING),
    unknown=st.booleans(),
)
def test_the_values_are_those_of_the_whole_object(
    wanted: list[str], labels: Any, annotations: Any, members: dict[str, Any], unknown: bool
) -> None:
    parser = EntryParser(resource_info(Widget))
    metadata = {"name": "n", "resourceVersion": "1", "labels": labels, "annotations": annotations}
    owners = [{"kind": "Widget", "uid": "u"}, {"kind": "Widget", "uid": "v"}]
    obj = {"metadata": {**metadata, "ownerReferences": owners, **({"new": []} if unknown else {})}, **members}
    indexes = [IndexBy.path(path) for path in wanted]
    places = [parser.read_along(index) for index in indexes]
    entry = parser.parse(msgspec.json.encode(obj))
    for index, place in zip(indexes, places, strict=True):
        assert index.values(entry.raw) == expected(obj, index.steps)
        if place is not None:
            assert entry.values[place] == expected(obj, index.steps)
    assert entry.owners == ("u", "v")
    assert parser.read_along(IndexBy.path(".spec.late")) is None


def test_labels_and_fields_are_read_along_and_what_would_be_read_twice_is_not() -> None:
    parser = EntryParser(resource_info(Widget))
    paths = [
        ".spec.size",
        ".metadata.labels.app",
        ".spec",
        ".spec.size.more",
        ".spec[*]",
        ".spec.size",
        ".metadata.uid",
    ]
    assert [parser.read_along(IndexBy.path(path)) for path in paths] == [2, 3, None, None, None, 2, None]
    assert IndexBy.label("example.com/team") == IndexBy.path(".metadata.labels['example.com/team']")


@pytest.mark.parametrize(
    "path", ["", ".", "spec..size", "[*]", ".spec[0]", ".spec.", ".spec['']", "kind", "metadata.managedFields"]
)
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"is no path of a field|can't be indexed"):
        IndexBy.path(path)


def test_an_informer_has_indexes_by_label_path_and_namespace_early_and_late(
    world: World, widget: type[Widget], run: RunVirtually
) -> None:
    async def main() -> None:
        early = {"app": IndexBy.label("app"), "where": IndexBy.path(".metadata.namespace")}
        informer = world.cache.informer(widget, indexes=early)
        world.server.put("a", size=1, labels={"app": "x"})
        world.server.put("b", size=2, labels={"app": "x"})
        async with world.running():
            informer.add_index("size", IndexBy.path(".spec.size"))
            world.server.put("b", size=1, labels={"app": "y"})
            world.server.put("c", size=2, labels={"app": "x"}, namespace="other")
            world.server.remove("a")
            world.server.bookmark()
            await informer.synced()
            await asyncio.sleep(1)

            def found(name: str, value: str) -> list[str]:
                return [entry.name for entry in informer.entries(index=(name, value))]

            assert (found("app", "x"), found("app", "y"), found("app", "z")) == (["c"], ["b"], [])
            assert (found("where", "ns"), found("where", "other")) == (["b"], ["c"])
            assert (found("size", "1"), found("size", "2")) == (["b"], ["c"])

    run(main())


def test_a_path_that_is_not_cached_is_refused(world: World, widget: type[Widget]) -> None:
    with pytest.raises(ValueError, match=r"\.spec\.size of widgets\.example\.com is not cached"):
        world.cache.informer(widget, projection=METADATA, indexes={"size": IndexBy.path(".spec.size")})
    with pytest.raises(ValueError, match=r"\.spec of widgets\.example\.com is not cached"):
        world.cache.informer(widget, projection=Projection.of("spec.size"), indexes={"spec": IndexBy.path(".spec")})
    world.cache.informer(widget, projection=Projection.of("spec"), indexes={"size": IndexBy.path(".spec.size")})
    world.cache.informer(widget, projection=METADATA, indexes={"app": IndexBy.label("app")})
