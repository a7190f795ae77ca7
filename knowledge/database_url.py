"""The address of a database: SQLite or PostgreSQL, whoever opens it."""

from sqlalchemy.engine import URL, make_url

from sizing.errors import UserError

_POSTGRES_DRIVER = "postgresql+psycopg"


def database_url(url: str) -> URL:
    """The address with the driver that we use.

    Raises:
        UserError: another kind of database.
        sqlalchemy.exc.ArgumentError: no address at all.
    """
    parsed = make_url(url)
    kind = parsed.get_backend_name()
    if kind in ("postgresql", "postgres"):
        return parsed.set(drivername=_POSTGRES_DRIVER)
    if kind != "sqlite":
        raise UserError("DATABASE_URL", kind, f"DATABASE_URL names {kind}; write postgresql://… or sqlite:///…")
    return parsed
