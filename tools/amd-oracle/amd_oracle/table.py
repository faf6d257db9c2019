"""Writes a code object as the table that the engine executes.

The format is that of `engine/table.h`: sections of fixed records, found by the header's offsets.
"""

import bisect
import functools
import hashlib
import re
import struct

from . import hazards
from .compile import Library, PcodeError, cache, place, version
from .decode import KIND, NONE, Decoder, Instruction, by_name, waits
from .elf import CodeObject
from .errata import correct

MAGIC = b"QDAMDOR1"
ARCHITECTURES = ["gfx942", "gfx1100", "gfx1201", "gfx90a"]
FLAGS = {"D0": 1, "mask D0": 2, "mask VCC": 4, "mask EXEC": 8, "S0": 16, "SCC": 32, "PC": 64, "EXEC": 128}
LANES, ATOMIC, STORES, USES_D = 256, 512, 1024, 2048


class Strings:
    def __init__(self):
        self.data, self.known = bytearray(b"\0"), {"": 0}

    def __call__(self, text):
        if text not in self.known:
            self.known[text] = len(self.data)
            self.data += text.encode() + b"\0"
        return self.known[text]


def classify(i):
    """What unit executes it: the class by which coverage and cost are counted."""
    if re.match(r"S_(C?BRANCH|CALL|SETPC|SWAPPC|GETPC|ENDPGM)", i.name):
        return "branch"
    if i.kind in ("nop", "wait", "barrier", "signal", "barrier_wait", "sleep") and i.name.startswith("S_"):
        return "wait"
    if i.name.startswith(("BUFFER_", "GLOBAL_", "FLAT_", "SCRATCH_")):
        return "VMEM"
    if i.name.startswith("DS_"):
        return "LDS"
    if i.name.startswith("V_"):
        return "VALU"
    return "SMEM" if i.kind == "smem" else "SALU"


@functools.cache
def lookup(family):
    """What gives the pseudocode of another instruction of a family, by its name: `v_min_i32`."""
    codes = by_name(family)

    def by(name):
        for full in (name.upper(), name.upper() + "_E32", name.upper() + "_E64"):
            if full in codes:
                return correct(family, full, codes[full])
        return None
    return by


