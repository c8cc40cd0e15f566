from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubewright.cli.failure import Failure
from kubewright.cli.loading import load_operator

OPERATOR = """
from kubewright import Operator, Resource, resource

@resource("example.com/v1")
class Thing(Resource):
    pass

{name} = Operator("things")

@{name}.controller(Thing)
async def reconcile(thing, ctx): ...
"""


@pytest.fixture(autouse=True)
def _restored_imports() -> Iterator[None]:
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def failure(target: str) -> Failure:
    with pytest.raises(Failure) as caught:
        load_operator(target)
    assert "\n" not in str(caught.value)
    return caught.value


def test_a_file_in_a_package_is_imported_as_part_of_it(tmp_path: Path) -> None:
    package = tmp_path / "outer_pkg" / "inner"
    package.mkdir(parents=True)
    (tmp_path / "outer_pkg" / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "main.py").write_text(OPERATOR.format(name="operator"))
    loaded = load_operator(str(package / "main.py"))
    assert (loaded.operator.name, loaded.target) == ("things", "outer_pkg.inner.main:operator")


@pytest.mark.parametrize("name", ["operator.py", "json.py", "typing.py"])
def test_a_file_of_its_own_may_be_named_like_a_module_of_pythons(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(OPERATOR.format(name="operator"))
    assert load_operator(str(tmp_path / name)).operator.name == "things"
    assert sys.path[-1] == str(tmp_path)


def test_a_module_is_found_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "things_module.py").write_text(OPERATOR.format(name="mine"))
    monkeypatch.chdir(tmp_path)
    assert load_operator("things_module:mine").operator.name == "things"


def test_the_other_operator_is_named_when_the_attribute_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "named_mine.py"
    file.write_text(OPERATOR.format(name="mine"))
    error = failure(str(file))
    assert f"has no attribute 'operator'; it has an Operator named 'mine': use {file}:mine" in str(error)
    assert error.exit_code == 2


FINALIZER_ALONE = """
from kubewright import Operator, Resource, resource
@resource("example.com/v1")
class Thing(Resource): ...
operator = Operator("x")
@operator.finalizer(Thing, name="example.com/x")
async def clean(thing, ctx): ...
"""


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def broken(:\n", "broken_file.py:1: syntax error: invalid syntax"),
        ("import json\n\njson.nothing\n", "broken_file.py:3: AttributeError: module 'json' has no attribute 'nothing'"),
        ("import no_such_library\n", "broken_file.py:1: No module named 'no_such_library'; is it installed"),
        ("raise SystemExit(3)\n", "broken_file.py:1: SystemExit: 3"),
        ("raise ValueError('two\\nlines')\n", "broken_file.py:1: ValueError: two lines"),
        ("operator = 3\n", "is a int, not a kubewright.Operator"),
        ("from kubewright import Operator\noperator = Operator('x')\n", "operator x has no controller"),
        (FINALIZER_ALONE, "Thing has a finalizer but no controller in operator x that could run it: register one"),
    ],
)
def test_what_is_wrong_with_the_file_is_said_in_one_line(tmp_path: Path, source: str, said: str) -> None:
    file = tmp_path / "broken_file.py"
    file.write_text(source)
    assert said in str(failure(str(file)))


@pytest.mark.parametrize("target", ["no.such.module:operator", "no/such/file.py", "./", "..:x", ":operator", ""])
def test_a_target_that_is_nothing_is_wrong_use(target: str) -> None:
    assert failure(target).exit_code == 2


def test_a_folder_that_is_gone_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(Failure, match="started in is gone"):
        load_operator("some.module")
