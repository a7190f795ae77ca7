"""The sheet of an accelerator, line by line, from its entry in the catalogue."""

from collections.abc import Iterator, Mapping

from knowledge.analyse import Language
from knowledge.sheet_writing import Writer, number, remark
from sizing.catalogue.entries import Accelerator
from sizing.catalogue.load import catalogue
from sizing.devices import is_cpu, visible_gib
from sizing.units import GB, GIB

# What a customary plan leaves to weights, the rest to cache and overhead: 0.85 of 23.52 GiB are 20 GiB
_SHARE_FOR_WEIGHTS = 0.85
_PRECISIONS = ("fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp4")
_NATIVE_FROM = ((8.0, "BF16"), (8.9, "FP8"), (10.0, "FP4"))
_LAST_OLD_VLLM = "7.0"
_REFERENCE_MODEL = "meta-llama/Llama-3.1-8B-Instruct"
_NARROW = "gguf-q4_k_m"
_PRICES_SHOWN = 3


def write(entry: Accelerator, lang: Language) -> str:
    """Text of the sheet: one line a subject, no empty lines."""
    sheet = Writer(lang)
    sheet.line("what", _what(entry, sheet))
    sheet.line("sold", _sold(entry, sheet))
    sheet.line("visible", _visible(entry, sheet))
    sheet.line("bandwidth", _bandwidth(entry, sheet))
    sheet.line("rates", _rates(entry, sheet))
    sheet.line("basis", _basis(entry, sheet))
    sheet.line("link", _link(entry, sheet))
    sheet.line("power", _power(entry, sheet))
    sheet.line("form", _form(entry, sheet))
    sheet.line("software", _software(entry, sheet))
    sheet.line("floor", _native_formats(entry, sheet))
    sheet.line("uses", [sheet.word("uses", entry.kind)])
    sheet.line("room", _room(entry, sheet))
    sheet.line("pace", _pace(entry, sheet))
    sheet.line("price", _prices(entry, sheet))
    sheet.line("rent", _rent(entry, sheet))
    sheet.line("doubts", _doubts(entry, sheet))
    return sheet.text()


def _what(entry: Accelerator, sheet: Writer) -> Iterator[str]:
    words = {
        "name": entry.name,
        "kind": sheet.word("kind", entry.kind),
        "vendor": _vendor(entry),
        "architecture": entry.architecture,
        "status": sheet.word("status", entry.status),
    }
    if entry.launched:
        yield sheet.say("accelerator", "what_since", **words, launched=entry.launched)
    else:
        yield sheet.say("accelerator", "what", **words)


def _vendor(entry: Accelerator) -> str:
    return entry.vendor.upper() if entry.vendor in ("nvidia", "amd", "aws") else entry.vendor.title()


def _sold(entry: Accelerator, sheet: Writer) -> Iterator[str]:
    if entry.memory_gb is None:
        yield sheet.say("accelerator", "sold_unknown", type=entry.memory_type)
    elif is_cpu(entry):
        yield sheet.say("accelerator", "sold_up_to", gb=entry.memory_gb, type=entry.memory_type)
    elif entry.memory_bus_bits is None:
        yield sheet.say("accelerator", "sold", gb=entry.memory_gb, type=entry.memory_type)
    else:
        yield sheet.say(
            "accelerator", "sold_bus", gb=entry.memory_gb, type=entry.memory_type, bits=entry.memory_bus_bits
        )
    if len(entry.memory_options_gb) > 1:
        options = ", ".join(number(option, sheet.lang) for option in entry.memory_options_gb)
        yield sheet.say("accelerator", "options", options=options)
    if entry.memory_channels and entry.memory_mt_s:
        yield sheet.say("accelerator", "channels", channels=entry.memory_channels, rate=entry.memory_mt_s)
    if entry.gpus_per_card > 1:
        yield sheet.say("accelerator", "gpus_per_card", count=entry.gpus_per_card)


def _visible(entry: Accelerator, sheet: Writer) -> Iterator[str]:
    seen, measured = visible_gib(entry, None)
    if seen is None or is_cpu(entry):
        yield sheet.say("accelerator", "visible_fitted" if is_cpu(entry) else "visible_unknown")
        return
    if entry.vendor == "apple":
        yield sheet.say("accelerator", "visible_metal", gib=seen)
    else:
        yield sheet.say("accelerator", "visible_measured" if measured else "visible_assumed", gib=seen)
    if entry.smi_total_gib:
        yield sheet.say("accelerator", "smi", gib=entry.smi_total_gib)


