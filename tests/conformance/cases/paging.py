"""Lists in pages."""

from __future__ import annotations

import base64

from tests.conformance.listing import brief, brief_list, labelled, read_token, token, widgets
from tests.conformance.registry import case
from tests.conformance.resources import GROUP, WIDGETS, widget
from tests.conformance.world import World

ALL_WIDGETS = f"/apis/{GROUP}/v1/widgets"


@case("list", given="three objects", body="limit=2, then the rest")
async def pages(w: World) -> None:
    await widgets(w, "a", "b", "c")
    first = await w.get(WIDGETS, query={"limit": "2"}, label="first page")
    await w.get(WIDGETS, query={"limit": "2", "continue": first["metadata"]["continue"]}, label="second page")


@case("list", given="three objects", body="limits around their number")
async def limits(w: World) -> None:
    await widgets(w, "a", "b", "c")
    for limit in ("1", "2", "3", "4", "0", "", "-1", "x", "1.5"):
        await brief_list(w, WIDGETS, limit=limit)


@case("list", given="objects come, change and go after the first page", body="continue")
async def pages_of_one_moment(w: World) -> None:
    await widgets(w, "a", "b", "c", "d")
    first = brief(w, "first page", await w.get(WIDGETS, query={"limit": "1"}))
    await w.create(WIDGETS, widget("aa"))
    await w.create(WIDGETS, widget("e"))
    await w.merge(f"{WIDGETS}/b", {"spec": {"size": 5}})
    await w.delete(f"{WIDGETS}/c")
    await w.get(f"{WIDGETS}/b", label="changed")
    second = await w.get(WIDGETS, query={"limit": "2", "continue": first["metadata"]["continue"]}, label="second page")
    brief(w, "third page", await w.get(WIDGETS, query={"continue": second["metadata"]["continue"]}))
    brief(w, "a new list", await w.get(WIDGETS))


@case("list", given="the object that the first page ended with is gone", body="continue")
async def page_after_deleted(w: World) -> None:
    await widgets(w, "a", "b", "c")
    first = brief(w, "first page", await w.get(WIDGETS, query={"limit": "2"}))
    await w.delete(f"{WIDGETS}/b")
    await w.get(f"{WIDGETS}/b", label="gone")
    brief(w, "second page", await w.get(WIDGETS, query={"continue": first["metadata"]["continue"]}))


@case(
    "list",
    given="the server has forgotten the first page's moment",
    body="continue, then the inconsistent token",
    forgets=True,
)
async def expired_page(w: World) -> None:
    await widgets(w, "a", "b", "c", "d")
    first = brief(w, "first page", await w.get(WIDGETS, query={"limit": "1"}))
    await w.delete(f"{WIDGETS}/b")
    last = await w.create(WIDGETS, widget("e"))
    await w.compact(last.version)
    forgotten = token(**{**read_token(first["metadata"]["continue"]), "rv": 1})
    expired = await w.get(WIDGETS, query={"limit": "1", "continue": forgotten}, label="expired")
    rest = expired["metadata"]["continue"]
    second = brief(w, "second page, of now", await w.get(WIDGETS, query={"limit": "1", "continue": rest}))
    rest = second["metadata"]["continue"]
    third = brief(w, "third page", await w.get(WIDGETS, query={"limit": "1", "continue": rest}))
    brief(w, "fourth page", await w.get(WIDGETS, query={"continue": third["metadata"]["continue"]}))
    w.transcript.add(
        "tokens",
        first=read_token(first["metadata"]["continue"])["start"],
        inconsistent=read_token(expired["metadata"]["continue"]),
    )


@case("list", given="the server has forgotten that version", body="resourceVersion", forgets=True)
async def expired_version(w: World) -> None:
    *_, last = await widgets(w, "a", "b", "c")
    await w.compact(last.version)
    first = {"resourceVersion": "1"}
    brief(w, "exact", await w.get(WIDGETS, query={**first, "resourceVersionMatch": "Exact"}))
    brief(w, "no older than", await w.get(WIDGETS, query={**first, "resourceVersionMatch": "NotOlderThan"}))
    brief(w, "with a limit", await w.get(WIDGETS, query={**first, "limit": "1"}))
    brief(w, "alone", await w.get(WIDGETS, query=first))
    await w.get(f"{WIDGETS}/a", query=first, label="get")


