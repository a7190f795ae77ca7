"""What in the set-up keeps a command from running: a setting, a folder, a database. One sentence that names where to put it right."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError
from sqlalchemy.exc import ArgumentError, InterfaceError, OperationalError

from bot.settings import Settings
from knowledge.settings import Settings as KnowledgeSettings

FAULTS_OF_SETUP = (ValidationError, OSError, ArgumentError, InterfaceError, OperationalError)
_PREFIX = "SIZEWISE_"


def sentence(fault: Exception) -> str | None:
    """What is wrong and where to set it; None for a fault of ours. Values of settings are not repeated: some are secrets."""
    if isinstance(fault, ValidationError):
        return setting_at_fault(fault) if fault.title == Settings.__name__ else None
    if isinstance(fault, OSError):
        return file_at_fault(fault) if fault.filename else None
    return database_at_fault(fault)


def setting_at_fault(fault: ValidationError) -> str:
    """ "SIZEWISE_PORT: Input should be less than or equal to 65535"."""
    first = fault.errors(include_url=False, include_input=False, include_context=False)[0]
    name = ".".join(map(str, first["loc"]))
    variable = name if name.isupper() else f"{_PREFIX}{name.upper()}"
    return f"{variable}: {first['msg'].removeprefix('Value error, ')}"


def file_at_fault(fault: OSError) -> str:
    """ "/data/sizewise.db: Permission denied", and for a file of ours the variable that says where it lies."""
    data = KnowledgeSettings.from_environment().data
    of_ours = data == Path(fault.filename) or data in Path(fault.filename).parents
    where = " (SIZEWISE_DATA_DIR says where data is kept)" if of_ours else ""
    return f"{fault.filename}: {fault.strerror or type(fault).__name__}{where}"


def database_at_fault(fault: Exception) -> str:
    """ "the database cannot be used: connection refused": the first line of what its driver says, which holds no password."""
    reason = str(getattr(fault, "orig", None) or fault).strip().splitlines()[0]
    return f"the database cannot be used: {reason} (DATABASE_URL says where it is)"
