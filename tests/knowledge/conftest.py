"""A knowledge folder of its own for every test, searched by BM25 alone: no model is loaded."""

from pathlib import Path

import pytest

from knowledge.service import Knowledge
from knowledge.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    data = tmp_path / "data"
    return Settings(data=data, database_url=f"sqlite:///{data / 'knowledge.db'}", embeddings="off")


@pytest.fixture
def knowledge(settings: Settings) -> Knowledge:
    return Knowledge(settings)
