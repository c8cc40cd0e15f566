"""The pytest plugin: a cluster of each test's own, a client, and a harness around an operator, in virtual time.

Fixtures
    ``harness``: a factory, `await harness(operator, objects=[…])`, of `Harness`. Tests that use it run in virtual time.
    ``cluster``: an embedded cluster in process. ``client``: a client of it. ``seed``: what the test's randomness is made of.

Marks
    ``@pytest.mark.virtual_time`` puts a test without a harness into virtual time, and says of one with a harness that it
    can't do without. ``@pytest.mark.seeds(1, 2, 3)`` runs a test with each seed, twice, and compares the two traces.

Options
    ``--kubewright-cluster=KUBECONFIG`` (ini: ``kubewright_cluster``) runs harness and client against that cluster, in real
    time; what needs virtual time or the embedded cluster is then deselected, and named. ``--kubewright-seed N``.

It needs pytest-asyncio 1.4 or newer; without it the fixtures are not there.
"""

from __future__ import annotations

import asyncio
import inspect
import random
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from kubewright.api import Resource
    from kubewright.client import Client
    from kubewright.devcluster.cluster import DevCluster
    from kubewright.operator import Operator
    from kubewright.testing.faults import Injection
    from kubewright.testing.harness import Harness
    from kubewright.testing.targets import Target

__all__ = ["OpenHarness"]

