"""resourceVersion and resourceVersionMatch of get and list."""

from __future__ import annotations

from tests.conformance.listing import brief, brief_list, caught_up, widgets
from tests.conformance.registry import case
from tests.conformance.resources import WIDGETS, widget
from tests.conformance.world import Answer, World

SECRETS = "/api/v1/namespaces/{ns}/secrets"


async def _history(w: World) -> tuple[Answer, Answer]:
    """Three widgets one after the other; the second and the last of them."""
    _, second, last = await widgets(w, "a", "b", "c")
    return second, last


async def _lists(w: World, version: str, match: str) -> None:
    """Without a limit and with one, and the rest of that."""
    query = {"resourceVersion": version, **({"resourceVersionMatch": match} if match else {})}
    brief(w, "all", await w.get(WIDGETS, query=query))
    page = brief(w, "limit=1", await w.get(WIDGETS, query={**query, "limit": "1"}))
    if page.status == 200 and (rest := page["metadata"].get("continue")):
        brief(w, "the rest", await w.get(WIDGETS, query={"continue": rest}))


@case("list", given="three objects", body="resourceVersion=0")
async def list_at_any(w: World) -> None:
    await _history(w)
    await _lists(w, "0", "")


@case("list", given="three objects", body="resourceVersion=0, NotOlderThan")
async def list_not_older_than_any(w: World) -> None:
    await _history(w)
    await _lists(w, "0", "NotOlderThan")


@case("list", given="three objects", body="resourceVersion=0, Exact")
async def list_exactly_any(w: World) -> None:
    await _history(w)
    await _lists(w, "0", "Exact")


@case("list", given="three objects", body="no resourceVersion, Exact")
async def list_exactly_unset(w: World) -> None:
    await _history(w)
    await _lists(w, "", "Exact")


@case("list", given="three objects", body="no resourceVersion, NotOlderThan")
async def list_not_older_than_unset(w: World) -> None:
    await _history(w)
    await _lists(w, "", "NotOlderThan")


@case("list", given="an object came after it", body="resourceVersion of the past")
async def list_at_past(w: World) -> None:
    second, _ = await _history(w)
    await _lists(w, second.version, "")


@case("list", given="an object came after it", body="resourceVersion of the past, NotOlderThan")
async def list_not_older_than_past(w: World) -> None:
    second, _ = await _history(w)
    await _lists(w, second.version, "NotOlderThan")


@case("list", given="objects came, changed and went after it", body="resourceVersion of the past, Exact")
async def list_exactly_past(w: World) -> None:
    second, _ = await _history(w)
    await w.merge(f"{WIDGETS}/a", {"spec": {"size": 7}})
    await w.delete(f"{WIDGETS}/b")
    await w.get(WIDGETS, label="now")
    query = {"resourceVersion": second.version, "resourceVersionMatch": "Exact"}
    await w.get(WIDGETS, query=query, label="then")
    first = brief(w, "then, a page", await w.get(WIDGETS, query={**query, "limit": "1"}))
    brief(w, "then, the rest", await w.get(WIDGETS, query={"continue": first["metadata"]["continue"]}))
    brief(w, "then, selected", await w.get(WIDGETS, query={**query, "fieldSelector": "metadata.name=b"}))


@case("list", given="it is the latest version", body="resourceVersion of the last write")
async def list_at_latest(w: World) -> None:
    _, last = await _history(w)
    await _lists(w, last.version, "")


@case("list", given="it is the latest version", body="resourceVersion of the last write, Exact")
async def list_exactly_latest(w: World) -> None:
    _, last = await _history(w)
    await _lists(w, last.version, "Exact")


@case("list", given="no such version yet", body="resourceVersion of the future")
async def list_at_future(w: World) -> None:
    await _history(w)
    await brief_list(w, WIDGETS, resourceVersion=w.future())


@case("list", given="no such version yet", body="resourceVersion of the future, NotOlderThan")
async def list_not_older_than_future(w: World) -> None:
    await _history(w)
    await brief_list(w, WIDGETS, resourceVersion=w.future(), resourceVersionMatch="NotOlderThan")


@case("list", given="no such version yet", body="resourceVersion of the future, Exact")
async def list_exactly_future(w: World) -> None:
    await _history(w)
    await brief_list(w, WIDGETS, resourceVersion=w.future(), resourceVersionMatch="Exact")
    await brief_list(w, WIDGETS, resourceVersion=w.future(), limit="1")


