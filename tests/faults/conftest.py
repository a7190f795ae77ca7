"""The bot and the double as `tests/slack` starts them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any


def _slack() -> Any:
    path = Path(__file__).parents[1] / "slack" / "conftest.py"
    spec = importlib.util.spec_from_file_location("tests_slack_conftest", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


_shared = _slack()
Cheap = _shared.Cheap
_patient = _shared._patient
_no_data_of_the_user = _shared._no_data_of_the_user
empty_database = _shared.empty_database
database = _shared.database
transport = _shared.transport
start = _shared.start
chat = _shared.chat
