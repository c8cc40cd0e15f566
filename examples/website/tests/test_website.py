"""What the Website operator promises, in virtual time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from website_operator.api.v1alpha1 import Website, WebsiteSpec
from website_operator.operator import operator

from kubewright import Invalid, ObjectMeta
from kubewright.api import decode
from kubewright.kinds import apps_v1, core_v1, networking_v1
from kubewright.testing import ABSENT, Harness, OpenHarness, containing

SITE = (Website, "hello")
CONTENT, DEPLOYMENT = (core_v1.ConfigMap, "hello"), (apps_v1.Deployment, "hello")
SERVICE, INGRESS = (core_v1.Service, "hello"), (networking_v1.Ingress, "hello")


def website(**spec: Any) -> Website:
    return Website(metadata=ObjectMeta(name="hello"), spec=WebsiteSpec(**{"html": "<h1>Hello</h1>", **spec}))


async def edit(here: Harness, **spec: Any) -> None:
    def change(site: Website) -> None:
        for name, value in spec.items():
            setattr(site.spec, name, value)

    await here.client.edit(Website, "hello", change, namespace=here.namespace)


def ready(status: str, reason: str, message: str) -> dict[str, Any]:
    return {"conditions": containing({"type": "Ready", "status": status, "reason": reason, "message": message})}


async def test_a_website_comes_up_in_steps(harness: OpenHarness) -> None:
    here = await harness(operator, objects=[website(replicas=2, host="hello.example.com")])
    await here.settle()
    applied = [sent.call.resource for sent in here.writes if sent.call.verb == "apply"]
    assert applied == ["configmaps", "deployments.apps", "services", "ingresses.networking.k8s.io"]
    history = here.history(SITE)
    assert history.condition("Ready") == [None, "False", "True"]
    assert history.values("status.readyReplicas")[:2] == [None, 0]
    await here.assert_object(SITE, {"status": ready("True", "Complete", "done: content, deployment, service, ingress")})
    await here.assert_object(SITE, {"status": {"url": "http://hello.example.com/", "readyReplicas": 2}})


async def test_nobody_is_sent_to_a_page_that_is_not_there_yet(harness: OpenHarness) -> None:
    here = await harness(operator, objects=[website(host="hello.example.com")])
    await here.reconcile(SITE)
    await here.assert_object(CONTENT, {"data": {"index.html": "<h1>Hello</h1>"}})
    await here.assert_absent(SERVICE)
    await here.assert_absent(INGRESS)
    await here.assert_object(
        SITE,
        {
            "status": {
                "url": ABSENT,
                **ready(
                    "False",
                    "StepNotReady",
                    "deployment is not ready: the change has not been seen yet; "
                    "service waits for deployment; ingress waits for service",
                ),
            }
        },
    )


async def test_without_a_host_it_is_served_inside_only(harness: OpenHarness) -> None:
    here = await harness(operator, objects=[website()])
    await here.settle()
    await here.assert_object(SERVICE, {"spec": {"selector": {"app": "hello"}}})
    await here.assert_absent(INGRESS)
    await here.assert_object(
        SITE, {"status": {"url": ABSENT, **ready("True", "Complete", "done: content, deployment, service")}}
    )


async def test_a_host_that_is_taken_away_takes_the_ingress_with_it(harness: OpenHarness) -> None:
    here = await harness(operator, objects=[website(host="hello.example.com")])
    await here.settle()
    here.forget()
    await edit(here, host=None)
    await here.settle()
    assert [str(sent.call) for sent in here.writes] == [
        f"delete ingresses.networking.k8s.io {here.namespace}/hello",
        f"patch websites.web.example.com {here.namespace}/hello/status",
    ]
    await here.assert_object(SITE, {"status": {"url": ABSENT}})
    await edit(here, host="again.example.com")
    await here.settle()
    await here.assert_object(SITE, {"status": {"url": "http://again.example.com/"}})


async def test_a_new_page_is_rolled_out_while_the_old_one_is_served(harness: OpenHarness) -> None:
    here = await harness(operator, objects=[website(replicas=2, host="hello.example.com")])
    await here.settle()
    await edit(here, html="<h1>Bye</h1>")
    await here.settle()
    assert here.history(SITE).condition("Ready") == [None, "False", "True", "False", "True"]
    for what in (SERVICE, INGRESS):
        history = here.history(what)
        assert all(seen.raw is not None for seen in history.seen)
        assert len({found.uid for found in history}) == 1
    await here.assert_object(CONTENT, {"data": {"index.html": "<h1>Bye</h1>"}})
    pods = await here.list(core_v1.Pod)
    assert len({(pod.metadata.annotations or {})["web.example.com/content"] for pod in pods}) == 1


async def test_tls_is_a_part_of_the_ingress_and_of_the_url(harness: OpenHarness) -> None:
    here = await harness(operator, objects=[website(host="hello.example.com", tls=True)])
    await here.settle()
    await here.assert_object(INGRESS, {"spec": {"tls": [{"hosts": ["hello.example.com"], "secretName": "hello-tls"}]}})
    await here.assert_object(SITE, {"status": {"url": "https://hello.example.com/"}})
    await edit(here, tls=False)
    await here.settle()
    await here.assert_object(INGRESS, {"spec": {"tls": ABSENT}})


async def test_a_settled_website_costs_no_write(harness: OpenHarness) -> None:
    here = await harness(operator, objects=[website(host="hello.example.com")])
    await here.settle()
    here.forget()
    await here.reconcile(SITE)
    await here.restart()
    await here.settle()
    assert here.writes == []


@pytest.mark.virtual_time
@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_crash_at_any_write_changes_nothing_in_the_end(harness: OpenHarness, when: Any) -> None:
    async def end_state(write: int | None) -> tuple[Any, int]:
        here = await harness(operator, objects=[website(host="hello.example.com")])
        if write is not None:
            here.crash_at(write=write, when=when)
        await here.settle()
        await edit(here, host=None)
        await here.settle()
        await here.assert_absent(INGRESS)
        site = await here.get(Website, "hello")
        state = (site.status.ready_replicas, site.status.url, [each.message for each in site.status.conditions])
        writes = len(here.writes)
        await here.stop()
        await here.client.delete(Website, "hello", namespace=here.namespace)
        await here.advance(minutes=5)
        assert [await here.list(kind) for kind in (apps_v1.Deployment, core_v1.Pod)] == [[], []]
        return state, writes

    undisturbed, writes = await end_state(None)
    for write in range(1, writes + 1):
        assert (await end_state(write))[0] == undisturbed


@pytest.mark.parametrize("bad", [{"html": ""}, {"replicas": 0}, {"host": "Not A Host"}])
async def test_the_server_refuses_what_makes_no_sense(harness: OpenHarness, bad: dict[str, Any]) -> None:
    here = await harness(operator)
    with pytest.raises(Invalid, match=f"spec.{next(iter(bad))}"):
        await here.create(website(**bad))


async def test_the_sample_is_a_website(harness: OpenHarness) -> None:
    here = await harness(operator)
    sample = yaml.safe_load((Path(__file__).parents[1] / "sample.yaml").read_text())
    sample["metadata"]["namespace"] = here.namespace
    await here.create(decode(msgspec.json.encode(sample), Website))
    await here.settle()
    await here.assert_object(SITE, {"status": {"url": "http://hello.example.com/", "readyReplicas": 2}})
