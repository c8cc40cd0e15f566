"""What the plugin does to a project's test run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.processes import Cluster, start_cluster

pytest_plugins = ["pytester"]

OPERATOR = """
import itertools, random, time
import pytest
from kubewright import *
from kubewright.kinds import core_v1
from kubewright.testing import *

class WidgetSpec(Model):
    size: int = 1

class WidgetStatus(Model):
    size: int | None = None

@resource("example.com/v1")
class Widget(Resource):
    spec: WidgetSpec = field(default_factory=WidgetSpec)
    status: WidgetStatus = field(default_factory=WidgetStatus)

operator = Operator("widgets")

@operator.controller(Widget, owns=[core_v1.ConfigMap])
async def reconcile(widget, ctx):
    await ctx.apply(core_v1.ConfigMap(metadata=ObjectMeta(name=widget.name), data={"size": str(widget.spec.size)}))
    widget.status.size = widget.spec.size

def widget():
    return Widget(metadata=ObjectMeta(name="w"))
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project that tests an operator; its tests need no line about loops."""
    pytester.makeini("[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n")
    return pytester


def run(project: pytest.Pytester, tests: str, *options: str | Path) -> pytest.RunResult:
    project.makepyfile(OPERATOR + tests)
    return project.runpytest_subprocess("-p", "no:cacheprovider", "-v", *options)


WITH_HARNESS = """
async def test_widget(harness):
    here = await harness(operator, objects=[widget()])
    await here.settle()
    await here.assert_object(widget(), {"status": {"size": 1}})
    await here.assert_object((core_v1.ConfigMap, "w"), {"data": {"size": "1"}})
    assert here.history(widget()).values("status.size")[-1] == 1
    here.forget()
    await here.reconcile(widget())
    assert here.writes == []
"""
NEEDING_TIME = """
@pytest.mark.virtual_time
async def test_hours(harness):
    here = await harness(operator)
    await here.advance(hours=10)

@pytest.mark.virtual_time
async def test_hours_without_a_harness(cluster, client):
    import asyncio
    await asyncio.sleep(36000)
    assert cluster.clock.now().hour == 10

async def test_embedded(cluster):
    assert cluster.server

def test_plain():
    time.sleep(0.001)
"""


def test_tests_with_a_harness_or_the_mark_run_in_virtual_time_and_others_do_not(project: pytest.Pytester) -> None:
    result = run(project, WITH_HARNESS + NEEDING_TIME + "async def test_real():\n    time.sleep(0.001)\n")
    result.assert_outcomes(passed=6)  # in less than twenty hours


def test_a_real_wait_fails_the_test_though_the_controller_caught_it(project: pytest.Pytester) -> None:
    tests = """
sleepy = Operator("sleepy")

@sleepy.controller(Widget)
async def sleep(widget, ctx):
    if ctx.attempt == 0:
        time.sleep(0.25)

async def test_sleep(harness):
    here = await harness(sleepy, objects=[widget()])
    await here.settle()
"""
    result = run(project, tests)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*RealWait: time.sleep(0.25) on a loop in virtual time is a real wait*"])


def test_each_seed_runs_twice_and_a_difference_fails(project: pytest.Pytester) -> None:
    tests = """
@pytest.mark.seeds(3, 4)
async def test_alike(harness, seed):
    assert seed in (3, 4)
    here = await harness(operator, objects=[widget()])
    await here.settle()

numbers = itertools.count()

@pytest.mark.seeds(3)
async def test_not_alike(harness):
    here = await harness(operator, objects=[widget()])
    await here.create(core_v1.ConfigMap(metadata=ObjectMeta(name=f"odd-{next(numbers)}")))
    await here.settle()
"""
    result = run(project, tests)
    result.assert_outcomes(passed=6, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*test_alike?seed3? PASSED*",
            "*test_alike?seed3-again? PASSED*",
            "*the same seed gave two different runs:*",
            "*-*odd-0*",
            "*+*odd-1*",
        ]
    )


def test_the_seed_of_a_run_can_be_given(project: pytest.Pytester) -> None:
    tests = "async def test_seed(harness, seed):\n    assert (await harness(operator)).seed == seed == 42\n"
    run(project, tests, "--kubewright-seed", "42").assert_outcomes(passed=1)


def test_another_loop_than_one_in_virtual_time_is_an_error_that_says_why(project: pytest.Pytester) -> None:
    project.makeconftest(
        "import asyncio\ndef pytest_asyncio_loop_factories(config, item):\n"
        "    return {'mine': asyncio.new_event_loop} if 'other' in item.name else None\n"
    )
    result = run(project, WITH_HARNESS + WITH_HARNESS.replace("test_widget", "test_other_loop"))
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*a harness needs a loop in virtual time*pytest_asyncio_loop_factories answers*"])


def test_a_harness_where_no_coroutine_runs_is_an_error_that_says_what_to_do(project: pytest.Pytester) -> None:
    result = run(project, "def test_plain(harness): ...\n")
    result.stdout.fnmatch_lines(["*a harness needs*this test is no coroutine function: define it with `async def`*"])
    project.makeini("[pytest]\n")
    result = run(project, WITH_HARNESS)
    result.stdout.fnmatch_lines(
        ["*a harness needs*is none of pytest-asyncio's: write asyncio_mode = auto into pytest.ini*"]
    )
    run(project, f"import pytest\npytestmark = pytest.mark.asyncio\n{WITH_HARNESS}").assert_outcomes(passed=1)


def test_seeds_without_a_harness_are_refused(project: pytest.Pytester) -> None:
    result = run(project, "@pytest.mark.seeds(1)\nasync def test_nothing():\n    pass\n")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*test_nothing: seeds(1, 2, …) is for tests with a harness*"])


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster in another process."""
    found = start_cluster(tmp_path / "home")
    yield found
    found.kill()


def test_the_same_tests_run_against_a_kubeconfigs_cluster(project: pytest.Pytester, running: Cluster) -> None:
    result = run(project, WITH_HARNESS + NEEDING_TIME, f"--kubewright-cluster={running.kubeconfig}")
    result.assert_outcomes(passed=2, deselected=3)
    result.stdout.fnmatch_lines(
        [
            "*left out: they can't run against a kubeconfig's cluster*",
            "*::test_hours: needs virtual time",
            "*::test_hours_without_a_harness: needs virtual time",
            "*::test_embedded: needs the embedded cluster",
        ]
    )
    project.makeini(
        "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n"
        f"kubewright_cluster = {running.kubeconfig}\n"
    )
    unmarked = NEEDING_TIME.replace("@pytest.mark.virtual_time\nasync def test_hours(", "async def test_hours(")
    result = run(project, WITH_HARNESS + unmarked)
    result.assert_outcomes(passed=2, failed=1, deselected=2)
    result.stdout.fnmatch_lines(["*NeedsVirtualTime: *mark it @pytest.mark.virtual_time*"])


def test_a_kubeconfig_that_is_not_there_is_named(project: pytest.Pytester) -> None:
    result = run(project, WITH_HARNESS, "--kubewright-cluster=nowhere/kubeconfig")
    assert result.ret != 0
    result.stderr.fnmatch_lines(["*--kubewright-cluster=nowhere/kubeconfig: there is no such file*"])
    result = run(project, WITH_HARNESS, "--kubewright-cluster", "nowhere/kubeconfig")
    assert result.ret != 0
    result.stderr.fnmatch_lines(["*write --kubewright-cluster=KUBECONFIG in one word*"])
