"""Finding the `Operator` that a command line names."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from kubewright.cli.failure import Failure
from kubewright.operator import Operator

__all__ = ["Loaded", "load_operator"]

_USAGE = 'name it as "package.module:attribute" or "path/to/file.py:attribute"'


class Loaded(NamedTuple):
    operator: Operator
    target: str
    """The same as ``module:attribute``, as it is named where the files lie elsewhere."""


def load_operator(target: str) -> Loaded:
    """The operator at ``module:attribute`` or ``file.py:attribute``; the attribute defaults to ``operator``.

    Raises `Failure` with one line that says what is wrong and where.
    """
    place, _, attribute = target.partition(":")
    attribute = attribute or "operator"
    if not place:
        raise Failure(f"{target!r} names no operator: {_USAGE}", exit_code=2)
    if place.endswith(".py") or "/" in place:
        module, name = _load_file(Path(place), place)
    else:
        _search_first(_here())  # as `python -m` does
        module, name = _import(place, place), place
    if not hasattr(module, attribute):
        candidates = [name for name, value in vars(module).items() if isinstance(value, Operator)]
        hint = f"it has an Operator named {candidates[0]!r}: use {place}:{candidates[0]}" if candidates else _USAGE
        raise Failure(f"{place} has no attribute {attribute!r}; {hint}", exit_code=2)
    operator = getattr(module, attribute)
    if not isinstance(operator, Operator):
        raise Failure(f"{target} is a {type(operator).__name__}, not a kubewright.Operator", exit_code=2)
    try:
        controllers = operator.controllers
    except ValueError as error:
        raise Failure(str(error)) from error
    if not controllers:
        raise Failure(f"operator {operator.name} has no controller: add one with @{attribute}.controller(Kind)")
    return Loaded(operator, f"{name}:{attribute}")


def _load_file(file: Path, place: str) -> tuple[ModuleType, str]:
    """The module of a file and the name by which it is found elsewhere: inside its package, or by its file's name."""
    if file.is_dir():
        raise Failure(f"{file} is a folder; {_USAGE}", exit_code=2)
    if not file.is_file():
        raise Failure(f"{file}: no such file; {_USAGE}", exit_code=2)
    file = file.resolve()
    if not (file.parent / "__init__.py").exists():
        sys.path.append(str(file.parent))  # last: a file named like a module of Python's own must not hide that
        return _guarded(lambda: _alone(file), place, None), file.name
    parts, folder = [file.stem], file.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    _search_first(folder)
    name = ".".join(parts)
    module = _import(name, place)
    if Path(module.__file__ or "").resolve() != file:
        raise Failure(f"{file} can't be imported: another module named {name} is at {module.__file__}")
    return module, name


def _alone(file: Path) -> ModuleType:
    """A file that is in no package, under a name that no other module has."""
    name = f"kubewright_target_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # annotations are looked up there
    spec.loader.exec_module(module)
    return module


def _here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise Failure("the folder that this was started in is gone: start it in another") from error


def _search_first(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _import(module: str, place: str) -> ModuleType:
    if module.startswith("."):
        raise Failure(f"{place!r} is relative; {_USAGE}", exit_code=2)
    return _guarded(lambda: importlib.import_module(module), place, module)


def _guarded(load: Callable[[], ModuleType], place: str, module: str | None) -> ModuleType:
    try:
        return load()
    except SyntaxError as error:
        where = f"{error.filename}:{error.lineno}" if error.lineno else place
        raise Failure(f"{where}: syntax error: {error.msg}") from error
    except ModuleNotFoundError as error:
        if module is not None and error.name is not None and f"{module}.".startswith(f"{error.name}."):
            raise Failure(f"there is no module {place!r} here ({_here()}); {_USAGE}", exit_code=2) from error
        raise Failure(f"{_last_line(error, place)}: {error}; is it installed in this environment?") from error
    except (Exception, SystemExit) as error:
        message = " ".join(str(error).split())
        raise Failure(f"{_last_line(error, place)}: {type(error).__name__}: {message}") from error


def _last_line(error: BaseException, place: str) -> str:
    """``file:line`` of the user's own line that failed."""
    ours = str(Path(__file__).parents[1])
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(("<", ours, importlib.__file__))]
    return f"{own[-1].filename}:{own[-1].lineno}" if own else place
