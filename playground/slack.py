"""The double as a test or a page uses it: what people do, and what they then see.

`Slack` holds a workspace, delivers what people do to the app, and serves the Web API (`server.py`) that the app calls.
"""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import Callable, Sequence
from typing import Any, Literal

from playground import limits, payloads
from playground.api import calls, chat, files, people, views
from playground.delivery import Deliverer, Delivery, Transport
from playground.faults import Faults
from playground.workspace import App, Channel, Json, Message, ResponseUrl, User, View, Workspace

Order = Literal["mention first", "message first", "mention only", "message only"]

_MODULES = (chat, files, people, views)

_EVENT_OF_KIND = {"channel": "message.channels", "group": "message.groups", "im": "message.im", "mpim": "message.mpim"}


class Slack:
    """A workspace with one installed app."""

    def __init__(
        self, app: App, transport: Transport, *, retry_delays_s: Sequence[float] = limits.RETRY_DELAYS_S
    ) -> None:
        self.app = app
        self.workspace = Workspace(app)
        self.faults = Faults(self.workspace.clock)
        self.deliverer = Deliverer(transport, retry_delays_s)
        self.calls: list[tuple[str, Json]] = []
        self.base_url = ""
        self.version = 0
        self._changed = asyncio.Event()

    # What the app's calls do

    async def call(self, method: str, token: str, args: Json) -> Json:
        """Carry out one Web API call.

        Raises:
            calls.ApiError: the call is refused.
        """
        self.calls.append((method, args))
        handler = calls.METHODS.get(method)
        if handler is None:
            raise calls.ApiError("unknown_method", req_method=method)
        call = calls.Call(method, token, args, self.workspace, self.base_url, self._announce)
        calls.authorise(call)
        result = handler(call)
        self.changed()
        return result

    def changed(self) -> None:
        """Wake everybody who waits in `until` or `news`."""
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def news(self, seen: int) -> int:
        """Wait until something is newer than `seen`; the version it then has."""
        while self.version == seen:
            await self._changed.wait()
        return self.version

    def _announce(self, message: Json) -> None:
        channel = self.workspace.channels[message["channel"]]
        event = message | {"event_ts": message["ts"], "channel_type": channel.kind}
        if _EVENT_OF_KIND[channel.kind] in self.app.events:
            self.deliverer.later(self._event(event, channel))

    # What people do

    async def say(
        self, user: User, channel: Channel, text: str, *, thread: str | None = None, order: Order = "mention first",
        copies: int = 1, subtype: str | None = None, files: Sequence[Json] = (), bare_mention: bool = False,
    ) -> Message:  # fmt: skip
        """Write a message; returns once its events had their first attempt. A mention makes two events of it.

        `files` are those of `upload`. `bare_mention`: the `app_mention` names none of them, as Slack's sometimes does.
        """
        shown = [self.workspace.share(file, channel) for file in files]
        subtype = subtype or ("file_share" if shown else None)
        message = Message(
            channel.id, self.workspace.new_ts(), user.id, text, thread, subtype=subtype, files=shown,
        )  # fmt: skip
        self.workspace.messages.append(message)
        self.changed()
        for kind in self._kinds(channel, text, order):
            root = self.workspace.message(channel.id, thread) if thread else None
            event = payloads.message_event(message, user, channel, kind, root)
            if bare_mention and kind == "app_mention":
                event = {name: value for name, value in event.items() if name != "files"}
            for _ in range(copies):
                await self._event(event, channel)
        return message

    def upload(self, user: User, name: str, content: bytes, mimetype: str | None = None) -> Json:
        """A file to be shared with a message."""
        kind = mimetype or mimetypes.guess_type(name)[0] or "application/octet-stream"
        return self.workspace.upload(user, name, content, kind, self.base_url)

    async def mention(self, user: User, channel: Channel, text: str, **how: Any) -> Message:
        return await self.say(user, channel, f"<@{self.app.bot_user}> {text}", **how)

    async def direct(self, user: User, text: str, **how: Any) -> Message:
        return await self.say(user, self.workspace.direct(user.id), text, **how)

    def _kinds(self, channel: Channel, text: str, order: Order) -> list[str]:
        """Which events a message becomes, by subscription and membership, in the order asked for."""
        if self.app.bot_user not in channel.members:
            return []
        kinds = []
        if f"<@{self.app.bot_user}>" in text and channel.kind != "im" and "app_mention" in self.app.events:
            kinds.append("app_mention")
        if _EVENT_OF_KIND[channel.kind] in self.app.events:
            kinds.append("message")
        if order == "message first":
            kinds.reverse()
        only = {"mention only": "app_mention", "message only": "message"}.get(order)
        return [kind for kind in kinds if only in (None, kind)]

    async def _event(self, event: Json, channel: Channel | None = None) -> Delivery:
        event_id = self.workspace.new_id("Ev")
        outer = payloads.envelope(self.app, event, event_id, channel=channel, now=self.workspace.clock())
        return await self.deliverer.deliver("events_api", outer)

    async def event(self, event: Json, channel: Channel | None = None) -> Delivery:
        """Any event, as given."""
        return await self._event(event, channel)

    async def edit(self, message: Message, text: str) -> Delivery:
        """Change a person's message: a `message_changed` event."""
        previous, message.text = message.text, text
        channel = self.workspace.channels[message.channel]
        event: Json = {
            "type": "message", "subtype": "message_changed", "channel": channel.id, "ts": self.workspace.new_ts(),
            "channel_type": channel.kind, "hidden": True, "message": self.workspace.as_json(message),
            "previous_message": self.workspace.as_json(message) | {"text": previous},
        }  # fmt: skip
        return await self._event(event, channel)

    async def bot_says(
        self, channel: Channel, text: str, *, thread: str | None = None, user: str | None = None
    ) -> Message:
        """Another bot's message; without `user` as older integrations post it."""
        subtype = None if user else "bot_message"
        message = Message(
            channel.id, self.workspace.new_ts(), user or "", text, thread, bot_id="B0OTHER001", subtype=subtype,
        )  # fmt: skip
        self.workspace.messages.append(message)
        sender = self.workspace.users.get(user) if user else None
        for kind in self._kinds(channel, text, "mention first"):
            await self._event(payloads.message_event(message, sender, channel, kind), channel)
        return message

    async def slash(self, user: User, channel: Channel, text: str, name: str = "/size") -> Delivery:
        """Type a slash command. What the acknowledgement says is shown to the user alone."""
        if name not in self.app.commands:
            raise ValueError(f"the manifest has no command {name}")
        url = self.new_response_url(user, channel, None)
        trigger = self.workspace.new_trigger(user.id)
        payload = payloads.command(self.app, user, channel, name, text, trigger, url)
        delivery = await self.deliverer.deliver("slash_commands", payload)
        self._show_ack(delivery, url)
        return delivery

    def _show_ack(self, delivery: Delivery, url: str) -> None:
        if not delivery.acknowledged:
            self.workspace.complain(f"{delivery.payload['command']} failed: {delivery.last.reason}")
            return
        body = delivery.last.body
        content = body if isinstance(body, dict) else {"text": body or ""}
        if content.get("text") or content.get("blocks"):
            self.show_private(self.workspace.response_urls[url], content)

    def show_private(self, target: ResponseUrl, content: Json) -> Message:
        """A message that only one user sees, from an acknowledgement or a response_url."""
        message = Message(
            target.channel, self.workspace.new_ts(), self.app.bot_user, str(content.get("text") or ""),
            content.get("thread_ts"), content.get("blocks") or [], seen_only_by=target.user, sent=dict(content),
        )  # fmt: skip
        self.workspace.ephemerals.append(message)
        target.message = message
        self.changed()
        return message

    def new_response_url(self, user: User, channel: Channel, message: Message | None) -> str:
        url = f"{self.base_url}/response/{self.workspace.new_id('r')}"
        issued = ResponseUrl(user.id, channel.id, self.workspace.clock(), message=message)
        self.workspace.response_urls[url] = issued
        return url

    async def click(self, user: User, message: Message, action_id: str, value: str | None = None) -> Delivery:
        """Click the button whose action id starts with `action_id` (and has `value`, for feedback buttons)."""
        return await self.act(user, message, find_action(message.blocks, action_id, value))

    async def choose(self, user: User, message: Message, action_id: str, option: int) -> Delivery:
        """Choose option number `option` of the select whose action id starts with `action_id`."""
        action = find_action(message.blocks, action_id)
        chosen = action.pop("options")[option]
        return await self.act(user, message, action | {"selected_option": chosen})

    async def act(self, user: User, message: Message, action: Json) -> Delivery:
        """Use an interactive element of a message; `action` as Slack puts it into the payload."""
        channel = self.workspace.channels[message.channel]
        payload = payloads.block_actions(
            self.app, user, message, action, channel, self.workspace.new_trigger(user.id),
            self.new_response_url(user, channel, message), self.workspace.new_ts(),
        )  # fmt: skip
        delivery = await self.deliverer.deliver("interactive", payload)
        if not delivery.acknowledged:
            self.workspace.complain(f"click on {action['action_id']} failed: {delivery.last.reason}")
        return delivery

    async def open_home(self, user: User, tab: str = "home") -> Delivery:
        event: Json = {
            "type": "app_home_opened", "user": user.id, "channel": self.workspace.direct(user.id).id, "tab": tab,
            "event_ts": self.workspace.new_ts(),
        }  # fmt: skip
        if user.id in self.workspace.homes:
            event["view"] = views.answer(self.workspace.homes[user.id])["view"]
        return await self._event(event)

    async def submit(self, user: User, shown: View, values: Json) -> Delivery:
        """Submit a modal; its values as Slack nests them: block id → action id → value."""
        view = views.answer(shown)["view"]
        payload = payloads.view_submission(self.app, user, view, values, self.workspace.new_trigger(user.id))
        return await self.deliverer.deliver("interactive", payload)

    async def shortcut(self, user: User, callback: str, message: Message) -> Delivery:
        """Use a message shortcut on a message."""
        channel = self.workspace.channels[message.channel]
        payload = payloads.message_shortcut(
            self.app, user, callback, message, channel, self.workspace.new_trigger(user.id),
            self.new_response_url(user, channel, None),
        )  # fmt: skip
        return await self.deliverer.deliver("interactive", payload)

    async def act_in_view(self, user: User, shown: View, action: Json) -> Delivery:
        """Use an interactive element of a modal or of the Home tab."""
        view, trigger = views.answer(shown)["view"], self.workspace.new_trigger(user.id)
        payload = payloads.view_action(self.app, user, view, action, trigger, self.workspace.new_ts())
        return await self.deliverer.deliver("interactive", payload)

    # What people see

    def answers(self, root: Message) -> list[Message]:
        """The bot's messages in a thread, oldest first; the root and pictures beside an answer are left out."""
        found = self.workspace.thread(root.channel, root.root)
        return [m for m in found if m.user == self.app.bot_user and m.ts != root.root and not _is_picture(m)]

    def private(self, user: User) -> list[Message]:
        """What only this user was shown, oldest first."""
        return [m for m in self.workspace.ephemerals if m.seen_only_by == user.id]

    async def until(self, condition: Callable[[], bool], timeout_s: float = 60.0, what: str = "condition") -> None:
        """Wait until something is so.

        Raises:
            TimeoutError: it did not come about in time.
        """
        deadline = asyncio.get_running_loop().time() + timeout_s
        while not condition():
            if asyncio.get_running_loop().time() > deadline:
                seen = self.workspace.complaints
                raise TimeoutError(f"{what} did not come about within {timeout_s:g} s; complaints: {seen}")
            try:
                await asyncio.wait_for(self._changed.wait(), 0.05)
            except TimeoutError:
                continue

    async def answer(self, root: Message, number: int = 1, timeout_s: float = 60.0) -> Message:
        """The bot's answer number `number` in a thread, waited for."""
        await self.until(lambda: len(self.answers(root)) >= number, timeout_s, f"answer {number}")
        return self.answers(root)[number - 1]

    async def shown(self, user: User, number: int = 1, timeout_s: float = 60.0) -> Message:
        """Private message number `number` of a user, waited for."""
        await self.until(lambda: len(self.private(user)) >= number, timeout_s, f"private message {number}")
        return self.private(user)[number - 1]

    async def close(self) -> None:
        await self.deliverer.close()


def _is_picture(message: Message) -> bool:
    return any(str(file["name"]).endswith(".png") for file in message.files)


def find_action(blocks: Sequence[Json], action_id: str, value: str | None = None) -> Json:
    """The action payload of the first element whose id starts with `action_id`.

    Raises:
        LookupError: there is none.
    """
    for block in blocks:
        for element in [*block.get("elements", []), *([block["accessory"]] if "accessory" in block else [])]:
            if str(element.get("action_id", "")).startswith(action_id):
                return _clicked(block, element, value)
    raise LookupError(f"no element with action id {action_id!r}")


def _clicked(block: Json, element: Json, value: str | None) -> Json:
    action: Json = {name: element[name] for name in ("type", "action_id")}
    action["block_id"] = block.get("block_id", "auto")
    if element["type"] == "feedback_buttons":
        buttons = [element["positive_button"], element["negative_button"]]
        return action | {"value": next(b["value"] for b in buttons if value is None or b["value"] == value)}
    if "options" in element:
        return action | {"options": list(element["options"])}
    return action | {name: element[name] for name in ("value", "text") if name in element}


__all__ = ["Order", "Slack", "find_action"]
