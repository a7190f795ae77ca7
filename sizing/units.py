"""The one place where units are converted. GiB = 2^30 bytes, GB = 10^9 bytes; a name says which it holds."""

KIB = 1024
MIB = 1024**2
GIB = 1024**3
GB = 10**9


def gib(size_bytes: float) -> float:
    """Bytes to GiB."""
    return size_bytes / GIB


def bytes_from_gib(size_gib: float) -> float:
    """GiB to bytes."""
    return size_gib * GIB


def gb(size_bytes: float) -> float:
    """Bytes to GB (decimal)."""
    return size_bytes / GB


def gib_from_gb(size_gb: float) -> float:
    """GB to GiB: 80 GB are 74.5 GiB."""
    return size_gb * GB / GIB


def ceil_div(amount: int, step: int) -> int:
    """The number of steps that hold an amount: 17 tokens in blocks of 16 take 2."""
    return -(-amount // step)


def pad_to(amount: int, step: int) -> int:
    """The amount rounded up to a multiple of step."""
    return ceil_div(amount, step) * step