class Translation:
    def __init__(self, image):
        self.object = CodeObject(image)
        self.decoder = Decoder(self.object.family, self.object.memory)
        self.library, self.strings = Library(), Strings()
        self.ops, self.records, self.index = {}, [], []
        self.text_base = min((a for a, _ in self.object.text), default=0)
        self.text_end = max((a + s for a, s in self.object.text), default=0)

    def run(self):
        self.index = [0xFFFFFFFF] * ((self.text_end - self.text_base) // 4)
        for pc, i in self.instructions():
            slot = (pc - self.text_base) // 4
            if i.size and self.index[slot] == 0xFFFFFFFF:
                self.index[slot] = len(self.records)
            self.records.append((pc, i))

    def instructions(self):
        starts = sorted(v for v, _, kind in self.object.names.values() if kind == 2)
        for address, size in self.object.text:
            pc = address
            while pc < address + size:
                found = self.decoder.decode(pc)
                next_start = bisect.bisect_right(starts, pc)
                following = starts[next_start] if next_start < len(starts) else self.text_end
                if following < pc + found[0].size:
                    found = [Instruction(following - pc, "unsupported", "padding", "", why="not an instruction")]
                for i in found:
                    yield pc, i
                pc += found[0].size

    def compiled(self, i):
        """The function that does an instruction, and the flags of its op. What cannot be compiled becomes `unsupported`."""
        if i.kind not in ("scalar", "vector", "dual", "wave", "smem", "lds", "memory"):
            return "", 0
        text = EXTRA.get(i.name) or i.pcode
        try:
            if text is None:
                raise PcodeError("no pseudocode")
            full = correct(self.object.family, i.name, text)
            function, outputs = self.library.want(self.object.family, full, lookup(self.object.family), i.saturate)
        except PcodeError as error:
            i.kind, i.why = "unsupported", f"pseudocode of {i.name}: {error}"
            return "", 0
        flags = sum(bit for name, bit in FLAGS.items() if name in outputs)
        if "VGPR[laneId]" in full or "VGPR[" not in full:
            flags |= LANES
        if re.search(r"\bD0\b(?!\S* = )|D0\[", full) or i.dst.bits == 16 or "D0.f16" in full or "D0.b16" in full:
            flags |= USES_D
        if "MEM" in outputs:
            flags |= STORES
        if "RETURN_DATA" in outputs and "MEM" in outputs or re.search(r"ATOMIC|_RTN_|DS_(ADD|SUB|MIN|MAX|AND|OR|XOR|INC|DEC|CMP|RSUB|MSKOR)", i.name):
            flags |= ATOMIC
        return function, flags

    def op(self, i):
        """The number of an instruction's op."""
        if i.op is None:
            function, flags = self.compiled(i)
            i.op = (i.name, function, i.kind == "unsupported" and i.why), (flags, classify(i))
        key, what = i.op
        if key not in self.ops:
            self.ops[key] = (len(self.ops), *what)
        if key[1]:
            self.library.use(key[1])
        return self.ops[key][0]

    def record(self, pc, i):
        op = self.op(i)
        if i.record is None:
            i.record = self.rest_of_record(i)
        return struct.pack("<IIII", pc, op, self.strings(i.text), self.strings(i.why)) + i.record

    def rest_of_record(self, i):
        counts = waits(self.object.family, i) if i.kind == "wait" else [0xFFFF] * 4
        head = struct.pack("<IIii", i.literal & 0xFFFFFFFF, i.dpp8, i.offset, i.simm)
        small = struct.pack("<24B", i.size, KIND[i.kind], i.clamp, i.omod, i.opsel, i.opsel_hi, i.neg, i.neg_hi, i.packed,
                            i.dpp_rows, i.dpp_bound, i.dpp_fetch, i.dst_select, i.dst_unused, i.offset0, i.offset1, i.space,
                            i.returns, i.float_bits, 0, 0, 0, 0, 0)
        shorts = struct.pack("<4HHHHH", *counts, i.dpp, 0, 0, 0)
        operands = b"".join(o.pack() for o in (*i.source, i.dst, i.sdst, i.condition, i.address, i.base, i.data, i.data2))
        return head + small + shorts + operands

    def write(self):
        self.run()
        if self.object.architecture == "gfx942":
            hazards.check(self.records, sorted((v, n) for n, (v, _, kind) in self.object.names.items() if kind == 2))
        records = [self.record(pc, i) for pc, i in self.records]
        files = self.library.finish()
        libraries = sorted({f for f in files.values() if f})
        root = cache() / "lib"
        k = self.object.kernels
        kernels = b"".join(struct.pack("<14I", self.strings(x.name), x.entry, x.shared, x.private, x.kernarg, x.rsrc1, x.rsrc2,
                                       x.rsrc3, x.properties, x.preload, x.max_threads, x.vgprs, x.agprs, x.wave) for x in k)
        ops = b"".join(struct.pack("<6I", self.strings(name), self.strings(kind), libraries.index(files[f]) if f else NONE,
                                   self.strings(f), flags, 0) for (name, f, _), (_, flags, kind) in self.ops.items())
        libs = b"".join(struct.pack("<I", self.strings(str(root / f))) for f in libraries)
        relocations = b"".join(struct.pack("<Qq", *r) for r in self.object.relocations)
        index = struct.pack(f"<{len(self.index)}I", *self.index)
        sections = [kernels, b"".join(records), ops, libs, relocations, index, bytes(self.object.memory), bytes(self.strings.data)]
        counts = [len(k), len(records), len(self.ops), len(libraries), len(self.object.relocations), len(self.index), len(self.object.memory), len(self.strings.data)]
        at = 8 + 4 + 4 + 16 * len(sections)
        header = MAGIC + struct.pack("<II", ARCHITECTURES.index(self.object.architecture), self.text_base)
        body = b""
        for count, data in zip(counts, sections):
            pad = -(at + len(body)) % 8
            body += b"\0" * pad
            header += struct.pack("<QQ", at + len(body), count)
            body += data
        return header + body


# Moves that have no page.
EXTRA = {"V_ACCVGPR_READ_B32": "D0.b32 = S0.b32", "V_ACCVGPR_WRITE_B32": "D0.b32 = S0.b32", "V_ACCVGPR_READ": "D0.b32 = S0.b32",
         "V_ACCVGPR_WRITE": "D0.b32 = S0.b32", "V_ACCVGPR_MOV_B32": "D0.b32 = S0.b32"}


def table(image):
    """The path of a code object's table, made if it is not there."""
    name = hashlib.sha256(image + version().encode()).hexdigest()[:40]
    path = cache() / "tables" / f"{name}.table"
    if not path.exists():
        place(path, Translation(image).write())
    return path
