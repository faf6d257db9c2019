"""Finds missing wait states in code for CDNA 3: what hardware does not check and `s_nop` must keep apart.

The rules are those of the CDNA3 ISA ("AMD Instinct MI300" Instruction Set Architecture), section 4.5, table 11, for the
instructions that the engine executes; it has no buffer instructions. It is a check of the code at load and not of an
execution: from each instruction that needs distance it goes back over every path of branches. A return from a call ends a
path, and a register that was written again in between counts as if it had not been.

Left out of that table: VSKIP, RFE and add-TID, which the engine does not know; VCC under its number as an SGPR, which has no
encoding of its own; and loads that overwrite what a store still reads (one wait state), for which LLVM inserts none either.
So is section 7.5, on matrix and dot products.
"""

import re

from .decode import CONSTANT, M0, NONE

VCC, VCCZ, EXECZ, EXEC, VGPR = range(106, 108), 251, 252, range(126, 128), 256
# Table 12.
TRANS = re.compile(r"V_((EXP|LOG)(_LEGACY)?|RCP(_IFLAG)?|RSQ|SQRT|SIN|COS)_F(16|32|64)")
LANE = re.compile(r"V_(READLANE|WRITELANE)_B32")
MEMORY = re.compile(r"(GLOBAL|FLAT|SCRATCH)_.*")


class HazardError(Exception):
    """Two instructions are nearer to each other than the ISA allows."""


