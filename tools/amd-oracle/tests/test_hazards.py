"""Missing wait states of CDNA 3: each pair is refused one wait state short, and accepted with as many as the ISA says."""

import unittest

from .harness import Module, OracleError, assemble

VALU, EXEC, LANE = "v_readfirstlane_b32 s4, v0", "v_cmpx_gt_u32 vcc, 4, v0", "v_readlane_b32 s8, v1, s4"
# What is first, what comes too early, wait states between, and what the error says.
PAIRS = [
    (VALU, "global_load_dword v2, v1, s[4:5]", 5, "vector memory reads"),
    ("v_cmp_gt_u32 s[4:5], 4, v0", "global_store_dword v1, v0, s[4:5]", 5, "vector memory reads"),
    ("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0", "s_getreg_b32 s4, hwreg(HW_REG_MODE)", 2, "the same register"),
    ("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0", 2, "the same register"),
    ("s_mov_b32 m0, 0", "s_movrels_b32 s4, s5", 1, "M0"),
    (VALU, LANE, 4, "selects a lane"),
    (VALU, "v_writelane_b32 v1, 3, s4", 4, "selects a lane"),
    ("v_cmp_gt_u32 vcc, 4, v0", "v_div_fmas_f32 v1, v0, v0, v0", 4, "V_DIV_FMAS"),
    (EXEC, "v_mov_b32_dpp v1, v0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", 5, "EXEC before DPP"),
    ("v_mov_b32 v1, v0", "v_mov_b32_dpp v2, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", 2, "DPP reads"),
    ("v_cmp_gt_u32 vcc, 4, v0", "v_mov_b32 v1, src_vccz", 5, "VCCZ"),
    (VALU, "v_add_u32 v1, s4, v0", 2, "reads as a constant"),
    ("v_cmp_gt_u32 vcc, 4, v0", "v_cndmask_b32 v1, v0, v0, vcc", 2, "reads as a constant"),
    (EXEC, "v_mov_b32 v1, exec_lo", 2, "EXEC"),
    (EXEC, "v_readfirstlane_b32 s4, v0", 4, "before a lane is read"),
    ("v_mov_b32 v1, v0", "v_readlane_b32 s8, v1, 3", 1, "of which a lane is read"),
    ("v_add_u32_sdwa v1, v0, v0 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD", "v_add_u32 v2, v1, v0", 1, "SDWA"),
    ("v_rcp_f32 v1, v0", "v_add_f32 v2, v1, v0", 1, "transcendental"),
    ("global_store_dwordx4 v0, v[4:7], s[0:1]", "v_mov_b32 v6, 0", 2, "overwrites"),
]
# Neighbours that need no distance.
NEAR = [
    ("v_add_co_u32 v1, vcc, v0, v0", "v_addc_co_u32 v2, vcc, v0, v0, vcc"),
    ("v_rcp_f32 v1, v0", "v_sqrt_f32 v2, v1"),
    ("v_mov_b32 v1, v0", "v_add_u32 v2, v1, v0"),
    ("s_mov_b32 s4, 0", LANE),
    (VALU, "s_add_u32 s5, s4, s4"),
    (VALU, "v_add_u32 v1, s6, v0"),
    ("global_store_dwordx2 v0, v[4:5], s[0:1]", "v_mov_b32 v5, 0"),
    ("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0", "s_getreg_b32 s4, hwreg(HW_REG_TRAPSTS)"),
]


def load(body, chip="gfx942", wave=64):
    with Module(assemble(body + "\ns_endpgm", chip, wave)):
        pass


class Hazards(unittest.TestCase):
    def test_each_pair(self):
        for first, second, states, why in PAIRS:
            with self.subTest(first=first, second=second):
                load(f"{first}\ns_nop {states - 1}\n{second}")
                load(f"{first}\n" + "s_mov_b32 s20, 0\n" * states + second)
                short = f"{first}\n{'' if states == 1 else f's_nop {states - 2}'}\n{second}"
                with self.assertRaisesRegex(OracleError, f"{states - 1} of {states} wait states.*{why}"):
                    load(short)

    def test_neighbours(self):
        for first, second in NEAR:
            with self.subTest(first=first, second=second):
                load(f"{first}\n{second}")

    def test_across_branches(self):
        loop = f"top:\nv_add_u32 v2, v2, v0\n{LANE}\ns_cmp_eq_u32 s8, 0\n{VALU}\ns_cbranch_scc0 top"
        with self.assertRaisesRegex(OracleError, "2 of 4 wait states.*selects a lane"):
            load(loop)
        load(loop.replace("top:\n", "top:\ns_nop 1\n"))
        # Of two paths the shorter one counts, and a branch that is always taken has no path behind it.
        with self.assertRaisesRegex(OracleError, "1 of 4 wait states"):
            load(f"{VALU}\ns_cbranch_scc0 over\ns_nop 7\nover:\n{LANE}")
        load(f"s_branch over\n{VALU}\ns_endpgm\nover:\n{LANE}")

    def test_names_the_place(self):
        with self.assertRaisesRegex(OracleError, r"hazard in k, pc 0x[0-9a-f]+: v_readlane_b32.*: 0 of 4 wait states behind pc 0x[0-9a-f]+: "
                                                 r"v_readfirstlane_b32.*CDNA3 ISA, table 11.*missing s_nop"):
            load(f"{VALU}\n{LANE}")

    def test_other_chips_have_none(self):
        for chip, wave in (("gfx1100", 32), ("gfx1201", 64)):
            load(f"{VALU}\nv_readlane_b32 s8, v1, s4", chip, wave)


if __name__ == "__main__":
    unittest.main()
