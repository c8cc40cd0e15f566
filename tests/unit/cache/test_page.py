"""The items of a list's answer are told apart in its text as a decoder would tell them apart."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubewright.api import DecodeError
from kubewright.cache.page import Page

ITEM = {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x"}}
ODD = st.recursive(
    st.sampled_from([None, 1, "", "},{", '"items":[', '},{"apiVersion":"v1","kind":"Thing","metadata":{', "\\", '"']),
    lambda inner: (
        st.lists(inner | st.just(ITEM), max_size=3)
        | st.dictionaries(st.sampled_from(["items", "metadata", "a"]), inner)
    ),
    max_leaves=6,
)
SIZES = st.sampled_from([1, 40, 128 * 1024])
ITEMS = st.dictionaries(st.sampled_from(["spec", "status"]), ODD)


def read(page: Page) -> list[Any]:
    return [msgspec.json.decode(item) for group in page for item in group]


@settings(deadline=None, max_examples=300)
@given(
    items=st.lists(ITEMS, max_size=5),
    typed=st.booleans(),
    before=st.dictionaries(st.sampled_from(["a", "b"]), ODD, max_size=2),
    meta_first=st.booleans(),
    spaces=st.booleans(),
    size=SIZES,
)
def test_items_are_those_that_a_decoder_finds(
    items: list[dict[str, Any]], typed: bool, before: dict[str, Any], meta_first: bool, spaces: bool, size: int
) -> None:
    head = {"apiVersion": "v1", "kind": "Thing"} if typed else {}
    whole = [{**head, "metadata": {"name": str(number)}, **item} for number, item in enumerate(items)]
    meta = {"metadata": {"resourceVersion": "7", "continue": "next"}}
    listed = {**before, "kind": "ThingList", **({**meta, "items": whole} if meta_first else {"items": whole, **meta})}
    text = msgspec.json.encode(listed)
    page = Page(msgspec.json.format(text, indent=1) if spaces else text, size)
    assert read(page) == whole
    assert (page.meta.resource_version, page.meta.continue_) == ("7", "next")


def test_groups_are_short_and_in_order() -> None:
    things: list[dict[str, Any]] = [
        {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": f"{n:04}"}} for n in range(5000)
    ]
    things[3000]["data"] = "x" * 1_000_000  # a large one among small ones
    groups = list(Page(msgspec.json.encode({"metadata": {"resourceVersion": "1"}, "items": things})))
    assert [msgspec.json.decode(item) for group in groups for item in group] == things
    assert max(len(group) for group in groups) <= 256
    assert max(sum(len(item) for item in group) for group in groups) < 1_200_000


@pytest.mark.parametrize(
    "text", [b"", b"[]", b'{"items":[{"metadata":{}},{"metadata":{}}', b'{"items":[{"metadata":{},{"metadata":{}}]}']
)
def test_what_is_no_list_is_refused(text: bytes) -> None:
    with pytest.raises(DecodeError, match="not a list of objects"):
        read(Page(text))