def registers(*operands):
    """The numbers of the registers that operands are in."""
    out = set()
    for o in operands:
        if o.code not in (NONE, CONSTANT):
            out.update(range(o.code, o.code + max(1, (o.bits + 31) // 32)))
    return out


class Facts:
    """What an instruction is to the rules."""

    def __init__(self, i):
        self.name, self.text = i.name, i.text
        self.states = i.simm % 16 + 1 if i.name == "S_NOP" else 1
        self.vector = i.name.startswith("V_") and i.kind in ("vector", "wave")
        self.scalar = i.name.startswith("S_") and i.kind == "scalar"
        self.writes = registers(i.dst, i.sdst) if self.vector or self.scalar else set()
        if i.name.startswith("V_CMPX"):
            self.writes.update(EXEC)
        # Carries are no constants and need no distance. The table does not say which of them V_CNDMASK's mask is like: LLVM
        # takes it for a constant.
        self.reads = registers(*i.source, *([i.condition] if i.name.startswith("V_CNDMASK") else []))
        self.mode = i.simm & 63 if i.kind in ("setreg", "getreg") else None
        self.select, self.first = registers(i.source[1]), registers(i.source[0])
        self.base, self.dpp = registers(i.base), i.dpp != 0xFFFF
        self.shifts = self.vector and (i.dst_select != 6 or i.dst.select & 1 == 1)
        wide = MEMORY.fullmatch(i.name) and i.data.bits > 64 and re.search("STORE|CMPSWAP", i.name)
        self.data = registers(i.data) if wide else set()


def vgprs(numbers):
    return {n for n in numbers if n >= VGPR}


def sgprs(numbers):
    return {n for n in numbers if n < 106} | numbers & {*VCC}


def needs(f):
    """Wait states that an instruction needs, behind what, and why."""
    if MEMORY.fullmatch(f.name) and sgprs(f.base):
        used = sgprs(f.base)
        yield 5, lambda p: p.vector and p.writes & used, "a vector instruction writes an SGPR that vector memory reads"
    if f.mode is not None:
        yield 2, lambda p: p.name.startswith("S_SETREG") and p.mode == f.mode, "S_SETREG and the same register again"
    if re.match(r"S_(MOVREL|SENDMSG)", f.name):
        yield 1, lambda p: p.scalar and M0 in p.writes, "M0 is written by a scalar instruction"
    if not f.vector:
        return
    if LANE.fullmatch(f.name) and sgprs(f.select):
        yield 4, lambda p: p.vector and p.writes & sgprs(f.select), "a vector instruction writes the SGPR that selects a lane"
    if f.name.startswith("V_DIV_FMAS"):
        yield 4, lambda p: p.vector and p.writes & {*VCC}, "a vector instruction writes VCC for V_DIV_FMAS"
    if f.dpp:
        yield 5, lambda p: p.vector and p.writes & {*EXEC}, "a vector instruction writes EXEC before DPP"
        yield 2, lambda p: p.vector and p.writes & vgprs(f.reads), "a vector instruction writes a VGPR that DPP reads"
    if f.reads & {VCCZ, EXECZ}:
        yield 5, lambda p: p.vector and p.writes & {*VCC, *EXEC}, "a vector instruction writes what VCCZ or EXECZ follows"
    if sgprs(f.reads):
        why = "a vector instruction writes an SGPR that another reads as a constant"
        yield 2, lambda p: p.vector and p.writes & sgprs(f.reads), why
    if f.reads & {*EXEC}:
        yield 2, lambda p: p.name.startswith("V_CMPX"), "V_CMPX writes EXEC that a vector instruction reads as a constant"
    if LANE.fullmatch(f.name) or f.name == "V_READFIRSTLANE_B32":
        yield 4, lambda p: p.name.startswith("V_CMPX"), "V_CMPX writes EXEC before a lane is read or written"
        # The table names V_READLANE alone; LLVM (GCNHazardRecognizer::checkVALUHazards) keeps V_READFIRSTLANE apart too.
        yield 1, lambda p: p.vector and p.writes & vgprs(f.first), "a vector instruction writes the VGPR of which a lane is read"
    yield 1, lambda p: p.shifts and p.writes & vgprs(f.reads), "a vector instruction reads what SDWA or OPSEL has moved"
    if not TRANS.fullmatch(f.name):
        why = "a vector instruction reads a transcendental's result"
        yield 1, lambda p: TRANS.fullmatch(p.name) and p.writes & vgprs(f.reads), why
    if vgprs(f.writes):
        yield 2, lambda p: p.data & f.writes, "a vector instruction overwrites what a store of more than 64 bits reads"


def before(records, pcs):
    """The instructions that may come right before each, by number."""
    at = {pc: k for k, pc in reversed(list(enumerate(pcs)))}
    out = [[] for _ in records]
    for k, (pc, i) in enumerate(records):
        if re.match(r"S_C?BRANCH_", i.name + "_"):
            target = pc + 4 + 4 * ((i.simm & 0xFFFF ^ 0x8000) - 0x8000)
            if target in at:
                out[at[target]].append(k)
        ends = i.kind in ("end", "unsupported") or re.match(r"S_(BRANCH|SETPC|SWAPPC|CALL)", i.name)
        if not ends and k + 1 < len(records):
            out[k + 1].append(k)
    return out


def distance(k, limit, producer, facts, previous):
    """The nearest producer with fewer than `limit` wait states between: its number and how many there are."""
    nearest, waiting = {}, [(j, 0) for j in previous[k]]
    while waiting:
        j, passed = waiting.pop()
        if passed >= nearest.get(j, limit):
            continue
        nearest[j] = passed
        if producer(facts[j]):
            return j, passed
        waiting.extend((n, passed + facts[j].states) for n in previous[j])
    return None


def check(records, kernels):
    """Raises `HazardError` for the first pair of `records`, (pc, instruction), that is too near. `kernels`: (pc, name), sorted."""
    known, facts, wants = {}, [], []
    for _, i in records:
        if id(i) not in known:
            found = Facts(i)
            known[id(i)] = found, list(needs(found))
        facts.append(known[id(i)][0])
        wants.append(known[id(i)][1])
    previous = before(records, [pc for pc, _ in records])
    for k, want in enumerate(wants):
        for limit, producer, why in want:
            if found := distance(k, limit, producer, facts, previous):
                j, passed = found
                pc = records[k][0]
                name = next((n for start, n in reversed(kernels) if start <= pc), "code")
                raise HazardError(f"hazard in {name}, pc {pc:#x}: {facts[k].text}: {passed} of {limit} wait states behind pc "
                                  f"{records[j][0]:#x}: {facts[j].text}: {why} (CDNA3 ISA, table 11): missing s_nop")
