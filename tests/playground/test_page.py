"""The page's requests: this machine only, no other site, no file shown as a page; the bot is not imported."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from starlette.testclient import TestClient

from playground.delivery import SocketTransport
from playground.page import page_app
from playground.slack import Slack
from playground.workspace import App, Message

APP = App(scopes=frozenset(), events=frozenset(), commands=frozenset({"/size"}))


@pytest.fixture
def slack() -> Slack:
    slack = Slack(APP, SocketTransport())
    anna, bert = slack.workspace.add_user("anna"), slack.workspace.add_user("bert")
    slack.workspace.add_channel("one", anna, bert)
    slack.workspace.add_channel("secret", bert)
    return slack


@pytest.fixture
def client(slack: Slack) -> TestClient:
    return TestClient(page_app(slack), base_url="http://127.0.0.1:8321")


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/static/style.css", "/static/blocks.js", "/static/mrkdwn.js"])
def test_what_the_page_is_made_of_is_served(client: TestClient, path: str) -> None:
    found = client.get(path)
    assert found.status_code == 200
    assert found.headers["content-security-policy"].startswith("default-src 'self'")
    assert "http" not in found.text.replace("https?", "").replace("http://www.w3.org", "")


@pytest.mark.parametrize("path", ["/static/page.py", "/static/../page.py", "/static/%2e%2e%2fpage.py"])
def test_nothing_else_is_served(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example:8321"},
        {"host": "127.0.0.1.evil.example:8321"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
    ],
)
@pytest.mark.parametrize("path", ["/page/state", "/"])
def test_other_sites_and_names_are_refused(client: TestClient, path: str, headers: dict[str, str]) -> None:
    assert client.get(path, headers=headers).status_code == 403


def test_a_person_sees_their_own_channels_and_whispers(client: TestClient, slack: Slack) -> None:
    anna, bert = [user for user in slack.workspace.users.values() if not user.is_bot]
    one, secret = [channel for channel in slack.workspace.channels.values() if channel.kind == "channel"]
    slack.workspace.messages += [
        Message(one.id, "1.0", anna.id, "for all"),
        Message(secret.id, "2.0", bert.id, "for bert"),
    ]
    slack.workspace.ephemerals.append(Message(one.id, "3.0", APP.bot_user, "whispered", seen_only_by=bert.id))

    def texts(user: Any) -> list[str]:
        return [message["text"] for message in client.get(f"/page/state?user={user.id}").json()["messages"]]

    assert (texts(anna), texts(bert)) == (["for all"], ["for all", "for bert", "whispered"])


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("say", {"user": "U404"}),
        ("say", {"channel": "C404", "text": "x"}),
        ("say", {"channel": "", "text": "x", "files": [{"name": "a", "content": "no base 64"}]}),
        ("slash", {"channel": "", "command": "/other", "text": ""}),
        ("click", {"channel": "C404", "ts": "1", "block": 0, "element": 0}),
        ("submit", {"view": "V404", "values": {}}),
        ("view_action", {"view": "V404", "block": 0, "element": 0}),
    ],
)
def test_what_is_not_possible_is_said(client: TestClient, slack: Slack, name: str, body: dict[str, Any]) -> None:
    user = next(user for user in slack.workspace.users.values() if not user.is_bot)
    channel = next(iter(slack.workspace.channels))
    given = {"user": user.id, **body} | ({"channel": channel} if body.get("channel") == "" else {})
    assert "trouble" in client.post(f"/page/{name}", json=given).json()


def test_a_file_is_uploaded_with_a_message(client: TestClient, slack: Slack) -> None:
    anna, _ = [user for user in slack.workspace.users.values() if not user.is_bot]
    channel = next(iter(slack.workspace.channels))
    given = {"name": "a b.log", "type": "", "content": base64.b64encode(b"line").decode()}
    said = client.post("/page/say", json={"user": anna.id, "channel": channel, "text": "look", "files": [given]}).json()
    [message] = client.get(f"/page/state?user={anna.id}").json()["messages"]
    assert (message["ts"], message["text"]) == (said["ts"], "look")
    [file] = message["files"]
    assert (file["name"], file["size"], file["channels"]) == ("a b.log", 4, [channel])
    assert client.get(f"/page/files/{file['id']}").content == b"line"


@pytest.mark.parametrize(("name", "shown"), [("a.png", True), ("a.html", False), ("a.svg", False), ("a.csv", False)])
def test_only_pictures_are_shown(client: TestClient, slack: Slack, name: str, shown: bool) -> None:
    slack.workspace.files["F1"] = {"id": "F1", "name": name, "size": 1, "content": b"x", "alt_txt": ""}
    found = client.get("/page/files/F1")
    assert ("content-disposition" not in found.headers) is shown
    assert found.headers["x-content-type-options"] == "nosniff"
