"""No secret reaches a log, an event or a condition: whatever goes wrong, at level debug."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import random
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web

from kubewright import ApiError, Client, Context, Manager, ObjectMeta, Operator, Watch
from kubewright.api import DecodeError, LoopClock
from kubewright.client import TransportError
from kubewright.client.credentials import ConfigError
from kubewright.client.https import HttpsTransport
from kubewright.client.kubeconfig import load
from kubewright.controller import Request
from kubewright.devcluster.cluster import DevCluster
from kubewright.kinds import core_v1, events_v1
from kubewright.telemetry import Log, Metrics, PrometheusExporter, new_log
from kubewright.testing import install, run_in_virtual_time
from tests.integration.controller.worlds import Widget, WidgetSpec

CANARY = "canary-7e57"
FORMS = (
    CANARY,
    base64.b64encode(CANARY.encode()).decode().rstrip("="),
    base64.b64encode(f"me:{CANARY}".encode()).decode(),
)


def check(text: str) -> None:
    for form in FORMS:
        at = text.find(form)
        assert at < 0, f"a secret was told: {text[max(at - 300, 0) : at + 100]}"


def secret(name: str = "s") -> core_v1.Secret:
    return core_v1.Secret(
        metadata=ObjectMeta(name=name, namespace="default"),
        data={"password": base64.b64encode(CANARY.encode()).decode()},
    )


# the operator


def leaky() -> Operator:  # noqa: C901 - one case for each mistake
    """Does with Secrets what people do by mistake; a widget's size says what."""
    operator = Operator("leaky")

    def whom(found: core_v1.Secret) -> Any:
        return [found] if found.name == "mapped" else [Request(None, "default", "w1")]

    @operator.controller(Widget, owns=[core_v1.Secret], watches=[Watch(core_v1.Secret, to=whom)], timeout=2)
    async def reconcile(widget: Widget, ctx: Context) -> Any:
        own = await ctx.apply(secret(f"of-{widget.name}"))
        ctx.log.debug("applied", secret=own, all=[own], by_name={"s": own})
        match widget.spec.size:
            case 1:
                return own
            case 2:
                await ctx.create(own)  # exists
            case 3:
                await ctx.client.get(Widget, CANARY[:6], namespace="default")  # not there
            case 4:
                own.type = "other"
                await ctx.apply(own)  # can't be changed
            case 5:
                own.metadata.labels = {"not a name": "x"}
                await ctx.apply(own)
            case 6:
                await asyncio.sleep(60)
            case 7:  # a storm
                await asyncio.sleep(0.05)
                await ctx.apply(core_v1.Secret(metadata=ObjectMeta(name="storm"), data={"p": _new()}))
            case 8:
                raise RuntimeError("it failed") from ValueError(f"401 for Authorization: Bearer {CANARY}")
            case 9:
                with ctx.span("secretly", secret=own):
                    raise ApiErrorLike(own)
            case 10:
                _in_plain(own)
                await ctx.apply(own)
            case 11:
                await ctx.edit(own, _in_plain)
            case _:
                raise SystemExit(f"https://me:{CANARY}@example.com is away")
        return None

    @operator.finalizer(Widget, name="example.com/clean")
    async def clean(widget: Widget, ctx: Context) -> None:
        if ctx.attempt < 3:
            raise RuntimeError(f"Basic {FORMS[2]} was refused")

    return operator


class ApiErrorLike(Exception):
    def __init__(self, obj: core_v1.Secret) -> None:
        super().__init__("an error that holds an object")
        self.obj = obj


def _in_plain(obj: core_v1.Secret) -> None:
    """Not in base64, so that the server can make no Secret of it; its answer to a patch repeats it."""
    obj.data = {"password": f"{CANARY}!"}


def _new() -> str:
    return base64.b64encode(f"{CANARY}{CANARY}-{asyncio.get_running_loop().time()}".encode()).decode()


def test_an_operator_that_handles_secrets_badly_tells_none() -> None:
    operator = leaky()

    async def main() -> None:
        clock, rng, text = LoopClock(), random.Random(1), io.StringIO()
        log, metrics = new_log("json", level="debug", stream=text), Metrics()
        async with DevCluster(clock=clock, rng=rng) as cluster:
            somebody = Client(cluster.transport(), clock=clock, rng=rng)
            await install(somebody, operator)
            client = Client(cluster.transport(), clock=clock, rng=rng, log=log)
            manager = Manager(operator, client, clock=clock, rng=rng, log=log, metrics=metrics)
            running = asyncio.create_task(manager.run())
            await asyncio.sleep(1)
            for size in range(1, 13):
                metadata = ObjectMeta(name=f"w{size}", namespace="default")
                await somebody.create(Widget(metadata=metadata, spec=WidgetSpec(size=size)))
            await asyncio.sleep(60)
            await somebody.create(secret("mapped"))
            for size in range(1, 13):
                await somebody.delete(Widget, f"w{size}", namespace="default")
            await asyncio.sleep(60)
            running.cancel()
            await asyncio.wait([running])
            events = await somebody.rest.list(events_v1.Event.__resource__)
            exposition = PrometheusExporter(metrics).exposition()[0]
        logged = text.getvalue()
        told = [json.loads(line) for line in logged.splitlines()]
        for message in ("reconcile failed", "applied", "span", "a mapper failed; its event is given up"):
            assert any(line["msg"] == message for line in told), message
        assert any("wake each other" in line["msg"] for line in told)
        assert len({line["name"] for line in told if "illegal base64 data" in line.get("error", "")}) == 2
        check(logged)
        check(events.decode())
        check(exposition.decode())

    run_in_virtual_time(main)


