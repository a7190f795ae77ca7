"""Where knowledge keeps its state, and the few switches it has; all from the environment."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from platformdirs import user_data_path

from sizing.errors import UserError

_ENV_FILE = Path(".env")


def take_env_file() -> None:
    """What a file `.env` of the working directory sets and the environment does not, for everything that reads the environment.

    Raises UserError where the file is no text.
    """
    if not _ENV_FILE.is_file():
        return
    from dotenv import load_dotenv

    try:
        load_dotenv(_ENV_FILE.resolve(), override=False)
    except UnicodeDecodeError as fault:
        raise UserError("file", str(_ENV_FILE), ".env cannot be read as UTF-8 text: save it anew as such") from fault


@dataclass(frozen=True)
class Settings:
    """`data` holds the table and the vectors; `embeddings` is a model path or id, "off", or None for the default.

    `url_hosts` are the hosts that documents may be fetched from (an operator's list; empty: none).
    """

    data: Path
    database_url: str
    chroma_url: str | None = None
    embeddings: str | None = None
    reranker: str | None = None
    url_hosts: tuple[str, ...] = ()

    @classmethod
    def from_environment(cls) -> Self:
        """SIZEWISE_DATA_DIR, DATABASE_URL, CHROMA_URL, SIZEWISE_EMBEDDINGS, SIZEWISE_RERANKER, SIZEWISE_URL_HOSTS."""
        data = Path(os.environ.get("SIZEWISE_DATA_DIR") or user_data_path("sizewise")).expanduser()
        hosts = os.environ.get("SIZEWISE_URL_HOSTS", "")
        return cls(
            data=data,
            database_url=os.environ.get("DATABASE_URL") or f"sqlite:///{data / 'knowledge.db'}",
            chroma_url=os.environ.get("CHROMA_URL") or None,
            embeddings=os.environ.get("SIZEWISE_EMBEDDINGS") or None,
            reranker=os.environ.get("SIZEWISE_RERANKER") or None,
            url_hosts=tuple(h.strip().lower() for h in hosts.split(",") if h.strip()),
        )