_LEFT_OUT = pytest.StashKey[list[str]]()
_TRACES = pytest.StashKey[dict[str, list[str]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("kubewright", "Kubernetes operators (Kubewright)")
    what = "run tests with a harness or a client against this kubeconfig's cluster, in real time"
    group.addoption("--kubewright-cluster", metavar="KUBECONFIG", default=None, help=what)
    group.addoption(
        "--kubewright-seed", metavar="N", type=int, default=0, help="the seed of tests that name none [default: 0]"
    )
    parser.addini("kubewright_cluster", f"{what} (a path; --kubewright-cluster goes before it)", default="")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "virtual_time: the test needs virtual time (Kubewright's plugin)")
    config.addinivalue_line(
        "markers", "seeds(*numbers): run with each seed, twice, and compare the traces (Kubewright's plugin)"
    )
    config.stash[_LEFT_OUT] = []
    config.stash[_TRACES] = {}
    if "--kubewright-cluster" in config.invocation_params.args:
        raise pytest.UsageError(
            "write --kubewright-cluster=KUBECONFIG in one word: by a path that stands alone pytest looks for its ini file"
        )
    kubeconfig = _kubeconfig(config)
    if kubeconfig is not None and not kubeconfig.is_file():
        raise pytest.UsageError(f"--kubewright-cluster={kubeconfig}: there is no such file")


def _kubeconfig(config: pytest.Config) -> Path | None:
    given: str = config.getoption("--kubewright-cluster") or config.getini("kubewright_cluster")
    return Path(given) if given else None


@pytest.hookimpl(optionalhook=True, trylast=True)
def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """A loop in virtual time for tests that use a harness or ask for it; for all others the usual one."""
    names: Iterable[str] = getattr(item, "fixturenames", ())
    wanted = "harness" in names or item.get_closest_marker("virtual_time") is not None
    if not wanted or _kubeconfig(config) is not None:
        return {"asyncio": asyncio.new_event_loop}
    from kubewright.testing.virtual_time import VirtualTimeLoop  # noqa: PLC0415 - only for tests that want it

    return {"virtual-time": VirtualTimeLoop}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    mark = metafunc.definition.get_closest_marker("seeds")
    if mark is None:
        return
    if "harness" not in metafunc.fixturenames or not mark.args:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: seeds(1, 2, …) is for tests with a harness")
    if _kubeconfig(metafunc.config) is not None:
        metafunc.parametrize("_seeding", [(seed, 0) for seed in mark.args], ids=[f"seed{seed}" for seed in mark.args])
        return
    pairs = [(seed, time) for seed in mark.args for time in (1, 2)]
    ids = [f"seed{seed}{'' if time == 1 else '-again'}" for seed, time in pairs]
    metafunc.parametrize("_seeding", pairs, ids=ids, indirect=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if _kubeconfig(config) is None:
        return
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        reason = _why_not(item)
        if reason:
            config.stash[_LEFT_OUT].append(f"{item.nodeid}: {reason}")
            left_out.append(item)
        else:
            kept.append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def _why_not(item: pytest.Item) -> str:
    if item.get_closest_marker("virtual_time") is not None:
        return "needs virtual time"
    return "needs the embedded cluster" if "cluster" in getattr(item, "fixturenames", ()) else ""


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    left_out = config.stash[_LEFT_OUT]
    if left_out:
        terminalreporter.section("left out: they can't run against a kubeconfig's cluster")
        for line in left_out:
            terminalreporter.line(line)


def _without_one(request: pytest.FixtureRequest) -> str:
    """Why a test has no loop in virtual time, and what to do."""
    if request.node.get_closest_marker("asyncio") is not None:
        return (
            "has another: pytest-asyncio is older than 1.4, or a conftest's pytest_asyncio_loop_factories answers for this "
            "test; have that return None where a harness is used"
        )
    if inspect.iscoroutinefunction(request.function):
        return "is none of pytest-asyncio's: write asyncio_mode = auto into pytest.ini, or mark it with pytest.mark.asyncio"
    return "is no coroutine function: define it with `async def`"


class OpenHarness(Protocol):
    """The fixture ``harness``: ``here = await harness(operator, objects=[…])``, as often as wanted. See `Harness.opened`."""

    async def __call__(
        self,
        operator: Operator[Any],
        *,
        objects: Iterable[Resource] = (),
        plan: Iterable[Injection] = (),
        seed: int | None = None,
    ) -> Harness: ...


try:
    from pytest_asyncio import fixture
except ImportError:  # a project that tests no coroutines has Kubewright installed all the same
    pass
else:

    @pytest.fixture
    def _seeding(request: pytest.FixtureRequest) -> tuple[int, int]:
        return getattr(request, "param", (request.config.getoption("--kubewright-seed"), 0))

    @pytest.fixture
    def seed(_seeding: tuple[int, int]) -> int:
        """What the randomness of the test is made of."""
        return _seeding[0]

    @fixture
    async def _target(request: pytest.FixtureRequest) -> AsyncIterator[Target]:
        kubeconfig = _kubeconfig(request.config)
        if kubeconfig is not None:
            from kubewright.testing.targets import KubeconfigCluster  # noqa: PLC0415

            yield KubeconfigCluster(kubeconfig)
            return
        from kubewright.api import LoopClock  # noqa: PLC0415 - only for tests that ask for a cluster
        from kubewright.devcluster.cluster import DevCluster  # noqa: PLC0415
        from kubewright.testing.virtual_time import VirtualTimeLoop  # noqa: PLC0415

        virtual = isinstance(asyncio.get_running_loop(), VirtualTimeLoop)
        async with DevCluster(clock=LoopClock() if virtual else None, rng=random.Random(0)) as running:
            yield running

    @pytest.fixture
    def cluster(_target: DevCluster) -> DevCluster:
        """An embedded cluster of the test's own, in process: no port, no files, the same uids every time."""
        return _target

    @fixture
    async def client(_target: Target) -> AsyncIterator[Client]:
        """A client of the test's cluster."""
        from kubewright.client import Client  # noqa: PLC0415

        made = Client(_target.transport(), clock=_target.clock, rng=_target.rng)
        yield made
        await made.close()

    @fixture
    async def harness(
        request: pytest.FixtureRequest, _target: Target, _seeding: tuple[int, int]
    ) -> AsyncIterator[OpenHarness]:
        """Puts an operator to work; see `OpenHarness` and `Harness`."""
        from kubewright.testing.harness import Harness  # noqa: PLC0415
        from kubewright.testing.namespaces import own_namespace  # noqa: PLC0415
        from kubewright.testing.virtual_time import VirtualTimeLoop  # noqa: PLC0415

        if _kubeconfig(request.config) is None and not isinstance(asyncio.get_running_loop(), VirtualTimeLoop):
            pytest.fail(f"a harness needs a loop in virtual time, and this test {_without_one(request)}", pytrace=False)
        number, time = _seeding
        opened: list[Harness] = []
        async with AsyncExitStack() as stack:
            namespace = await stack.enter_async_context(own_namespace(_target))

            async def open_harness(
                operator: Operator[Any],
                *,
                objects: Iterable[Resource] = (),
                plan: Iterable[Injection] = (),
                seed: int | None = None,
            ) -> Harness:
                chosen = number if seed is None else seed
                here = Harness.opened(operator, _target, objects=objects, namespace=namespace, seed=chosen, plan=plan)
                opened.append(await stack.enter_async_context(here))
                return opened[-1]

            yield open_harness
        if time:
            _compare(request, time, [line for here in opened for line in here.trace.lines])


def _compare(request: pytest.FixtureRequest, time: int, lines: list[str]) -> None:
    """Fails the second of two runs with one seed if it was not as the first."""
    from kubewright.testing.trace import difference_of_traces  # noqa: PLC0415

    traces = request.config.stash[_TRACES]
    name = request.node.nodeid
    if time == 1:
        traces[name.removesuffix("]")] = lines
        return
    first = traces.pop(name.removesuffix("-again]"), None)
    if first is None:
        return  # it was not selected
    parted = difference_of_traces(first, lines)
    if parted:
        pytest.fail(f"the same seed gave two different runs:\n{parted}", pytrace=False)
