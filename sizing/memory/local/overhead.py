"""What a process holds on a device beside weights, cache and buffers."""

from __future__ import annotations

from sizing.devices import Device, is_cpu
from sizing.units import MIB

# Context and kernels per process and device. Logs: 239-244 MiB (RTX 3090 Vulkan, RTX 5070 CUDA), 297 MiB (A40 CUDA), about
# 140 MiB (8 GB card on Linux). cuBLAS and flash-attention work space come on top when prompts run.
_CONTEXT_MIB = {
    "cuda": 300.0,
    "rocm": 340.0,
    "vulkan": 240.0,
    "metal": 100.0,
    "sycl": 320.0,
    "cann": 400.0,
    "cpu": 50.0,
}
_OTHER_MIB = 300.0


def context_bytes(backend: str, device: Device) -> float:
    """Bytes of a process's context on a device."""
    if is_cpu(device.accelerator):
        return _CONTEXT_MIB["cpu"] * MIB
    return _CONTEXT_MIB.get(backend, _OTHER_MIB) * MIB
