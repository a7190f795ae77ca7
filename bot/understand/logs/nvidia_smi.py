"""`nvidia-smi`: the table, `--query-gpu` lines, `dmon`, and `rocm-smi`'s short form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from bot.understand.logs.figures import number
from sizing.observation import Observation, SeenDevice

_TABLE: Final = re.compile(r"NVIDIA-SMI\s+[\d.]+|\|\s*GPU\s+Name\s+Persistence-M|MiB\s*/\s*\d+MiB")
_NAME: Final = re.compile(
    r"^\|\s+\d+\s+((?:NVIDIA|Tesla|GeForce|Quadro|GRID|RTX|A\d+|H\d+|L\d+)[^|]*?)\s+(?:On|Off|N/A|WDDM|TCC|MCDM)\b",
    re.MULTILINE,
)
_STATE: Final = re.compile(
    r"(?:(?P<fan>\d+)%|N/A)\s+(?P<temp>\d+)C\s+P\d+\s+(?P<power>\d+|N/A)W?\s*/\s*(?P<limit>\d+|N/A)W?\s*\|\s*"
    r"(?P<used>\d+)MiB\s*/\s*(?P<total>\d+)MiB\s*\|\s*(?P<busy>\d+|N/A)%?"
)
_LINE: Final = re.compile(
    r"^\s*(?:\d+,\s*)?(?P<name>(?:NVIDIA|Tesla|GeForce|Quadro)[^,\n]*),\s*(?P<rest>[^\n]*(?:MiB|%)[^\n]*)$",
    re.MULTILINE,
)
_HEADER: Final = re.compile(r"^(?:index,\s*)?name,\s*(.+)$", re.MULTILINE)
_ROCM: Final = re.compile(
    r"^\s*\d+\s+.*?(?P<temp>\d+\.?\d*)\s?(?:°C|c)\s+.*?(?P<power>\d+\.?\d*)\s?W\s+.*?(?P<vram>\d+)%\s+(?P<busy>\d+)%\s*$",
    re.MULTILINE,
)
_LINK: Final = re.compile(
    r"GPU Link Info(?:.|\n)*?PCIe Generation(?:.|\n)*?Current\s*:\s*(?P<gen>\d)(?:.|\n)*?Link Width(?:.|\n)*?Current\s*:\s*(?P<width>\d+)x"
)
_LINK_FIELDS: Final = ("pcie.link.gen.current", "pcie.link.width.current")


def read(text: str) -> Observation | None:
    """What a monitor shows of the devices; None where there is no such output."""
    devices = (*_from_table(text), *_from_lines(text), *_from_rocm(text))
    link = _LINK.search(text)
    if not devices and not link:
        return None
    return Observation(
        sources=("nvidia-smi",),
        devices=devices,
        link_gen=int(link["gen"]) if link else _field(text, _LINK_FIELDS[0]),
        link_width=int(link["width"]) if link else _field(text, _LINK_FIELDS[1]),
    )


def _from_table(text: str) -> Iterator[SeenDevice]:
    if not _TABLE.search(text):
        return
    names = [match[1].strip().rstrip(".") for match in _NAME.finditer(text)]
    for place, match in enumerate(_STATE.finditer(text)):
        yield SeenDevice(
            name=names[place] if place < len(names) else None,
            utilization=_share(match["busy"]),
            memory_used_gib=number(match["used"]) / 1024,
            memory_total_gib=number(match["total"]) / 1024,
            power_w=_watts(match["power"]),
            power_limit_w=_watts(match["limit"]),
            temperature_c=number(match["temp"]),
        )


def _share(written: str) -> float | None:
    return None if written == "N/A" else number(written) / 100


def _watts(written: str) -> float | None:
    return None if written == "N/A" else number(written)


def _from_lines(text: str) -> Iterator[SeenDevice]:
    """`NVIDIA L4, 98 %, 21504 MiB, 23034 MiB, 71.2 W`: by unit, in the order used, total."""
    for match in _LINE.finditer(text):
        rest = match["rest"]
        sizes = [number(size) / 1024 for size in re.findall(r"([\d.]+)\s*MiB", rest)]
        shares = [number(share) / 100 for share in re.findall(r"([\d.]+)\s*%", rest)]
        watts = [number(power) for power in re.findall(r"([\d.]+)\s*W\b", rest)]
        yield SeenDevice(
            name=match["name"].strip(),
            utilization=shares[0] if shares else None,
            memory_used_gib=min(sizes) if len(sizes) > 1 else None,
            memory_total_gib=max(sizes) if sizes else None,
            power_w=watts[0] if watts else None,
            power_limit_w=max(watts) if len(watts) > 1 else None,
        )


def _from_rocm(text: str) -> Iterator[SeenDevice]:
    if "VRAM%" not in text:
        return
    for match in _ROCM.finditer(text):
        yield SeenDevice(
            utilization=number(match["busy"]) / 100,
            memory_used_gib=number(match["vram"]) / 100,
            memory_total_gib=1.0,
            power_w=number(match["power"]),
            temperature_c=number(match["temp"]),
        )


def _field(text: str, name: str) -> int | None:
    """A column of `--query-gpu` output by its header."""
    header = _HEADER.search(text)
    line = _LINE.search(text)
    if not header or not line or name not in header[1]:
        return None
    place = [column.split(" ")[0].strip() for column in header[1].split(",")].index(name)
    cells = line["rest"].split(",")
    digits = re.sub(r"\D", "", cells[place]) if place < len(cells) else ""
    return int(digits) if digits else None
