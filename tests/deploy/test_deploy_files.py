"""What stands under deploy/ and in the Dockerfile, checked without a container engine."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import CollectorRegistry

from bot import metrics, prices
from bot.settings import Settings

ROOT = Path(__file__).parents[2]
_METRIC = re.compile(r"sizewise_[a-z_]+")
_SETTING = re.compile(r"^(?:SIZEWISE_|SLACK_|DATABASE_URL|CHROMA_URL)")
_NAMED = re.compile(r"\b(?:SIZEWISE|SLACK|OTEL|HF|DATABASE|CHROMA)_[A-Z_]*[A-Z]\b")
_FOREIGN = frozenset({"CHROMA_URL", "SIZEWISE_DOMAIN"})  # knowledge/settings.py and the proxy read these


def exposed(registry: CollectorRegistry) -> set[str]:
    """Every series name that /metrics can carry."""
    names: set[str] = set()
    for family in registry.collect():
        base = family.name
        names |= {base, f"{base}_total", f"{base}_bucket", f"{base}_count", f"{base}_sum"}
    return names


def environment_names() -> set[str]:
    aliases = {str(field.validation_alias) for field in Settings.model_fields.values() if field.validation_alias}
    return aliases | {f"SIZEWISE_{name.upper()}" for name in Settings.model_fields}


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((ROOT / "deploy" / name).read_text()))


@pytest.mark.parametrize("name", ["alerts.yaml", "dashboard.json"])
def test_only_metrics_that_exist_are_watched(name: str) -> None:
    used = set(_METRIC.findall((ROOT / "deploy" / name).read_text()))
    assert used <= exposed(metrics.registry)
    assert used


def test_the_dashboard_is_json_with_titled_panels() -> None:
    board = json.loads((ROOT / "deploy/dashboard.json").read_text())
    assert all(panel["title"] and panel["targets"] for panel in board["panels"])


def test_alerts_say_what_to_do() -> None:
    rules = documents("alerts.yaml")[0]["groups"][0]["rules"]
    assert all(rule["annotations"]["summary"] and rule["annotations"]["action"] for rule in rules)


def test_compose_names_settings_that_exist_and_starts_no_privileged_bot() -> None:
    services = documents("compose.yaml")[0]["services"]
    bot = services["bot"]
    assert set(services) == {"bot", "postgres", "chroma", "proxy"}
    assert {name for name in bot["environment"] if _SETTING.match(name)} <= environment_names() | _FOREIGN
    assert (bot["cap_drop"], bot["read_only"]) == (["ALL"], True)
    assert (ROOT / "deploy" / bot["build"]["context"] / "Dockerfile").exists()


def test_kubernetes_has_probes_a_budget_and_no_root() -> None:
    found = {document["kind"]: document for document in documents("kubernetes.yaml")}
    assert set(found) == {"Service", "PodDisruptionBudget", "Deployment"}
    pod = found["Deployment"]["spec"]["template"]["spec"]
    container = pod["containers"][0]
    assert {
        probe: container[probe]["httpGet"]["path"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")
    } == {
        "startupProbe": "/healthz",
        "livenessProbe": "/healthz",
        "readinessProbe": "/readyz",
    }
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert {entry["name"] for entry in container["env"]} <= environment_names() | _FOREIGN
    labels = found["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert found["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    assert found["Service"]["spec"]["selector"] == labels


def test_the_container_runs_without_root_what_the_project_installs() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    stages = [line for line in lines if line.startswith("FROM ")]
    last = lines[lines.index(stages[-1]) :]
    assert len(stages) == 2
    assert any(line.startswith("USER ") and line.split()[1] not in ("root", "0") for line in last)
    assert 'ENTRYPOINT ["sizewise"]' in last
    copied = {
        part for line in lines if line.startswith("COPY ") and "--from" not in line for part in line.split()[1:-1]
    }
    assert all((ROOT / part.removeprefix("./")).exists() for part in copied)
    assert {"sizing", "knowledge", "bot", "playground"} <= copied


def test_every_setting_is_described_and_none_that_is_not_read() -> None:
    table = (ROOT / "docs/operating.md").read_text().partition("## Settings")[2].partition("## ")[0]
    described = {
        name for line in table.splitlines() if line.startswith("| `") for name in _NAMED.findall(line.split("|")[1])
    }
    ours = {str(field.validation_alias or f"SIZEWISE_{name.upper()}") for name, field in Settings.model_fields.items()}
    sources = "".join(path.read_text() for part in ("bot", "knowledge") for path in (ROOT / part).rglob("*.py"))
    assert described >= ours | {name for name in _NAMED.findall(sources) if name.startswith("SIZEWISE_")}
    assert described <= ours | set(_NAMED.findall(sources))


def test_the_price_file_of_the_documentation_is_taken_whole(tmp_path: Path) -> None:
    part = (ROOT / "docs/operating.md").read_text().partition("## Prices of your own")[2]
    (tmp_path / "quotes.csv").write_text(part.split("```")[1].strip() + "\n")
    found = prices.read_csv(tmp_path / "quotes.csv")
    assert not found.skipped
    assert {row.kind for row in found.rows} == {"quote", "buy", "rent"}
