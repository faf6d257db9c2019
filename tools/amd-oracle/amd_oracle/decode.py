"""Decodes one instruction into what the engine needs: operands, modifiers, the kind of execution."""

import functools
import importlib
import re
import struct
from dataclasses import dataclass, field

from tinygrad.renderer.amd import decode_inst

KINDS = ("unsupported", "scalar", "vector", "dual", "wave", "smem", "lds", "memory", "nop", "wait", "barrier",
         "signal", "barrier_wait", "end", "setreg", "getreg", "sleep", "index_on", "index_off")
KIND = {name: i for i, name in enumerate(KINDS)}
NONE, CONSTANT = 0xFFFF, 0xFFFE
NULL, M0 = 124, 125
SPACES = {"FLAT": 0, "VFLAT": 0, "GLOBAL": 1, "VGLOBAL": 1, "SCRATCH": 2, "VSCRATCH": 2}
FLOATS = {240: 0.5, 241: -0.5, 242: 1.0, 243: -1.0, 244: 2.0, 245: -2.0, 246: 4.0, 247: -4.0, 248: 0.15915494309189535}
ONES = (1 << 64) - 1
# Bytes of an instruction, and all that have been decoded, by family and bytes.
SIZES = (4, 8, 12, 16, 20, 24)
DECODED = {}
NOPS = re.compile(
    r"S_(NOP|CLAUSE|DELAY_ALU|SETPRIO|SETHALT|SET_INST_PREFETCH_DISTANCE|INST_PREFETCH|SENDMSG|ICACHE_INV|DCACHE_(INV|WB|INV_VOL|WB_VOL)"
    r"|WAIT_ALU|WAITCNT_DEPCTR|WAIT_EVENT|VERSION|TTRACEDATA.*|INCPERFLEVEL|DECPERFLEVEL|GL1_INV|PREFETCH_.*|BUFFER_PREFETCH.*)"
    r"|BUFFER_(GL[01]_INV|INV|WBL2|WBINVL1.*)|GLOBAL_(INV|WB|WBINV)|V_NOP.*|V_PIPEFLUSH.*")


@dataclass
class Operand:
    code: int = NONE
    bits: int = 32
    select: int = 0
    value: int = 0
    keep: int = ONES
    flip: int = 0

    def pack(self):
        return struct.pack("<HHHHQQQ", self.code, self.bits, self.select, 0, self.value, self.keep, self.flip)


@dataclass
class Instruction:
    """Without its place: the same at every one."""
    size: int
    kind: str
    name: str
    text: str
    pcode: str | None = None
    saturate: bool = False
    source: list = field(default_factory=lambda: [Operand(), Operand(), Operand()])
    dst: Operand = field(default_factory=Operand)
    sdst: Operand = field(default_factory=Operand)
    condition: Operand = field(default_factory=Operand)
    address: Operand = field(default_factory=Operand)
    base: Operand = field(default_factory=Operand)
    data: Operand = field(default_factory=Operand)
    data2: Operand = field(default_factory=Operand)
    literal: int = 0
    simm: int = 0
    clamp: int = 0
    omod: int = 0
    opsel: int = 0
    opsel_hi: int = 0
    neg: int = 0
    neg_hi: int = 0
    packed: int = 0
    dpp: int = 0xFFFF
    dpp_rows: int = 0
    dpp_bound: int = 0
    dpp_fetch: int = 0
    dpp8: int = 0
    dst_select: int = 6
    dst_unused: int = 0
    offset: int = 0
    offset0: int = 0
    offset1: int = 0
    space: int = 1
    returns: int = 0
    float_bits: int = 0
    why: str = ""
    # What a table says of it, once that is known: its op, and its record but for what differs by place.
    op: tuple | None = None
    record: bytes | None = None


def pseudocode(family):
    return importlib.import_module(f"tinygrad.runtime.autogen.amd.{family}.str_pcode").PCODE


@functools.cache
def by_name(family):
    return {op.name: text for op, text in pseudocode(family).items()}


def formats(family):
    return importlib.import_module(f"tinygrad.runtime.autogen.amd.{family}.ins")


def signed(value, width):
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def float_bits(number, width):
    form = {16: ("<e", "<H"), 32: ("<f", "<I"), 64: ("<d", "<Q")}[width]
    return struct.unpack(form[1], struct.pack(form[0], number))[0]