def _bandwidth(entry: Accelerator, sheet: Writer) -> Iterator[str]:
    if entry.bandwidth_gb_s is None:
        yield sheet.say("accelerator", "unknown")
        return
    yield sheet.say("accelerator", "bandwidth", gb_s=entry.bandwidth_gb_s)
    for memory_gb, rate_gb_s in sorted((entry.bandwidth_gb_s_by_option or {}).items()):
        yield sheet.say("accelerator", "bandwidth_option", gb=memory_gb, gb_s=rate_gb_s)


def _rates(entry: Accelerator, sheet: Writer) -> list[str]:
    shown = [_rate(entry, precision, sheet) for precision in _PRECISIONS]
    known = [rate for rate in shown if rate]
    return [f"{'; '.join(known)}."] if known else [sheet.say("accelerator", "rates_none")]


def _rate(entry: Accelerator, precision: str, sheet: Writer) -> str:
    figure = entry.tflops.get(precision)
    unit = "TOPS" if precision == "int8" else "TFLOPS"
    if not isinstance(figure, Mapping):
        return _plain_rate(figure, precision, unit, sheet)
    long, short = figure.get("fp32_acc"), figure.get("fp16_acc")
    if long is None or short is None:
        lowest = min((rate for rate in figure.values() if rate is not None), default=None)
        return _plain_rate(lowest, precision, unit, sheet)
    return sheet.say("accelerator", "rate_short", format=precision.upper(), figure=long, short=short, unit=unit)


def _plain_rate(figure: float | None, precision: str, unit: str, sheet: Writer) -> str:
    if figure is None:
        return ""
    return sheet.say("accelerator", "rate", format=precision.upper(), figure=figure, unit=unit)


def _basis(entry: Accelerator, sheet: Writer) -> list[str]:
    parts = [part for part in (entry.tflops_basis, entry.tflops_note) if part and not part.startswith("none")]
    return [sheet.say("accelerator", "basis", basis=remark("; ".join(parts)))] if parts else []


def _link(entry: Accelerator, sheet: Writer) -> Iterator[str]:
    kind, rate_gb_s = entry.interconnect["type"], entry.interconnect["gb_s"]
    if kind == "none":
        yield sheet.say("accelerator", "link_none")
    elif rate_gb_s is None:
        yield sheet.say("accelerator", "link_plain", type=sheet.word("link", kind))
    else:
        yield sheet.say("accelerator", "link", type=sheet.word("link", kind), gb_s=rate_gb_s)
    if kind != "pcie" and (entry.interconnect["max_domain"] or 0) > 1:
        yield sheet.say("accelerator", "link_domain", count=entry.interconnect["max_domain"])
    if entry.pcie["gen"] and entry.pcie["lanes"]:
        yield sheet.say("accelerator", "pcie", gen=entry.pcie["gen"], lanes=entry.pcie["lanes"])


def _power(entry: Accelerator, sheet: Writer) -> Iterator[str]:
    yield (
        sheet.say("accelerator", "tdp", watts=entry.tdp_w) if entry.tdp_w else sheet.say("accelerator", "tdp_unknown")
    )
    if entry.power_connectors:
        yield sheet.say("accelerator", "connectors", plugs=entry.power_connectors)
    if entry.min_psu_w:
        basis = sheet.word("psu_basis", entry.min_psu_basis or "")
        yield sheet.say("accelerator", "psu", watts=entry.min_psu_w, basis=basis)


def _form(entry: Accelerator, sheet: Writer) -> Iterator[str]:
    yield sheet.say("accelerator", "form", form=sheet.word("form", entry.form_factor))
    if entry.slots:
        yield sheet.say("accelerator", "slots", slots=entry.slots)
    if entry.length_mm:
        yield sheet.say("accelerator", "length", mm=entry.length_mm)
    if entry.cooling:
        yield sheet.say("accelerator", "cooling", cooling=sheet.word("cooling", entry.cooling))
    if entry.ecc:
        yield sheet.say("accelerator", "ecc")
    if entry.mig:
        yield sheet.say("accelerator", "mig")


