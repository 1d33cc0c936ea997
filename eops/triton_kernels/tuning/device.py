"""What a GPU can do, and the seconds that a kernel takes on it.

    seconds = launch + max(memory, cache, arithmetic, waits)

    memory      bytes / bandwidth, less of which few programs reach
    cache       bytes that programs ask for / bandwidth of the second-level cache
    arithmetic  operations / rate + operations of products of tiles / their rate, on the
                multiprocessors that have a program
    waits       the loads that a program waits for one after the other, times how many programs a
                multiprocessor runs one after the other

Source: Williams, Waterman, Patterson, "Roofline", CACM 2009.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple

SECTOR: Final = 32
"""Bytes of memory that are read or written at least."""
BYTES_OF_A_REGISTER: Final = 4


@dataclass(frozen=True, slots=True)
class Device:
    """A kind of GPU.  Rates are operations a second, bandwidths bytes a second.

    - `rates`: outside products of tiles, by the type computed in; `products`: within them, by the
      type of the factors, two operations a term.
    - `wait`: seconds that a load takes if nothing else is to do, less what a compiler hides.
    - `alone`: how many times its share of the bandwidth one multiprocessor reaches.
    - `busy_warps`: warps of a multiprocessor that reach the rate of products without matrix
      instructions, which wait for each other."""

    name: str
    units: int
    """Multiprocessors."""
    bandwidth: float
    cache: int
    """Bytes of the second-level cache."""
    cache_bandwidth: float
    rates: Mapping[str, float]
    products: Mapping[str, float]
    launch: float = 1.25e-6
    wait: float = 4.5e-7
    alone: float = 2.5
    busy_warps: int = 12
    threads: int = 2048
    """Of a multiprocessor, as are the next two."""
    programs: int = 32
    registers: int = 1 << 16
    most_registers: int = 255
    """Of a thread."""


H100: Final = Device(
    name="H100",
    units=132,
    bandwidth=2.8e12,
    cache=50 << 20,
    cache_bandwidth=1e13,
    rates=MappingProxyType({"float32": 3e13, "float64": 1.5e13, "int64": 7.5e12}),
    products=MappingProxyType(
        {"float16": 6.4e14, "bfloat16": 6.4e14, "float32": 4.5e13, "float64": 3e13}
    ),
)
"""The SXM model.  Of NVIDIA's data sheet and guide to the architecture (2022): multiprocessors,
their limits, the cache, and `rates`: half of 6.7e13, which are multiply-adds alone, and a quarter
of that for integers of 64 bits.  Of docs/measurements/gpu.md: `bandwidth` as in the profile
`cuda:90`, between torch's copy and the best kernels; `products` by the library; `launch` and one
wait are the time of one element; `cache_bandwidth` by max-plus products, whose programs share what
their multiprocessor holds; `wait` by sums of columns with one output a lane; `busy_warps` by a
convolution in float32 on 128 programs."""

H200: Final = Device(
    name="H200",
    units=132,
    bandwidth=4.2e12,
    cache=50 << 20,
    cache_bandwidth=1e13,
    rates=H100.rates,
    products=H100.products,
)
"""The same processor with other memory: a copy of 8192 x 8192 numbers, docs/measurements/gpu.md."""


class Occupancy(NamedTuple):
    """How programs of `warps` warps each, and of so many `registers` a thread, lie on a device."""

    programs: int
    warps: int
    registers: int

    def slots(self, device: Device) -> int:
        """Programs that one multiprocessor holds at the same time."""
        threads = 32 * self.warps
        by_registers = device.registers // (threads * min(self.registers, device.most_registers))
        return max(1, min(device.programs, device.threads // threads, by_registers))

    def rounds(self, device: Device) -> int:
        """Programs that a multiprocessor runs one after the other in one of its slots."""
        return -(-self.programs // (self.slots(device) * device.units))

    def used(self, device: Device) -> float:
        """The share of the multiprocessors that work, on average, until the last one is done."""
        at_once = min(self.slots(device), -(-self.programs // device.units)) * device.units
        return self.programs / (at_once * -(-self.programs // at_once))

    def resident_warps(self, device: Device) -> float:
        """Warps of a multiprocessor that has work."""
        each = max(1.0, self.programs / device.units)
        return self.warps * min(self.slots(device), each)


class Demand(NamedTuple):
    """What a kernel asks of a device: `moved` bytes of memory, `asked` bytes of the second-level
    cache, operations on `compute`, `products` operations of tiles of `factors`, lanes beyond the
    ends included, and `steps` loads that a program waits for."""

    moved: float
    asked: float
    operations: float
    compute: str
    products: float
    factors: str
    steps: float


def parts(demand: Demand, where: Occupancy, device: Device) -> dict[str, float]:
    """The seconds of each of the four that the slowest one decides."""
    used = where.used(device)
    with_work = min(1.0, where.programs / device.units)
    arithmetic = demand.operations / device.rates[demand.compute]
    if demand.products:
        rate = device.products[demand.factors]
        if demand.factors not in ("float16", "bfloat16"):
            rate *= min(1.0, where.resident_warps(device) / device.busy_warps)
        arithmetic += demand.products / rate
    return {
        "memory": demand.moved / (device.bandwidth * min(1.0, device.alone * with_work)),
        "cache": demand.asked / (device.cache_bandwidth * with_work),
        "arithmetic": arithmetic / used,
        "waits": device.wait * demand.steps * where.rounds(device),
    }
