"""Errors of Sizewise.

Two kinds, told apart by who sees them: a `UserError` is worded for the person who asked and may be shown as it stands;
any other `SizewiseError` is for operators and logs and never reaches a channel.
"""

from typing import Any

__all__ = ["SizewiseError", "UserError"]


class SizewiseError(Exception):
    """Base of every error that Sizewise raises itself. Seen by operators (exit code and log), not by users."""


class UserError(SizewiseError):
    """A request that cannot be answered as asked. Seen by the user, in the terminal, in JSON and in Slack.

    `field` is the dotted name of the offending field as in the interface ("model.id"), `value` what was given (None if
    nothing was), `message` one English sentence that names the problem and what would work, `suggestions` up to three
    values that would have been understood.
    """

    def __init__(self, field: str, value: object, message: str, suggestions: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.field = field
        self.value = value
        self.message = message
        self.suggestions = suggestions

    def to_dict(self) -> dict[str, Any]:
        """The `error` object of a command's answer line; `value` and `suggestions` only where there are any."""
        error: dict[str, Any] = {"field": self.field, "message": self.message}
        if self.value is not None:
            error["value"] = self.value
        if self.suggestions:
            error["suggestions"] = list(self.suggestions)
        return error
