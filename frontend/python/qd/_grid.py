"""What all threads of a loop do: `qd.simt.grid`."""

from qd._block import BlockFunc, Deprecated

mem_fence = BlockFunc("mem_fence", "grid.mem_fence", doc="Orders accesses to memory, as the device sees them. Threads may come to it alone.")
memfence = Deprecated("grid", "memfence", mem_fence)
