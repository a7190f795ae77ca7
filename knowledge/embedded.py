"""Does the embedded file hold documents? Asked before every answer, so without SQLAlchemy, whose import is half of an answer's time."""

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

_SQLITE = "sqlite:///"


def holds_documents(database_url: str) -> bool | None:
    """Whether an embedded file holds any document; None where it is another database or cannot tell."""
    if not database_url.startswith(_SQLITE):
        return None
    file = Path(database_url.removeprefix(_SQLITE))
    if not file.exists():
        return False
    try:
        with closing(sqlite3.connect(f"file:{quote(str(file.absolute()))}?mode=ro", uri=True, timeout=5)) as opened:
            return opened.execute("SELECT 1 FROM knowledge_documents LIMIT 1").fetchone() is not None
    except sqlite3.Error:
        return None
