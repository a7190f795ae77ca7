"""Settings from the environment, which the command line fills from a `.env` file, each with its default and a reason."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.database import sqlite_url

Transport = Literal["http", "socket"]


class Settings(BaseSettings):
    """Everything that can be set. Slack's and the databases' variables have their customary names, ours a prefix."""

    model_config = SettingsConfigDict(
        env_prefix="SIZEWISE_", extra="ignore", env_ignore_empty=True, populate_by_name=True
    )

    slack_bot_token: SecretStr | None = Field(default=None, validation_alias="SLACK_BOT_TOKEN")
    slack_app_token: SecretStr | None = Field(default=None, validation_alias="SLACK_APP_TOKEN")
    slack_signing_secret: SecretStr | None = Field(default=None, validation_alias="SLACK_SIGNING_SECRET")
    # Another address than Slack's own is for the playground and for tests.
    slack_api_url: str = Field(default="https://slack.com/api/", validation_alias="SLACK_API_URL")
    transport: Transport | None = None

    database_url: str | None = Field(default=None, validation_alias="DATABASE_URL")
    data_dir: Path = Field(default_factory=lambda: user_data_path("sizewise"))

    # Loopback, because a proxy with TLS belongs in front.
    host: str = "127.0.0.1"
    port: int = Field(default=3000, ge=1, le=65535)

    compute_workers: int = Field(default=2, ge=1, le=64)
    # Far more turns than workers are in hand: most of a turn's time is spent waiting for Slack, and who waits sees a status.
    turns_in_hand: int = Field(default=32, ge=1, le=200)
    lease_s: float = Field(default=30.0, gt=0)
    # A turn that was in hand at every crash of a bad morning is still answered, and so is one that Slack was away for half an
    # hour for; what ends this process each time ends some day too.
    max_attempts: int = Field(default=30, ge=1)
    answer_timeout_s: float = Field(default=120.0, gt=0)
    poll_s: float = Field(default=1.0, gt=0)
    # Above this many open questions the next one is told that it waits; above that many of its workspace, or of its
    # person, it is refused.
    busy_above: int = Field(default=20, ge=1)
    refuse_above: int = Field(default=2000, ge=1)
    refuse_above_of_person: int = Field(default=500, ge=1)
    turns_per_minute: int = Field(default=20, ge=1)
    # Channels (ids, comma separated) in which every turn needs a mention, in threads of the bot too.
    strict_channels: str = ""
    # Who may change what holds for the whole team: those who administer the workspace, or everyone in it.
    settings_by: Literal["admins", "everyone"] = "admins"
    # Hosts (comma separated) that may be connected to beside those of Slack, the database, Chroma and the usual language
    # models; and names that stand for private addresses and are meant to.
    llm_hosts: str = ""
    private_hosts: str = ""
    # Exit for the supervisor to restart when no ping came over the socket for this long.
    socket_silence_s: float = Field(default=90.0, gt=0)
    # Threads without a turn for so long are deleted; 0 keeps them.
    retention_days: float = Field(default=365.0, ge=0)
    # Many workspaces: the app's OAuth credentials, and the keys (comma separated, newest first) that seal their tokens.
    slack_client_id: str | None = Field(default=None, validation_alias="SLACK_CLIENT_ID")
    slack_client_secret: SecretStr | None = Field(default=None, validation_alias="SLACK_CLIENT_SECRET")
    encryption_keys: SecretStr | None = None
    log_level: str = "INFO"
    log_text: bool = False

    @field_validator("data_dir")
    @classmethod
    def _of_home(cls, path: Path) -> Path:
        return path.expanduser()

    @field_validator("slack_api_url")
    @classmethod
    def _address(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("an address such as https://slack.com/api/ is wanted")
        return url

    @field_validator("log_level")
    @classmethod
    def _level(cls, name: str) -> str:
        known = logging.getLevelNamesMapping()
        if name.upper() not in known:
            raise ValueError(f"one of {', '.join(known)} is wanted")
        return name.upper()

    @property
    def database(self) -> str:
        return self.database_url or sqlite_url(self.data_dir / "sizewise.db")

    @property
    def mode(self) -> Transport | None:
        """How Slack reaches us, or None while neither way is set up. Socket Mode goes first: it needs no public address."""
        if self.transport:
            return self.transport
        if self.slack_app_token:
            return "socket"
        return "http" if self.slack_signing_secret else None

    @property
    def missing(self) -> tuple[str, ...]:
        """The variables without which the bot cannot run in Slack."""
        needed: dict[str, object] = {"SLACK_BOT_TOKEN": self.slack_bot_token}
        if self.slack_client_id and not self.slack_bot_token:
            needed = {"SLACK_CLIENT_SECRET": self.slack_client_secret, "SIZEWISE_ENCRYPTION_KEYS": self.encryption_keys}
        if self.mode == "http":
            needed["SLACK_SIGNING_SECRET"] = self.slack_signing_secret
        elif self.mode == "socket":
            needed["SLACK_APP_TOKEN"] = self.slack_app_token
        else:
            needed["SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP)"] = None
        return tuple(name for name, value in needed.items() if value is None)

    @property
    def bot_token(self) -> str:
        return self.slack_bot_token.get_secret_value() if self.slack_bot_token else ""

    @property
    def signing_secret(self) -> str:
        return self.slack_signing_secret.get_secret_value() if self.slack_signing_secret else ""

    @property
    def sealing_keys(self) -> str:
        return self.encryption_keys.get_secret_value() if self.encryption_keys else ""

    @property
    def strict(self) -> frozenset[str]:
        return frozenset(part.strip() for part in self.strict_channels.split(",") if part.strip())
