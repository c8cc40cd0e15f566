"""Paths and methods that are served and that are not; gzip and pretty."""

from __future__ import annotations

import re

from tests.conformance.listing import widgets
from tests.conformance.registry import case
from tests.conformance.resources import GROUP, WIDGETS, widget
from tests.conformance.world import World

THRESHOLD = 128 * 1024
"""From how many bytes on a real server compresses."""


@case("get, list", given="an object", body="HEAD")
async def head(w: World) -> None:
    await widgets(w, "a")
    for path in (f"{WIDGETS}/a", WIDGETS, f"{WIDGETS}/z"):
        answer = await w.send("HEAD", path)
        kind = answer.headers.get("content-type", "")
        w.transcript.add(path.removeprefix(WIDGETS), status=answer.status, type=kind, body=answer.body)


@case("any", given="an object", body="methods that are none for it")
async def other_methods(w: World) -> None:
    await widgets(w, "a")
    for method, path in (
        ("OPTIONS", f"{WIDGETS}/a"),
        ("OPTIONS", WIDGETS),
        ("POST", f"{WIDGETS}/a"),
        ("PUT", WIDGETS),
        ("TRACE", WIDGETS),
        ("BREW", WIDGETS),
        ("DELETE", f"/apis/{GROUP}/v1/widgets/a"),
        ("GET", f"/apis/{GROUP}/v1/widgets/a"),
    ):
        body: dict[str, str] | None = {} if method in {"POST", "PUT", "PATCH"} else None
        await w.send(method, path, body, label=f"{method} {path.removeprefix(WIDGETS)}")


@case("any", given="a built-in object", body="methods that are none for it", truth=("1.36", "1.20"))
async def other_methods_built_in(w: World) -> None:
    secrets = "/api/v1/namespaces/{ns}/secrets"
    await w.create(secrets, {"metadata": {"name": "a"}})
    for method, path in (
        ("OPTIONS", f"{secrets}/a"),
        ("POST", f"{secrets}/a"),
        ("PUT", secrets),
        ("PATCH", secrets),
        ("DELETE", "/api/v1/secrets"),
        ("POST", "/api/v1/secrets"),
        ("GET", "/api/v1/secrets/a"),
    ):
        await w.send(method, path, {} if method in {"POST", "PUT", "PATCH"} else None, label=f"{method} {path}")


@case("get", given="nothing there", body="unknown paths", truth=("1.36", "1.20"))
async def unknown_paths(w: World) -> None:
    for path in (
        "/api/v2",
        "/api/v1/nothings",
        "/api/v1/namespaces/{ns}/nothings",
        "/api/v1/namespaces/{ns}/nothings/x",
        "/api/v1/namespaces/{ns}/secrets/x/nothing",
        "/apis/nothing.example.com",
        "/apis/nothing.example.com/v1",
        "/apis/nothing.example.com/v1/things",
        "/apis/apps/v9/deployments",
        "/apis/apps/v9",
        "/apis/apps/v1/nothings",
    ):
        await w.get(path, label=path)


@case("get, post", given="nothing there", body="a path that is none of an API", truth=("1.36", "1.20"))
async def unknown_root(w: World) -> None:
    for method, path in (("GET", "/nothing"), ("POST", "/nothing/more"), ("HEAD", "/nothing")):
        answer = await w.send(method, path)
        found = answer.body and "/apis" in answer["paths"]
        w.transcript.add(f"{method} {path}", status=answer.status, type=answer.headers["content-type"], paths=found)


@case("get", given="a definition of widgets", body="unknown paths in its group")
async def unknown_paths_of_group(w: World) -> None:
    await widgets(w, "a")
    for path in (
        f"/apis/{GROUP}/v1/namespaces/{{ns}}/nothings",
        f"/apis/{GROUP}/v9/namespaces/{{ns}}/widgets",
        f"/apis/{GROUP}/v9",
        f"{WIDGETS}/a/nothing",
        f"{WIDGETS}/a/status/nothing",
        f"{WIDGETS}/a/status/nothing/more",
        f"/apis/{GROUP}/v1/namespaces/{{ns}}/sites",
        f"/apis/{GROUP}/v1/sites/none",
        f"/apis/{GROUP}/v1/namespaces/none/widgets",
        f"/apis/{GROUP}/v1/namespaces/none/widgets/a",
    ):
        await w.get(path, label=path)


@case("get", given="an object as large as is compressed", body="Accept-Encoding")
async def compressed(w: World) -> None:
    await w.create(WIDGETS, widget("large", free={"text": "x" * THRESHOLD}))
    await w.create(WIDGETS, widget("small", free={"text": "x" * (THRESHOLD // 2)}))
    for accept in ("gzip", "gzip, deflate", "deflate, gzip;q=1.0", "GZIP", "br", "identity", "*", "gzip;q=0"):
        for name in ("large", "small"):
            answer = await w.get(f"{WIDGETS}/{name}", headers={"accept-encoding": accept})
            taken = {key: answer.headers.get(key) for key in ("content-encoding", "vary")}
            w.transcript.add(f"{name}: {accept}", whole=len(answer["spec"]["free"]["text"]), **taken)


@case("list, get", given="objects that are large together", body="Accept-Encoding: gzip")
async def compressed_list(w: World) -> None:
    for name in ("a", "b"):
        await w.create(WIDGETS, widget(name, free={"text": "x" * (THRESHOLD * 2 // 3)}))
    gzip = {"accept-encoding": "gzip"}
    for label, path in (("list", WIDGETS), ("get", f"{WIDGETS}/a"), ("missing", f"{WIDGETS}/z")):
        answer = await w.get(path, headers=gzip)
        taken = {key: answer.headers.get(key) for key in ("content-encoding", "vary")}
        w.transcript.add(label, status=answer.status, **taken)
    answer = await w.get(WIDGETS, headers={**gzip, "accept": "application/yaml"})
    w.transcript.add("yaml", encoding=answer.headers.get("content-encoding"))
    answer = await w.merge(f"{WIDGETS}/a", {"spec": {"free": {"text": "x" * THRESHOLD}}}, headers=gzip)
    w.transcript.add("patch", encoding=answer.headers.get("content-encoding"))


@case("get", given="an object", body="pretty")
async def pretty(w: World) -> None:
    await widgets(w, "a")
    for value in ("true", "1", "", "yes", "false", "0", "FALSE", "no"):
        await _shape(w, f"pretty={value}", query={"pretty": value})
    await _shape(w, "not asked")
    for agent in ("curl/8.0", "Wget/1.0", "Mozilla/5.0 (X11)", "kubectl/v1.36.0"):
        await _shape(w, agent, headers={"user-agent": agent})
    await _shape(w, "curl, pretty=false", headers={"user-agent": "curl/8.0"}, query={"pretty": "false"})


async def _shape(w: World, label: str, **options: object) -> None:
    """How an answer is laid out: its first lines' beginnings, and its end."""
    answer = await w.get(f"{WIDGETS}/a", **options)
    text = answer.text
    lines = [re.match(r" *\S{1,12}", line) for line in text.split("\n")[:4]]
    w.transcript.add(label, begins=[line and line[0] for line in lines], ends="}\n" if text.endswith("\n") else "}")


@case("get", given="no such object", body="pretty")
async def pretty_status(w: World) -> None:
    answer = await w.get(f"{WIDGETS}/z", query={"pretty": "true"})
    w.transcript.add("missing", text=answer.text)
    answer = await w.get(WIDGETS, query={"labelSelector": "a b", "pretty": "true"})
    w.transcript.add("list", text=answer.text)