@case("list", given="two pages", body="continue with a resourceVersion")
async def continue_with_version(w: World) -> None:
    one, *_ = await widgets(w, "a", "b", "c")
    first = brief(w, "first page", await w.get(WIDGETS, query={"limit": "2"}))
    rest = first["metadata"]["continue"]
    brief(w, "that of an object", await w.get(WIDGETS, query={"continue": rest, "resourceVersion": one.version}))
    brief(w, "zero", await w.get(WIDGETS, query={"continue": rest, "resourceVersion": "0"}))
    exact = {"resourceVersion": one.version, "resourceVersionMatch": "Exact"}
    brief(w, "exact", await w.get(WIDGETS, query={"continue": rest, **exact}))
    older = {"resourceVersion": "0", "resourceVersionMatch": "NotOlderThan"}
    brief(w, "not older than zero", await w.get(WIDGETS, query={"continue": rest, **older}))


@case("list", given="three objects", body="continue tokens that no server made")
async def bad_tokens(w: World) -> None:
    await widgets(w, "a", "b", "c")
    made = {
        "no base64": "%%%",
        "padded": base64.urlsafe_b64encode(b'{"v":"meta.k8s.io/v1","rv":1}').decode(),
        "no JSON": base64.urlsafe_b64encode(b"hello!").decode().rstrip("="),
        "no object": base64.urlsafe_b64encode(b"[1]").decode().rstrip("="),
        "empty object": token(),
        "other version": token(v="v9", rv=1, start="a\0"),
        "no start": token(v="meta.k8s.io/v1", rv=1),
        "no version": token(v="meta.k8s.io/v1", start="a\0"),
        "wrong type": token(v="meta.k8s.io/v1", rv="x", start="a\0"),
        "outside": token(v="meta.k8s.io/v1", rv=1, start="../../secrets/a\0"),
    }
    for label, text in made.items():
        brief(w, label, await w.get(WIDGETS, query={"limit": "1", "continue": text}))


@case("list", given="objects that match among others", body="limit and labelSelector")
async def pages_of_selected(w: World) -> None:
    for name, colour in (("a", "x"), ("b", "y"), ("c", "x"), ("d", "y"), ("e", "x")):
        await w.create(WIDGETS, labelled(name, {"team": colour}))
    query = {"limit": "2", "labelSelector": "team=x"}
    first = brief(w, "first page", await w.get(WIDGETS, query=query))
    brief(w, "second page", await w.get(WIDGETS, query={**query, "continue": first["metadata"]["continue"]}))
    await brief_list(w, WIDGETS, limit="3", labelSelector="team=x")
    await brief_list(w, WIDGETS, limit="1", fieldSelector="metadata.name=c")
    await brief_list(w, WIDGETS, limit="2", fieldSelector="metadata.name!=a")


@case("list", given="objects in all namespaces", body="limit")
async def pages_over_namespaces(w: World) -> None:
    for name in ("a", "b", "c"):
        await w.create(WIDGETS, labelled(name, {"case": w.namespace}))
    query = {"limit": "2", "labelSelector": f"case={w.namespace}"}
    first = brief(w, "first page", await w.get(ALL_WIDGETS, query=query))
    brief(w, "second page", await w.get(ALL_WIDGETS, query={**query, "continue": first["metadata"]["continue"]}))


@case("list", given="no objects", body="limit=1")
async def page_of_nothing(w: World) -> None:
    await w.get(WIDGETS, query={"limit": "1"}, label="list")


@case("list", given="three built-in objects", body="limit=2, then the rest", truth=("1.20", "1.36"))
async def pages_built_in(w: World) -> None:
    path = "/api/v1/namespaces/{ns}/secrets"
    for name in ("a", "b", "c"):
        await w.create(path, {"metadata": {"name": name, "labels": {"own": "yes"}}})
    own = {"labelSelector": "own=yes"}
    first = brief(w, "first page", await w.get(path, query={"limit": "2", **own}))
    brief(w, "second page", await w.get(path, query={"continue": first["metadata"]["continue"], **own}))


@case("list", given="three objects", body="a Table with limit=2, then the rest")
async def pages_of_table(w: World) -> None:
    await widgets(w, "a", "b", "c")
    as_table = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    first = await w.get(WIDGETS, query={"limit": "2"}, headers=as_table)
    w.transcript.add("first page", metadata=first["metadata"], rows=len(first["rows"]))
    rest = await w.get(WIDGETS, query={"limit": "2", "continue": first["metadata"]["continue"]}, headers=as_table)
    w.transcript.add("second page", rows=len(rest["rows"]), more=rest["metadata"].get("continue"))
