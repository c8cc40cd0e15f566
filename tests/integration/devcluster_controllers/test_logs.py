"""Logs of simulated containers, as kubectl reads them."""

from __future__ import annotations

import json
from typing import Any

from kubewright.api import ObjectMeta
from kubewright.client import HttpRequest
from kubewright.devcluster.controllers import FAULT_ANNOTATION, Simulation
from kubewright.devcluster.in_process import InProcessTransport
from kubewright.kinds import core_v1

_PATH = "/api/v1/namespaces/default/pods/lone/log"


def pod(*names: str, fault: str = "") -> core_v1.Pod:
    containers = [core_v1.Container(name=name, image="nginx") for name in names or ("main",)]
    annotations = {FAULT_ANNOTATION: fault} if fault else None
    metadata = ObjectMeta(name="lone", namespace="default", annotations=annotations)
    return core_v1.Pod(metadata=metadata, spec=core_v1.PodSpec(containers=containers))


async def read(world: Any, **query: str) -> tuple[int, str]:
    transport = InProcessTransport(world.server)
    answer = await transport.request(HttpRequest("GET", _PATH, tuple(query.items())))
    text = answer.body.decode()
    return answer.status, json.loads(text)["message"] if answer.status >= 400 else text


def test_a_log_says_when_the_container_started_and_was_ready(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(pod())
        await world.after(0.5)
        waiting = 'container "main" in pod "lone" is waiting to start: ContainerCreating'
        assert await read(world) == (400, waiting)
        await world.after(5)
        status, text = await read(world)
        assert (status, text.splitlines()) == (200, ["started: a simulated container runs nothing", "ready"])
        _, stamped = await read(world, timestamps="true", tailLines="1")
        stamp, word = stamped.split()
        assert word == "ready"
        assert stamp.endswith("000Z")
        assert (await read(world, limitBytes="4"))[1] == "star"
        assert (await read(world, sinceSeconds="1"))[1] == ""
        assert (await read(world, tailLines="0"))[1] == ""

    in_cluster(scenario)


def test_the_log_before_a_crash_can_be_read(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(pod())
        await world.after(5)
        missing = 'previous terminated container "main" in pod "lone" not found'
        assert await read(world, previous="true") == (400, missing)
        await world.client.delete(core_v1.Pod, "lone", namespace="default")
        await world.after(5)
        await world.client.create(pod(fault="crash-loop"))
        await world.after(5)
        status, text = await read(world, previous="true")
        assert status == 200
        assert text.splitlines()[-1] == "exited with code 1"

    in_cluster(scenario, simulation=Simulation(ready_after=0.5), quiet=False)


def test_an_image_that_is_not_pulled_leaves_no_log(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(pod(fault="image-pull-error"))
        await world.after(5)
        why = 'container "main" in pod "lone" is waiting to start: trying and failing to pull image'
        assert await read(world) == (400, why)

    in_cluster(scenario, quiet=False)


def test_a_followed_log_goes_on_until_the_pod_is_gone(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(pod("first", "second"))
        await world.after(5)
        request = HttpRequest("GET", _PATH, (("follow", "true"), ("container", "second")))
        async with InProcessTransport(world.server).stream(request) as answer:
            assert answer.headers["content-type"] == "text/plain"
            lines = [await anext(aiter(answer.chunks))]
            await world.client.delete(core_v1.Pod, "lone", namespace="default")
            lines += [chunk async for chunk in answer.chunks]
        text = b"".join(lines).decode().splitlines()
        assert text[0] == "started: a simulated container runs nothing"
        assert text[-1] == "exited with code 0"

    in_cluster(scenario)
