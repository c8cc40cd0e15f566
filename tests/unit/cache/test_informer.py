"""What readers and subscribers of an informer can rely on. In virtual time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from kubewright.api import DecodeError, ObjectMeta
from kubewright.cache import Event, Informer

if TYPE_CHECKING:
    from tests.unit.cache.conftest import RunVirtually, Widget, World


def made(kind: type[Widget], name: str, size: int = 0, **labels: str) -> Widget:
    obj = kind(metadata=ObjectMeta(name=name, namespace="ns", labels=labels or None))
    obj.spec.size = size
    return obj


def test_a_read_after_a_write_sees_it(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        async with world.running():
            world.server.deafen_watches()
            created = await world.client.create(made(widget, "a", 1))
            assert informer.get("ns", "a") == created
            applied = await world.client.apply(made(widget, "a", 2))
            assert informer.get("ns", "a") == applied
            await world.client.delete(applied)
            assert informer.get("ns", "a") is None

    run(main())


def test_the_answer_to_a_dry_run_or_of_another_kind_is_not_taken(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        async with world.running():
            before = await world.client.create(made(widget, "a", 1))
            world.server.deafen_watches()
            body = b'{"metadata":{"name":"a","namespace":"ns"},"spec":{"size":9}}'
            await world.client.rest.patch(
                informer.info, "a", body, content_type="x", namespace="ns", query=[("dryRun", "All")]
            )
            await world.client.scale(widget, "a", 7, namespace="ns")
            assert informer.get("ns", "a") == before

    run(main())


def test_each_read_gives_a_fresh_object(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        world.server.put("a", size=1)
        async with world.running():
            first = informer.get("ns", "a")
            assert first is not None
            first.spec.size = 99
            again = informer.get("ns", "a")
            assert again is not None
            assert again.spec.size == 1

    run(main())


def test_lists_are_selected_without_decoding_what_does_not_match(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget, indexes={"size": lambda obj: [str(obj.spec.size)]})
        world.server.put("a", size=1, labels={"app": "x"})
        world.server.put("b", size=1, labels={"app": "y"})
        world.server.put("c", size=2, namespace="other", labels={"app": "x"})
        world.server.put("broken", size="no number")
        async with world.running():
            assert [obj.name for obj in informer.list(labels={"app": "x"})] == ["a", "c"]
            assert [obj.name for obj in informer.list("other")] == ["c"]
            assert [obj.name for obj in informer.list(index=("size", "1"))] == ["a", "b"]
            assert [obj.name for obj in informer.list("ns", labels="app!=x", index=("size", "1"))] == ["b"]
            world.server.put("b", size=2)
            await asyncio.sleep(0.01)
            assert [obj.name for obj in informer.list(index=("size", "1"))] == ["a"]
            with pytest.raises(KeyError, match="has no index 'colour'; declared: size"):
                informer.list(index=("colour", "red"))

    run(main())


def test_objects_are_found_by_owner(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "owner-1", "controller": True}
        world.server.put("a", ownerReferences=[owner, {**owner, "uid": "owner-2", "controller": False}])
        world.server.put("b")
        async with world.running():
            assert [obj.name for obj in informer.by_owner("owner-2")] == ["a"]
            entry = informer.entry("ns", "a")
            assert entry is not None
            assert entry.controller == "owner-1"
            world.server.remove("a")
            await asyncio.sleep(0.01)
            assert informer.by_owner("owner-2") == []

    run(main())


def test_an_object_that_does_not_fit_its_class_is_held_and_told_of(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        world.server.put("a", size="no number", finalizers=["example.com/f"])
        world.server.put("b", size=1)
        async with world.running():
            seen: list[Event[Widget]] = []
            informer.subscribe(seen.append)
            assert [event.entry.name for event in seen] == ["a", "b"]
            assert seen[0].entry.finalizers == ("example.com/f",)
            with pytest.raises(DecodeError, match=r"not a Widget: .*\$\.spec\.size"):
                seen[0].obj  # noqa: B018 - decoding is what fails
            with pytest.raises(DecodeError):
                informer.get("ns", "a")
            assert informer.raw("ns", "a") is not None
            assert informer.get("ns", "b") is not None

    run(main())


def test_events_have_both_sides_and_mark_the_initial_list(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        seen: list[tuple[str, int | None, int, bool]] = []

        def note(event: Event[Widget]) -> None:
            old = event.old_obj
            seen.append((event.type.value, old.spec.size if old else None, event.obj.spec.size, event.initial))

        informer.subscribe(note)
        world.server.put("a", size=1)
        async with world.running():
            world.server.put("a", size=2)
            await world.client.create(made(widget, "b", 3))
            world.server.remove("a")
            await asyncio.sleep(0.01)
            assert seen == [
                ("Added", None, 1, True),
                ("Modified", 1, 2, False),
                ("Added", None, 3, False),
                ("Deleted", 2, 2, False),
            ]

    run(main())


def test_a_subscriber_sees_the_new_state_in_the_informer(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        for name in "abc":
            world.server.put(name)
        sizes: list[int] = []
        informer.subscribe(lambda _: sizes.append(len(informer.list())))
        async with world.running():
            assert sizes == [3, 3, 3]

    run(main())


def test_a_late_subscriber_is_shown_what_is_there_and_a_former_one_nothing(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        world.server.put("a")
        async with world.running():
            seen: list[tuple[str, bool]] = []
            stop = informer.subscribe(lambda event: seen.append((event.entry.name, event.initial)))
            world.server.put("b")
            await asyncio.sleep(0.01)
            stop()
            world.server.put("c")
            await asyncio.sleep(0.01)
            assert seen == [("a", True), ("b", False)]

    run(main())


def test_a_failing_subscriber_is_logged_and_disturbs_no_other(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        seen: list[str] = []

        def fail(_: Event[Widget]) -> None:
            raise ZeroDivisionError

        informer.subscribe(fail)
        informer.subscribe(lambda event: seen.append(event.entry.name))
        async with world.running():
            await world.client.create(made(widget, "a"))
            assert seen == ["a"]
            assert informer.live
            assert world.messages("error") == ["a subscriber failed"]

    run(main())


def test_a_failing_index_is_logged_and_the_object_held(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget, indexes={"inverse": lambda obj: [str(1 // obj.spec.size)]})
        world.server.put("zero", size=0)
        world.server.put("one", size=1)
        async with world.running():
            assert [obj.name for obj in informer.list()] == ["one", "zero"]
            assert [obj.name for obj in informer.list(index=("inverse", "1"))] == ["one"]
            assert world.messages("error") == ["an index failed"]

    run(main())


def test_an_index_may_give_one_value_several_or_none(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    """One that was given as text was taken for its letters."""

    def values(obj: Widget) -> str | list[str] | None:
        return {0: None, 1: "first", 2: ["even", "even", "small"], 3: ""}[obj.spec.size]

    async def main() -> None:
        informer = world.cache.informer(widget, indexes={"kind": values})
        for size in range(4):
            world.server.put(f"w{size}", size=size)
        async with world.running():
            found = {
                value: [obj.name for obj in informer.list(index=("kind", value))]
                for value in ("first", "f", "even", "small", "")
            }
            assert found == {"first": ["w1"], "f": [], "even": ["w2"], "small": ["w2"], "": ["w3"]}
            assert world.messages("error") == []

    run(main())


def test_an_index_of_what_is_no_text_is_said_to_be(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        by_size: Any = lambda obj: [obj.spec.size]  # noqa: E731 - as somebody without a type checker has it
        world.cache.informer(widget, indexes={"size": by_size})
        world.server.put("a", size=3)
        async with world.running():
            assert world.messages("error") == ["an index failed"]

    run(main())


def test_an_informer_of_a_selection_lets_go_of_what_leaves_it(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        chosen = world.cache.informer(widget, labels={"app": "x"})
        elsewhere = world.cache.informer(widget, namespaces="other")
        everything = world.cache.informer(widget)
        async with world.running():
            world.server.deafen_watches()
            await world.client.apply(made(widget, "a", app="x"))
            assert (len(chosen), len(elsewhere), len(everything)) == (1, 0, 1)
            await world.client.apply(made(widget, "a", app="y"))
            assert (len(chosen), len(elsewhere), len(everything)) == (0, 0, 1)

    run(main())


def test_own_writes_are_matched_with_field_selectors_too(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        small = world.cache.informer(widget, fields="spec.size=1,metadata.namespace=ns,spec.color!=red")
        async with world.running():
            world.server.deafen_watches()
            await world.client.apply(made(widget, "a", 1))
            assert len(small) == 1
            await world.client.apply(made(widget, "a", 2))
            assert len(small) == 0

    run(main())


def test_equal_declarations_share_an_informer(world: World, widget: type[Widget]) -> None:
    first = world.cache.informer(widget, labels={"a": "1", "b": "2"})
    assert world.cache.informer(widget, labels="b=2,a=1") is first
    assert world.cache.informer(widget) is not first
    assert world.cache.informer(widget, namespaces="ns", labels="a=1,b=2") is not first
    assert len(list(world.cache)) == 3


def test_indexes_of_one_name_must_be_one_function(world: World, widget: type[Widget]) -> None:
    def by_name(obj: Widget) -> list[str]:
        return [obj.name]

    informer: Informer[Widget] = world.cache.informer(widget, indexes={"name": by_name})
    assert world.cache.informer(widget, indexes={"name": by_name}) is informer
    with pytest.raises(ValueError, match="another index called 'name'"):
        world.cache.informer(widget, indexes={"name": lambda obj: [obj.name]})


def test_nothing_is_watched_that_was_not_declared_before_the_cache_ran(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        world.cache.informer(widget)
        async with world.running():
            with pytest.raises(RuntimeError, match="Widget is not among the kinds"):
                world.cache.informer(widget, namespaces="other")
            assert world.cache.informer(widget) is next(iter(world.cache))

    run(main())


def test_stopping_the_cache_leaves_no_watch_open(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        world.cache.informer(widget)
        async with world.running():
            assert world.server.watching == 1
        assert world.server.watching == 0
        await world.client.create(made(widget, "a"))
        assert len(world.cache.informer(widget)) == 0  # it no longer listens either

    run(main())