class Decoder:
    def __init__(self, family, memory):
        self.family, self.memory = family, memory
        self.codes = pseudocode(family)
        self.by_name = by_name(family)
        self.seen = DECODED.setdefault(family, {})

    def decode(self, pc):
        """The instructions at an address: two of a dual one. They are shared by all places that have the same bytes."""
        data = bytes(self.memory[pc:pc + 24]).ljust(24, b"\0")
        # How long an instruction is follows from its bytes: none begins as another, shorter one.
        for size in SIZES:
            if found := self.seen.get(data[:size]):
                return found
        found = self.anew(data)
        if found[0].kind != "unsupported":
            self.seen[data[:found[0].size]] = found
        return found

    def anew(self, data):
        try:
            inst = self.read(data)
        except (ValueError, KeyError, AssertionError) as error:
            return [Instruction(4, "unsupported", "unknown", f"{data[:4][::-1].hex()}", why=f"unknown encoding: {error}")]
        try:
            if type(inst).__name__.startswith("VOPD"):
                return self.dual(inst)
            return [self.one(inst)]
        except (AttributeError, KeyError, ValueError) as error:
            return [Instruction(inst.size(), "unsupported", inst.op.name if hasattr(inst, "op") else "?", repr(inst), why=str(error))]

    def read(self, data):
        ins = formats(self.family)
        word = int.from_bytes(data[:4], "little")
        if self.family == "rdna3" and word >> 26 == 0b111000:
            return ins.MUBUF.from_bytes(data)
        if self.family == "cdna" and word >> 31 == 0 and (word & 0x1FF) == 0xF9 and 25 <= (word >> 25 & 63) <= 30:
            return ins.VOP2_SDWA_SDST.from_bytes(data)
        inst = decode_inst(data, self.family)
        if self.family != "cdna" and hasattr(type(inst), "src0") and not hasattr(type(inst), "vsrc0"):
            if (code := inst.src0.offset) in (233, 234):
                other = getattr(ins, type(inst).__name__.replace("_SDST", "") + "_DPP8", None)
                if other is None:
                    raise ValueError("DPP8")
                inst = other.from_bytes(data)
                inst.fetch_inactive = code == 234
        return inst

    # Operands.
    def operand(self, inst, field_name, reg, kind=None, bits=None):
        key = field_name if field_name in inst.operands else field_name.lstrip("v") if field_name.lstrip("v") in inst.operands else "v" + field_name
        said = inst.operands.get(key)
        fmt = said[0].name if said else "FMT_NUM_B32"
        bits = bits or (said[1] if said else 32)
        code = reg.offset
        if self.family == "cdna" and code == 124:
            code = M0
        elif self.family != "cdna" and code in (124, 125):
            code = NULL if code == 124 else M0
        out = Operand(code, bits)
        if 128 <= code <= 208:
            out.code, out.value = CONSTANT, ((code - 128) if code <= 192 else -(code - 192)) & ONES
        elif code in FLOATS:
            width = 64 if bits == 64 and "PK" not in fmt else 16 if ("F16" in fmt or bits == 16) else 32
            out.code, out.value = CONSTANT, float_bits(FLOATS[code], width)
        elif code == 255:
            literal = getattr(inst, "literal", 0)
            if bits == 64 and "F64" in fmt:
                literal <<= 32
            elif bits == 64 and fmt.endswith("I64"):
                literal = signed(literal, 32) & ONES
            out.code, out.value = CONSTANT, literal
        if out.code == CONSTANT and fmt.startswith("FMT_NUM_PK2") and bits == 64:
            out.value = (out.value & 0xFFFFFFFF) * 0x100000001
        if out.code == CONSTANT and bits < 64:
            out.value &= (1 << max(bits, 32)) - 1
        return out

    def common(self, inst, kind):
        op = inst.op
        name = op.name
        text = self.codes.get(op)
        bare = re.sub(r"_E(32|64)$", "", name)
        if text is None:
            text = self.by_name.get(bare) or self.by_name.get(bare + "_E32") or self.by_name.get(bare + "_E64")
        return Instruction(inst.size(), kind, bare, repr(inst), text, literal=getattr(inst, "literal", 0) or 0)

    def one(self, inst):
        form = type(inst).__name__
        base = form.split("_")[0]
        name = inst.op.name
        if NOPS.fullmatch(name) or name.startswith("S_PREFETCH"):
            out = self.common(inst, "nop")
            out.simm = getattr(inst, "simm16", 0)
            return out
        if base in ("SOP1", "SOP2", "SOPC", "SOPK", "SOPP"):
            return self.scalar(inst, base, name)
        if base == "SMEM":
            return self.smem(inst)
        if base in ("VOP1", "VOP2", "VOP3", "VOP3SD", "VOPC", "VOP3P"):
            return self.vector(inst, form, base, name)
        if base == "DS":
            return self.lds(inst, name)
        if base in SPACES:
            return self.global_memory(inst, base, name)
        out = self.common(inst, "unsupported")
        out.why = f"instructions of format {form}"
        return out

    # Scalar.
    def scalar(self, inst, base, name):
        out = self.common(inst, "scalar")
        simm = getattr(inst, "simm16", 0)
        out.simm = simm
        if name.startswith("S_WAIT") or name == "S_WAITCNT":
            out.kind = "wait"
            if name not in WAITS:
                raise ValueError("unknown wait")
            return out
        fixed = {"S_ENDPGM": "end", "S_ENDPGM_SAVED": "end", "S_BARRIER": "barrier", "S_BARRIER_WAIT": "barrier_wait",
                 "S_SLEEP": "sleep", "S_SETREG_B32": "setreg", "S_SETREG_IMM32_B32": "setreg", "S_GETREG_B32": "getreg",
                 "S_DENORM_MODE": "setreg", "S_ROUND_MODE": "setreg", "S_CODE_END": "unsupported",
                 "S_SET_GPR_IDX_ON": "index_on", "S_SET_GPR_IDX_OFF": "index_off"}
        for k, f in enumerate(("ssrc0", "ssrc1")):
            if hasattr(type(inst), f):
                out.source[k] = self.operand(inst, f, getattr(inst, f))
        if hasattr(type(inst), "sdst"):
            out.dst = self.operand(inst, "sdst", inst.sdst)
        if name in fixed:
            out.kind = fixed[name]
            if name == "S_SET_GPR_IDX_ON":
                out.simm = inst._raw >> 8 & 15
            elif name == "S_SETREG_IMM32_B32":
                out.source[0] = Operand(CONSTANT, 32, 0, out.literal)
            elif name == "S_SETREG_B32":
                out.source[0], out.dst = out.dst, Operand()
            elif name == "S_DENORM_MODE":
                out.simm, out.source[0] = 1 | 4 << 6 | 3 << 11, Operand(CONSTANT, 32, 0, simm & 15)
            elif name == "S_ROUND_MODE":
                out.simm, out.source[0] = 1 | 0 << 6 | 3 << 11, Operand(CONSTANT, 32, 0, simm & 15)
            out.why = "falls into padding" if name == "S_CODE_END" else ""
            return out
        if name == "S_BARRIER_SIGNAL":
            out.kind = "signal"
            if out.source[0].code != CONSTANT or signed(out.source[0].value, 32) != -1:
                raise ValueError("named barriers")
            return out
        if base == "SOPK":
            # The immediate is what the pseudocode calls S0 (compares: S1).
            if "CMPK" in name:
                out.source[0] = out.dst
                width = simm if name.endswith("U32") else signed(simm, 16)
                out.source[1], out.dst = Operand(CONSTANT, 32, 0, width & 0xFFFFFFFF), Operand()
            else:
                out.source[0] = Operand(CONSTANT, 32, 0, simm)
        return out

    def smem(self, inst):
        out = self.common(inst, "smem")
        if "BUFFER" in inst.op.name or "LOAD" not in inst.op.name:
            raise ValueError("buffer or store")
        out.dst = self.operand(inst, "sdata", inst.sdata)
        out.base = Operand(inst.sbase.offset, 64)
        out.offset = signed(inst.ioffset, 24) if hasattr(type(inst), "ioffset") else signed(inst.offset, 21)
        if self.family == "cdna":
            if not inst.imm:
                out.offset = 0
            if inst.soffset_en:
                out.address = self.operand(inst, "soffset", inst.soffset, bits=32)
            if not inst.imm and not inst.soffset_en:
                out.address = Operand(inst.offset & 0x7F, 32)
        else:
            out.address = self.operand(inst, "soffset", inst.soffset, bits=32)
        return out

    # Vector.
    def vector(self, inst, form, base, name):
        out = self.common(inst, "vector")
        text = out.pcode or ""
        if "MFMA" in form or "WMMA" in name or "SWMMAC" in name:
            raise ValueError("matrix instructions")
        kinds = type(inst)
        modern = self.family != "cdna"
        for k, names in enumerate((("src0", "vsrc0"), ("src1", "vsrc1"), ("src2",))):
            lane_operand = names[-1] if hasattr(kinds, names[-1]) and (k == 0 and ("DPP" in form or "SDWA" in form)) else None
            f = lane_operand or next((n for n in names if hasattr(kinds, n)), None)
            if f is None or not ({*names} & set(inst.operands)):
                continue
            reg = getattr(inst, f)
            out.source[k] = self.operand(inst, f, reg)
            if "SDWA" in form and k < 2 and getattr(inst, f"s{k}"):
                reg_code = reg.offset - 256 if k == 0 else (inst._raw >> 9 & 0xFF)
                out.source[k] = self.operand(inst, f, type(reg)(reg_code))
        if hasattr(kinds, "vdst"):
            out.dst = self.operand(inst, "vdst", inst.vdst)
        if base == "VOPC":
            out.dst = Operand(106, 64)
            if hasattr(kinds, "sdst") and inst.sd:
                out.dst = Operand(inst.sdst.offset, 64)
        elif hasattr(kinds, "sdst"):
            out.sdst = Operand(inst.sdst.offset, 64)
        if base == "VOP3" and "_SDST" in form or "V_CMP" in name and base == "VOP3":
            out.dst = Operand(out.dst.code if out.dst.code < 128 else out.dst.code - 256, out.dst.bits)
        if "READFIRSTLANE" in name or "READLANE" in name:
            out.dst = Operand((out.dst.code - 256) if out.dst.code >= 256 else out.dst.code, 32)
        if base == "VOP2" and "_CO_" in name:
            out.sdst = Operand(106, 64)
        # A condition comes from src2 where the encoding has one, else from VCC.
        reads_vcc = re.search(r"VCC\.u64\[laneId\](?! =)", text)
        if reads_vcc:
            if base in ("VOP3", "VOP3SD") and "DIV_FMAS" not in name:
                out.condition, out.source[2] = Operand(inst.src2.offset, 64), Operand()
            else:
                out.condition = Operand(106, 64)
        for f in ("clmp", "omod"):
            setattr(out, {"clmp": "clamp", "omod": "omod"}[f], getattr(inst, f, 0))
        self.modifiers(out, inst, form, base, name)
        if modern and base in ("VOP1", "VOP2", "VOPC"):
            # The top bit of an 8-bit register number says which half a 16-bit operand is in.
            for operand in (*out.source, out.dst):
                if operand.bits == 16 and 256 + 128 <= operand.code < 512:
                    operand.code, operand.select = operand.code - 128, 1
        if "DPP" in form:
            self.dpp(out, inst, form)
        if "SDWA" in form:
            self.sdwa(out, inst)
        if "VGPR[" in text:
            out.kind = "wave"
        match = re.search(r"D0(?:\[[^\]]*\])?\.f(\d+)", text)
        if match:
            out.float_bits = int(match.group(1))
        if out.clamp and not out.float_bits:
            out.saturate = True
        return out

    def modifiers(self, out, inst, form, base, name):
        if base == "VOP3P":
            return self.packed(out, inst, name)
        negs, absolutes = getattr(inst, "neg", 0), getattr(inst, "abs", 0)
        if "DPP" in form or "SDWA" in form:
            if base in ("VOP1", "VOP2", "VOPC"):
                negs = sum(getattr(inst, f"src{k}_neg", 0) << k for k in range(2))
                absolutes = sum(getattr(inst, f"src{k}_abs", 0) << k for k in range(2))
        for k, operand in enumerate(out.source):
            top = 1 << (operand.bits - 1)
            if absolutes >> k & 1:
                operand.keep = ONES & ~top
            if negs >> k & 1:
                operand.flip = top
        out.opsel = getattr(inst, "opsel", 0) if hasattr(type(inst), "opsel") else 0
        uses = out.pcode and "OPSEL" in out.pcode
        if out.opsel and not uses and "PERMLANE" not in name:
            for k, operand in enumerate(out.source):
                if out.opsel >> k & 1:
                    operand.select = 1
            if out.opsel >> 3 & 1:
                out.dst.select = 1
        if self.family == "cdna" and out.dst.bits == 16 and not re.match(r"V_(MAD|FMA|DIV_FIXUP|INTERP).*16", name):
            out.dst.select |= 2

    def packed(self, out, inst, name):
        out.opsel, out.neg, out.neg_hi = inst.opsel, inst.neg, inst.neg_hi
        out.opsel_hi = inst.opsel_hi | inst.opsel_hi2 << 2
        if "MIX" in name:
            for k, operand in enumerate(out.source):
                half = 0x80008000 if out.opsel_hi >> k & 1 else 0x80000000
                operand.bits = 32
                if inst.neg_hi >> k & 1:
                    operand.keep = ONES & ~half
                if inst.neg >> k & 1:
                    operand.flip = half
            # The half that is written; the other one is kept.
            out.dst.bits = 32
        elif name.startswith("V_PK_MOV"):
            pass
        elif name.startswith("V_PK_"):
            out.packed = 2 if out.dst.bits == 64 else 1
        elif re.match(r"V_DOT2_(F32_F16|F32_BF16|I32_I16|U32_U16)", name):
            out.packed = 3
        elif name.startswith("V_DOT") and (inst.opsel or out.opsel_hi != 7):
            raise ValueError("operand selection of a dot product")

    def dpp(self, out, inst, form):
        if "DPP8" in form:
            out.dpp = 0x1000
            out.dpp8 = sum(getattr(inst, f"lane_sel_{k}") << (3 * k) for k in range(8))
            out.dpp_fetch = int(getattr(inst, "fetch_inactive", False))
            out.dpp_rows, out.dpp_bound = 0xFF, 1
        else:
            out.dpp = inst.dpp
            out.dpp_rows = inst.row_mask | inst.bank_mask << 4
            out.dpp_bound, out.dpp_fetch = inst.bc, getattr(inst, "fi", 0)

    @staticmethod
    def sdwa(out, inst):
        for k, operand in enumerate(out.source[:2]):
            select = getattr(inst, f"src{k}_sel")
            operand.select = 0x100 | select << 4 | (0x80 if getattr(inst, f"src{k}_sext") else 0)
        out.dst_select, out.dst_unused = getattr(inst, "dst_sel", 6), getattr(inst, "dst_unused", 0)
        if out.dst_select != 6:
            out.dst.select |= 4

    def dual(self, inst):
        out = []
        for part, first in (("x", True), ("y", False)):
            op = getattr(inst, f"op{part}")
            name = op.name.replace("V_DUAL_", "V_")
            text = self.by_name.get(name + "_E32") or self.by_name.get(name)
            half = Instruction(inst.size() if first else 0, "dual" if first else "vector", op.name, repr(inst), text,
                               literal=getattr(inst, "literal", 0) or 0)
            wide = 32
            half.source[0] = self.operand(inst, f"src{part}0", getattr(inst, f"src{part}0"), bits=wide)
            if "MOV" not in name:
                half.source[1] = self.operand(inst, f"vsrc{part}1", getattr(inst, f"vsrc{part}1"), bits=wide)
            half.dst = Operand(getattr(inst, f"vdst{part}").offset, 32)
            if "CNDMASK" in name:
                half.condition = Operand(106, 64)
            out.append(half)
        return out

    # Memory.
    def lds(self, inst, name):
        out = self.common(inst, "lds")
        if getattr(inst, "gds", 0):
            raise ValueError("GDS")
        acc = 256 if getattr(inst, "acc", 0) else 0
        operands = inst.operands
        out.address = Operand(inst.addr.offset, 32)
        for f, place in (("data0", "data"), ("data1", "data2"), ("vdst", "dst")):
            if f in operands:
                setattr(out, place, Operand(getattr(inst, f).offset + acc, max(32, operands[f][1])))
        out.offset0, out.offset1 = inst.offset0, inst.offset1
        out.offset = out.offset0 | out.offset1 << 8
        out.returns = int(out.dst.code != NONE)
        if "VGPR[" in (out.pcode or "") or "SWIZZLE" in name:
            out.kind = "wave"
            # A swizzle moves what its address operand holds.
            if out.data.code == NONE and "SWIZZLE" not in name:
                out.data = Operand(inst.data0.offset, 32)
        out.space = 3
        return out

    def global_memory(self, inst, base, name):
        out = self.common(inst, "memory")
        if "LDS" in name or "ADDTID" in name or "BLOCK" in name:
            raise ValueError("loads to LDS, blocks")
        out.space = SPACES[base]
        operands = inst.operands
        modern = base.startswith("V")
        address = inst.vaddr if modern else inst.addr
        data = inst.vsrc if modern else inst.data
        out.offset = signed(inst.ioffset, 24) if modern else signed(inst._raw, 13) if self.family != "cdna" else signed(inst._raw, 13)
        if out.space == 0 and self.family == "cdna":
            out.offset = inst._raw & 0xFFF
        acc = 256 if getattr(inst, "acc", 0) else 0
        sbase = inst.saddr.offset
        no_base = (0x7F,) if self.family == "cdna" else (0x7C,)
        has_base = sbase not in no_base and out.space != 0
        if out.space == 2:
            # Scratch: each of the two addresses is optional.
            has_address = bool(inst.sve)
            if has_address:
                out.address = Operand(address.offset, 32)
            if has_base:
                out.base = self.operand(inst, "saddr", inst.saddr, bits=32)
        else:
            out.address = Operand(address.offset, 32 if has_base else 64)
            if has_base:
                out.base = Operand(sbase, 64)
        for f in ("data", "vdata", "vsrc"):
            if f in operands:
                out.data = Operand(data.offset + acc, max(32, operands[f][1]))
        atomic = "ATOMIC" in name
        if atomic:
            out.returns = inst.th & 1 if modern else inst.sc0 if self.family == "cdna" else inst.glc
        else:
            out.returns = int("LOAD" in name)
        if out.returns:
            said = operands.get("vdst", (None, 32))
            out.dst = Operand(inst.vdst.offset + acc, max(32, said[1]))
        return out