def _software(entry: Accelerator, sheet: Writer) -> Iterator[str]:
    if entry.software:
        yield sheet.say("accelerator", "software", software=", ".join(entry.software))
    if entry.compute_capability:
        yield sheet.say("accelerator", "capability", cc=entry.compute_capability)
        yield _vllm(entry.compute_capability, sheet)
    if entry.gfx:
        yield sheet.say("accelerator", "gfx", gfx=entry.gfx)


def _vllm(capability: str, sheet: Writer) -> str:
    floor = str(catalogue().facts["vllm-min-cc"].value["since v0.31"])
    if float(capability) >= float(floor):
        return sheet.say("accelerator", "vllm_yes", floor=floor)
    runs_old = float(capability) >= float(_LAST_OLD_VLLM)
    return sheet.say("accelerator", "vllm_old" if runs_old else "vllm_no", floor=floor)


def _native_formats(entry: Accelerator, sheet: Writer) -> list[str]:
    if not entry.compute_capability:
        return []
    native = [name for floor, name in _NATIVE_FROM if float(entry.compute_capability) >= floor]
    if not native:
        return [sheet.say("accelerator", "floor_none")]
    return [sheet.say("accelerator", "floor", formats=", ".join(native))]


def _room(entry: Accelerator, sheet: Writer) -> list[str]:
    seen, _ = visible_gib(entry, None)
    if seen is None or is_cpu(entry):
        return []
    room_bytes = seen * GIB * _SHARE_FOR_WEIGHTS
    narrow_bits = catalogue().formats[_NARROW].bits_per_weight or 0.0
    wide, narrow = room_bytes / 2 / 1e9, room_bytes * 8 / narrow_bits / 1e9
    return [sheet.say("accelerator", "room", wide=number(wide, sheet.lang, 1), narrow=number(narrow, sheet.lang, 1))]


def _pace(entry: Accelerator, sheet: Writer) -> list[str]:
    bits = catalogue().formats[_NARROW].bits_per_weight
    if entry.bandwidth_gb_s is None or bits is None:
        return []
    read_gb = catalogue().models[_REFERENCE_MODEL].params_total * bits / 8 / GB
    return [sheet.say("accelerator", "pace", rate=number(entry.bandwidth_gb_s / read_gb, sheet.lang, 0))]


def _prices(entry: Accelerator, sheet: Writer) -> Iterator[str]:
    if entry.msrp_usd:
        yield sheet.say("accelerator", "msrp", amount=entry.msrp_usd["amount"], date=entry.msrp_usd["date"])
    if entry.street_prices:
        read = [
            sheet.say(
                "accelerator",
                "street",
                amount=price["amount"],
                currency=price["currency"],
                condition=sheet.word("condition", price["condition"]),
                date=price["date"],
            )
            for price in entry.street_prices[:_PRICES_SHOWN]
        ]
        yield sheet.say("accelerator", "streets", prices="; ".join(read))
    if not entry.msrp_usd and not entry.street_prices:
        yield sheet.say("accelerator", "price_unknown")


def _rent(entry: Accelerator, sheet: Writer) -> list[str]:
    dated = [
        (offer.price_usd_gpu_h, offer.provider, offer.as_of)
        for offer in catalogue().offers_for(entry.id)
        if offer.price_usd_gpu_h and offer.as_of and offer.confidence == "high"
    ]
    if not dated:
        return []
    amount, provider, date = min(dated)
    return [sheet.say("accelerator", "rent", amount=number(amount, sheet.lang, 2), provider=provider, date=date)]


def _doubts(entry: Accelerator, sheet: Writer) -> Iterator[str]:
    yield sheet.say("accelerator", "confidence", confidence=sheet.word("confidence", entry.confidence))
    if entry.recalled_fields:
        fields = dict.fromkeys(_field(name, sheet) for name in entry.recalled_fields)
        yield sheet.say("accelerator", "recalled", fields=", ".join(fields))
    for note in (entry.notes, entry.memory_note, entry.memory_total_note):
        if note:
            yield sheet.say("accelerator", "note", note=remark(note))


def _field(name: str, sheet: Writer) -> str:
    group, _, part = name.partition(".")
    return f"{sheet.word('field', group)} {part.upper()}".strip() if group == "tflops" else sheet.word("field", group)
