"""What AMD's pseudocode leaves out or gets wrong, with the source of each correction.

A correction is (families, pattern of the op's name, why, and either a new text or a function of
the old one). Everything else is executed as AMD wrote it.
"""

import re

ALL = ("cdna", "rdna3", "rdna4")

SWIZZLE = """
declare tmp : 32'B[64];
mode = 32'U({ OFFSET1.u8, OFFSET0.u8 });
for i in 0 : WAVE64 ? 63 : 31 do
  low = 32'U(i) & 31U;
  if mode[15] == 1'0U then
    j = (((low & mode[4 : 0].u32) | mode[9 : 5].u32) ^ mode[14 : 10].u32)
  elsif mode[14] == 1'0U then
    j = (low & 28U) | ((mode >> ((low & 3U) * 2U)) & 3U)
  else
    rotate = mode[9 : 5].u32;
    if mode[10] == 1'1U then
      turned = low - rotate
    else
      turned = low + rotate
    endif;
    j = (turned & ~mode[4 : 0].u32 & 31U) | (low & mode[4 : 0].u32)
  endif;
  j = j | (32'U(i) & 32U);
  if EXEC[j].u1 then
    tmp[i] = VGPR[j][ADDR]
  else
    tmp[i] = 0x0
  endif
endfor;
for i in 0 : WAVE64 ? 63 : 31 do
  if EXEC[i].u1 then
    VGPR[i][VDST] = tmp[i]
  endif
endfor
"""

def half_permute(text):
    """`% 32` is the lane within a half: the half itself is the lane's own."""
    return re.sub(r"/ 4 % 32;", "/ 4 % 32 + (i & 32);", text)


def permute_rows(text):
    """Operand selection bit 0 reads lanes that are off; bit 1 makes what they would give 0."""
    return re.sub(r"(VGPR\[[^\]]*\]\[VDST\.u32\]) = tmp\[(.*)\]\n",
                  r"source = \2;\nif OPSEL[0].u1 || EXEC[source].u1 then \1 = tmp[source] "
                  r"elsif OPSEL[1].u1 then \1 = 0U endif\n", text)


def keeps_source(text):
    """Where the pseudocode of V_DIV_SCALE assigns nothing, the result is the unscaled source."""
    kind = "f64" if "S0.f64" in text else "f32"
    return f"D0.{kind} = S0.{kind};\n" + text


def rescale(text):
    """A quotient of a scaled numerator is scaled back, that of a scaled denominator forth."""
    kind, middle, by = ("f64", 1023, 128) if "f64" in text else ("f32", 127, 64)
    return (f"if VCC.u64[laneId] then\n"
            f"if exponent(S2.{kind}) > {middle} then D0.{kind} = ldexp(fma(S0.{kind}, S1.{kind}, S2.{kind}), {by}) "
            f"else D0.{kind} = ldexp(fma(S0.{kind}, S1.{kind}, S2.{kind}), -{by}) endif\n"
            f"else D0.{kind} = fma(S0.{kind}, S1.{kind}, S2.{kind}) endif")


def overflows(text):
    kind, width = ("f64", 64) if "S0.f64" in text else ("f32", 32)
    last = f"D0.{kind} = sign_out ? -abs(S0.{kind}) : abs(S0.{kind})"
    return text.replace(last, f"if isNAN(S0.{kind}) then D0.{kind} = sign_out ? -OVERFLOW_F{width} : OVERFLOW_F{width} else {last} endif")


def nearest_even(text):
    kind = re.search(r"D0\.(f\d+)", text).group(1)
    return f"D0.{kind} = rint(S0.{kind})"


def once_rounded(text):
    kind = re.search(r"D0\.(f\d+)", text).group(1)
    exponent = "32'I(S1.i16)" if kind == "f16" else "S1.i32"
    return f"D0.{kind} = ldexp(S0.{kind}, {exponent})"


ERRATA = [
    (("rdna3",), r"DS_B?PERMUTE_B32",
     "In wave64 each half of 32 lanes permutes within itself, where the text lets the upper half read the lower. "
     "LLVM, AMDGPU: `GCNSubtarget::supportsWaveWideBPermute` is false for GFX10 and GFX11, and "
     "`SITargetLowering` and `AMDGPUInstructionSelector` swap halves around `ds_bpermute_b32` there.",
     half_permute),
    (ALL, r"DS_SWIZZLE_B32",
     "The text holds one of the modes, in C. RDNA3 ISA, section on DS_SWIZZLE_B32: offset bits 15 and 14 choose quad "
     "permutation or and/or/xor masks within 32 lanes; LLVM, AMDGPUUsage and SIDefines.h (`Swizzle::EncBits`).",
     lambda _: SWIZZLE),
    (("rdna3", "rdna4"), r"V_PERMLANEX?16(_VAR)?_B32",
     "The text reads lanes that are off whatever OP_SEL says. RDNA3 ISA, V_PERMLANE16_B32: OP_SEL[0] is FI, OP_SEL[1] "
     "is BOUND_CTRL; LLVM, IntrinsicsAMDGPU.td, `llvm.amdgcn.permlane16`: operands fi and bound_control.",
     permute_rows),
    (ALL, r"V_DIV_SCALE_F(32|64)",
     "D is the source if nothing is scaled. RDNA3 ISA, V_DIV_SCALE_F32: \"scale … only if needed\"; LLVM expands "
     "division (`SITargetLowering::LowerFDIV32`) relying on it.",
     keeps_source),
    (ALL, r"V_DIV_FMAS_F(32|64)(_E64)?",
     "The text multiplies by 2^32 (2^64 for F64) whichever operand was scaled. V_DIV_SCALE scales by 2^64 (2^128), the "
     "numerator up, the denominator up or down, so that the scaling back is by 2^64 (2^128) in the direction that the "
     "magnitude tells. Checked by comparing all expanded divisions with IEEE results in the tests.",
     rescale),
    (ALL, r"V_DIV_FIXUP_F(32|64)(_E64)?",
     "A quotient that overflows makes NaN in the steps between (inf - inf), with numerator and denominator finite: the text "
     "passes the NaN on, IEEE division gives an infinity, which LLVM's expansion (`LowerFDIV32`, `LowerFDIV64`) relies on. "
     "Checked as V_DIV_FMAS.",
     overflows),
    (ALL, r"[VS]_RNDNE_F(16|32|64)(_E32|_E64)?",
     "floor(x + 0.5) rounds in the addition: 0.49999997 and odd integers above 2^23 come out wrong. The instruction is "
     "\"round to nearest even\", LLVM's `llvm.rint` (VOP1Instructions.td).",
     nearest_even),
    (ALL, r"V_LDEXP_F(16|32|64)(_E32|_E64)?",
     "2 ** n overflows where x * 2 ** n does not; LLVM selects it for `llvm.ldexp` (VOP3Instructions.td).",
     once_rounded),
    (("rdna3", "rdna4"), r"V_CVT_PK_[IU]16_F32",
     "The text calls v_cvt_i16_f32 and v_cvt_u16_f32, which no page defines: conversion with saturation, as "
     "V_CVT_PK_I16_I32 saturates.",
     lambda text: re.sub(r"v_cvt_([iu])16_f32", r"f32_to_\g<1>16", text)),
]


def correct(family, name, text):
    """The pseudocode of an op as it is executed, without its comments."""
    text = re.sub(r"//[^\n]*", "", text)
    for families, pattern, _, change in ERRATA:
        if family in families and re.fullmatch(pattern, name):
            return change(text)
    return text