# the client


@asynccontextmanager
async def rude_server() -> AsyncIterator[str]:
    """Answers with what it was sent, headers included, as badly configured proxies do; a path says with which status."""

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        told = f"{request.method} {request.path_qs}\n" + "\n".join(f"{k}: {v}" for k, v in request.headers.items())
        status = int(request.path.rpartition("/")[2]) if request.path[-3:].isdecimal() else 502
        if status == 200:
            return web.Response(
                text='{"kind": "Secret", "data": {"password": 5, "p": "' + FORMS[1] + '"}, "metadata": 3}'
            )
        return web.Response(
            status=status, text=told, headers={"Warning": f'299 - "{told.splitlines()[-1]} deprecated"'}
        )

    runner = web.ServerRunner(web.Server(answer, access_log=None))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def kubeconfig(path: Path, server: str, user: dict[str, Any], **cluster: Any) -> Path:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": server, **cluster}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    }
    path.write_text(yaml.safe_dump(document))
    return path


def plugin(script: str) -> dict[str, Any]:
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": sys.executable,
            "args": ["-c", script, CANARY],
            "env": [{"name": "PASSWORD", "value": CANARY}],
            "interactiveMode": "Never",
        }
    }


def _answer(**status: Any) -> str:
    body = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}
    return f"print({json.dumps(body)!r})"


USERS: dict[str, dict[str, Any]] = {
    "token": {"token": CANARY},
    "password": {"username": "me", "password": CANARY},
    "plugin": plugin(_answer(token=CANARY)),
    "plugin with half a certificate": plugin(_answer(clientCertificateData=CANARY)),
    "plugin with a bad time": plugin(_answer(token=CANARY, expirationTimestamp=CANARY)),
    "plugin with a token in two words": plugin(_answer(token=f"{CANARY} {CANARY}")),
    "plugin that is no JSON": plugin(f"print('{CANARY}')"),
    "plugin that fails": plugin("import sys; sys.exit(3)"),
    "key that is none": {"client-certificate-data": FORMS[1] + "==", "client-key-data": FORMS[1] + "=="},
    "key that is no base64": {"client-certificate-data": f"!{CANARY}", "client-key-data": f"!{CANARY}"},
    "token of a wrong type": {"token": [CANARY]},
    "unknown provider": {"auth-provider": {"name": "oidc", "config": {"client-secret": CANARY}}},
}


async def _all_errors(path: Path, log: Log, told: list[str]) -> None:
    """Has a client of that kubeconfig go through all that it can be told."""
    try:
        config = load(path)
        told.append(repr(config))
        transport = HttpsTransport(config, log=log)
    except ConfigError as error:
        log.error("not configured", error=str(error), config=repr(error))
        told += [str(error), repr(error), str(error.__cause__)]
        return
    client = Client(transport, log=log)
    try:
        for status in (200, 400, 401, 403, 404, 409, 410, 422, 429, 500, 502, 503):
            for work in (
                client.get(core_v1.Secret, f"s/{status}".replace("/", "-"), namespace="default"),
                client.create(secret()),
                client.rest.read(f"/api/{status}"),
            ):
                try:
                    await work
                except (ApiError, TransportError, DecodeError) as error:
                    log.exception("refused", error=error)
                    told += [str(error), repr(error)]
        try:
            async with client.rest.stream("/api/502") as chunks:
                async for _ in chunks:
                    break
        except (ApiError, TransportError) as error:
            log.exception("refused", error=error)
            told += [str(error), repr(error)]
    finally:
        await client.close()


@pytest.mark.parametrize("user", USERS)
async def test_a_client_tells_no_credential(user: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubewright.client.retries._ATTEMPTS", 1)
    told: list[str] = []
    for format_ in ("json", "console"):
        text = io.StringIO()
        log = new_log("json" if format_ == "json" else "console", level="debug", stream=text)
        async with rude_server() as server:
            await _all_errors(kubeconfig(tmp_path / "config", server, USERS[user]), log, told)
        if format_ == "json":
            check("\n".join(told))
        check(text.getvalue())
        assert told


async def test_neither_a_proxys_password_nor_a_broken_file_is_told(tmp_path: Path) -> None:
    told: list[str] = []
    text = io.StringIO()
    log = new_log("json", level="debug", stream=text)
    for proxy in (f"http://me:{CANARY}@127.0.0.1:9", f"ftp://me:{CANARY}@x", f"http://me:{CANARY}@x:port"):
        path = kubeconfig(tmp_path / "proxied", "https://127.0.0.1:9", {"token": CANARY}, **{"proxy-url": proxy})
        await _all_errors(path, log, told)
    for broken in (f"users: [{{name: u, user: {{token: {CANARY}", f"token: '{CANARY}\n{CANARY}: : x", f"- {CANARY}"):
        path = tmp_path / "broken"
        path.write_text(broken)
        await _all_errors(path, log, told)
    check(text.getvalue() + "\n".join(told))
    assert len(told) >= 6
