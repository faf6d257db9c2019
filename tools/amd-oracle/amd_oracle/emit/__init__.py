"""Turns the tree of one instruction's pseudocode into C.

Every value has a twin, the mask of its bits that were never written. The C text is compiled twice:
with twins, and with `SH(x)` as 0, so that the compiler removes them. A value is an unsigned C
integer masked to its width; floats are bits. Only V_MAD_{U,I}64 is wider than 64 bits.
"""

import re

from ..pcode import parse
from .calls import Calls
from .expressions import Expressions
from .operators import Operators
from .statements import Statements
from .values import OUT_MASKS, WIDE, Lines


class Emitter(Lines, Statements, Expressions, Operators, Calls):
    """Emits one function body. `lookup` gives the pseudocode of another instruction by name."""

    def __init__(self, text, lookup, saturate=False):
        self.lookup, self.saturate = lookup, saturate
        self.lines, self.count, self.depth = [], 0, 0
        self.locals, self.arrays, self.lambdas, self.scopes = {}, {}, {}, []
        self.outputs = set()
        self.returns = []
        # The address operand holds no offset when the pseudocode adds it.
        self.raw_address = bool(re.search(r"\b(OFFSET[01]?|offset|CalcDsAddr)\b", text)) or "ADDR_BASE" in text
        self.registers_of_lanes = "VGPR[" in text
        self.has_lanes = not self.registers_of_lanes or "VGPR[laneId]" in text
        self.block(parse(text))


def function(name, text, lookup, saturate=False):
    """The C text of an instruction, and the set of what it writes."""
    e = Emitter(text, lookup, saturate)
    body = []
    body.append(f"void NAME({name})(oracle_operands *o) {{")
    if e.has_lanes:
        body.append("for (u64 todo = o->lanes; todo; todo &= todo - 1) { const u64 lane = (u64)__builtin_ctzll(todo); (void)lane;")
    else:
        body.append("{ const u64 lane = 0; (void)lane;")
    body.append("u64 ct = 0, poison = 0; (void)ct; (void)poison;")
    for k in range(3):
        body.append(f"u64 s{k} = o->s[{k}][lane], us{k} = SH(o->su[{k}][lane]); (void)s{k}; (void)us{k};")
    body.append("u64 d0 = o->d[lane], ud0 = SH(o->du[lane]); (void)d0; (void)ud0;")
    body.append("u64 scc = o->scc, uscc = SH(o->sccu), pc = o->pc, upc = 0; (void)scc; (void)uscc; (void)pc; (void)upc;")
    for _, _, c in {v[2]: v for v in e.locals.values()}.values():
        body.append(f"u64 {c} = 0, u{c} = 0; (void){c}; (void)u{c};")
    body.extend(e.lines)
    if "D0" in e.outputs:
        body.append("o->d[lane] = d0; if (SH(1)) o->du[lane] = poison ? ~0ull : ud0;")
    if "S0" in e.outputs:
        body.append("o->s[0][lane] = s0; if (SH(1)) o->su[0][lane] = poison ? ~0ull : us0;")
    if "SCC" in e.outputs:
        body.append("o->scc = scc; o->sccu = SH(poison ? 1 : uscc);")
    if "PC" in e.outputs:
        body.append("o->pc = pc; o->pc_written = 1; if (SH(upc | poison)) o->bad_index = 1;")
    for mask in ("D0", "VCC", "EXEC"):
        if "mask " + mask in e.outputs:
            body.append(f"if (SH(poison)) o->out_{OUT_MASKS[mask]}u |= 1ull << lane;")
    for wide in ("RETURN_DATA", "VDATA"):
        if wide in e.outputs:
            body.append(f"if (SH(poison)) for (int i = 0; i < ORACLE_WORDS; i++) o->datau[{WIDE[wide]}][i][lane] = ~0u;")
    body.append("} }")
    return "\n".join(body), e.outputs
