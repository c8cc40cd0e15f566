"""When the pages of a list are asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

import pytest

from kubewright.api import DecodeError, Gone, Status
from kubewright.cache.page import Page
from kubewright.cache.pages import pages
from kubewright.testing import run_in_virtual_time

QUERY = [("limit", "1")]


def answer(name: str, following: str = "") -> bytes:
    return b'{"metadata":{"resourceVersion":"7","continue":"%s"},"items":[{"metadata":{"name":"%s"}}]}' % (
        following.encode(),
        name.encode(),
    )


class Server:
    """Gives its answers in order, each a second after it was asked for; a class is raised."""

    def __init__(self, *answers: bytes | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[Sequence[tuple[str, str]]] = []
        self.under_way = 0

    async def fetch(self, query: Sequence[tuple[str, str]]) -> bytes:
        self.asked.append(query)
        self.under_way += 1
        try:
            await asyncio.sleep(1)
        finally:
            self.under_way -= 1
        given = self.answers.pop(0)
        if isinstance(given, Exception):
            raise given
        return given


def names(page: Page) -> list[bytes]:
    return [bytes(item) for group in page for item in group]


def test_a_page_is_asked_for_while_the_one_before_is_looked_at() -> None:
    async def main() -> None:
        server = Server(answer("a", "x"), answer("b", "y"), answer("c"))
        loop = asyncio.get_running_loop()
        begin, seen = loop.time(), []
        async for page in pages(server.fetch, QUERY):
            seen += names(page)
            await asyncio.sleep(1)
        assert [item[21:22] for item in seen] == [b"a", b"b", b"c"]
        assert [dict(query).get("continue") for query in server.asked] == [None, "x", "y"]
        assert loop.time() - begin == 4  # not six: two of three seconds of looking are spent on asking, too

    run_in_virtual_time(main)


def test_who_stops_in_the_middle_leaves_no_request_behind() -> None:
    async def main() -> None:
        server = Server(answer("a", "x"), answer("b"))
        async with aclosing(pages(server.fetch, QUERY)) as listed:
            async for _ in listed:
                await asyncio.sleep(0.5)
                assert server.under_way == 1
                break
        assert server.under_way == 0
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run_in_virtual_time(main)


@pytest.mark.parametrize("second", [Gone(Status(code=410, reason="Expired")), b"no list"])
def test_a_page_that_is_none_is_an_error_after_those_before(second: bytes | Exception) -> None:
    async def main() -> None:
        seen = []
        with pytest.raises((Gone, DecodeError)):
            async for page in pages(Server(answer("a", "x"), second).fetch, QUERY):
                seen += names(page)
        assert len(seen) == 1

    run_in_virtual_time(main)
