"""The judge of `bench/understanding`, loaded by path so that tests need no package of their own."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

_JUDGE = Path(__file__).parents[3] / "bench" / "understanding" / "judge.py"


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("understanding_judge", _JUDGE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def judge() -> ModuleType:
    """The functions that hold a reading against its gold."""
    return _load()