@case("list", given="three objects", body="resourceVersions that are none")
async def list_at_nonsense(w: World) -> None:
    await _history(w)
    for version in ("x", "-1", "1.5", "+1", "99999999999999999999"):
        await brief_list(w, WIDGETS, resourceVersion=version)
    await brief_list(w, WIDGETS, resourceVersion="x", resourceVersionMatch="Exact")
    await brief_list(w, WIDGETS, resourceVersion="x", resourceVersionMatch="NotOlderThan")


@case("list", given="three objects", body="resourceVersionMatches that are none")
async def list_match_nonsense(w: World) -> None:
    await _history(w)
    await brief_list(w, WIDGETS, resourceVersionMatch="exact")
    await brief_list(w, WIDGETS, resourceVersion="0", resourceVersionMatch="Newest")
    await brief_list(w, WIDGETS, resourceVersion="1", resourceVersionMatch="Newest")
    await brief_list(w, WIDGETS, resourceVersion="1", resourceVersionMatch="Newest", limit="1")


@case("list", given="two pages", body="continue with resourceVersionMatch")
async def continue_with_match(w: World) -> None:
    await _history(w)
    rest = (await w.get(WIDGETS, query={"limit": "1"}))["metadata"]["continue"]
    for match in ("Exact", "NotOlderThan"):
        brief(w, match, await w.get(WIDGETS, query={"continue": rest, "resourceVersionMatch": match}))


@case("list", given="three objects", body="sendInitialEvents")
async def list_sends_initial_events(w: World) -> None:
    await _history(w)
    await brief_list(w, WIDGETS, sendInitialEvents="true")
    await brief_list(w, WIDGETS, sendInitialEvents="false")
    await brief_list(w, WIDGETS, sendInitialEvents="true", resourceVersionMatch="NotOlderThan")


@case("get", given="the object has changed since", body="each kind of resourceVersion")
async def get_at_versions(w: World) -> None:
    old = await w.create(WIDGETS, widget("a"))
    new = await w.merge(f"{WIDGETS}/a", {"spec": {"size": 2}}, label="changed")
    await caught_up(w)
    await w.get(f"{WIDGETS}/a", label="now")
    for label, version in (("any", "0"), ("of the past", old.version), ("its own", new.version)):
        await w.get(f"{WIDGETS}/a", query={"resourceVersion": version}, label=label)


@case("get", given="an object", body="a resourceVersionMatch")
async def get_with_match(w: World) -> None:
    old = await w.create(WIDGETS, widget("a"))
    await w.merge(f"{WIDGETS}/a", {"spec": {"size": 2}})
    await caught_up(w)
    query = {"resourceVersion": old.version, "resourceVersionMatch": "Exact"}
    await w.get(f"{WIDGETS}/a", query=query, label="exact")


@case("get", given="an object", body="resourceVersions that are none")
async def get_at_nonsense(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    for version in ("x", "-1"):
        await w.get(f"{WIDGETS}/a", query={"resourceVersion": version}, label=version)


@case("get", given="no such version yet", body="resourceVersion of the future")
async def get_at_future(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    await w.get(f"{WIDGETS}/a", query={"resourceVersion": w.future()}, label="get")


@case("get", given="no such object", body="each kind of resourceVersion")
async def get_missing(w: World) -> None:
    last = await w.create(WIDGETS, widget("a"))
    await w.get(f"{WIDGETS}/z", label="now")
    await w.get(f"{WIDGETS}/z", query={"resourceVersion": "0"}, label="any")
    await w.get(f"{WIDGETS}/z", query={"resourceVersion": last.version}, label="not older than")


@case("list", given="three built-in objects", body="each kind of resourceVersion")
async def list_built_in(w: World) -> None:
    made = [await w.create(SECRETS, {"metadata": {"name": name, "labels": {"own": "yes"}}}) for name in ("a", "b", "c")]
    own = {"labelSelector": "own=yes"}
    brief(w, "now", await w.get(SECRETS, query=own))
    past, last = {"resourceVersion": made[1].version}, {"resourceVersion": made[2].version}
    brief(w, "not older", await w.get(SECRETS, query={**own, **last, "resourceVersionMatch": "NotOlderThan"}))
    brief(w, "exact", await w.get(SECRETS, query={**own, **past, "resourceVersionMatch": "Exact"}))
    brief(w, "a page", await w.get(SECRETS, query={**own, **past, "limit": "1"}))
