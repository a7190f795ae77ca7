"""Fixtures that tests of several rooms share."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

NAMED = os.environ.get("SIZEWISE_TEST_POSTGRES")
SERVER = NAMED or "postgresql+psycopg://postgres@127.0.0.1:5432/postgres"


# Tests that start processes or a browser and wait for them: on one worker, so that they do not starve one another.
_PROCESSES = ("tests/faults/", "tests/playground/browser/", "tests/deploy/")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With `--dist loadgroup`, the tests of a file stay together."""
    for item in items:
        path = item.nodeid.partition("::")[0]
        item.add_marker(pytest.mark.xdist_group("processes" if path.startswith(_PROCESSES) else path))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def postgres() -> Iterator[str]:
    """A database of its own on the test server."""
    engine, name = create_engine(SERVER, isolation_level="AUTOCOMMIT"), f"sizewise_test_{uuid.uuid4().hex[:12]}"
    try:
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
    except OperationalError as error:
        if NAMED:  # CI names its server, and must not pass without it
            pytest.fail(f"no PostgreSQL server at SIZEWISE_TEST_POSTGRES: {error.orig}")
        pytest.skip(f"no PostgreSQL server at SIZEWISE_TEST_POSTGRES: {error.orig}")
    yield engine.url.set(database=name).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()