WAITS = {"S_WAITCNT", "S_WAITCNT_VSCNT", "S_WAITCNT_VMCNT", "S_WAITCNT_LGKMCNT", "S_WAITCNT_EXPCNT", "S_WAIT_LOADCNT",
         "S_WAIT_STORECNT", "S_WAIT_DSCNT", "S_WAIT_KMCNT", "S_WAIT_LOADCNT_DSCNT", "S_WAIT_STORECNT_DSCNT",
         "S_WAIT_EXPCNT", "S_WAIT_SAMPLECNT", "S_WAIT_BVHCNT", "S_WAIT_IDLE"}
KEEP = 0xFFFF


def waits(family, instruction):
    """Counts to wait for: loads, stores, LDS, scalar memory. `KEEP` waits for nothing."""
    name, n = instruction.name, instruction.simm
    if name == "S_WAIT_IDLE":
        return [0, 0, 0, 0]
    if name == "S_WAITCNT":
        if family == "cdna":
            return [n & 15 | n >> 14 << 4, KEEP, n >> 8 & 15, KEEP]
        return [n >> 10 & 63, KEEP, n >> 4 & 63, KEEP]
    at = {"S_WAITCNT_VSCNT": 1, "S_WAITCNT_VMCNT": 0, "S_WAITCNT_LGKMCNT": 2, "S_WAIT_LOADCNT": 0, "S_WAIT_STORECNT": 1,
          "S_WAIT_DSCNT": 2, "S_WAIT_KMCNT": 3}
    out = [KEEP] * 4
    if name in at:
        out[at[name]] = n & 63
    elif name == "S_WAIT_LOADCNT_DSCNT":
        out[0], out[2] = n >> 8 & 63, n & 63
    elif name == "S_WAIT_STORECNT_DSCNT":
        out[1], out[2] = n >> 8 & 63, n & 63
    return out
