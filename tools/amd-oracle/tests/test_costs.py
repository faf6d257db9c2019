"""What instructions and launches count as; the figures are those of the sources that `costs.py` names."""

import unittest

from .harness import OracleError  # noqa: F401  It puts the package on the path.
from amd_oracle.costs import occupancy, slots


class Costs(unittest.TestCase):
    def test_slots(self):
        rows = [  # name, kind, gfx942 at 64, gfx1100 at 32, at 64
            ("V_ADD_U32", "VALU", 4, 1, 2), ("V_FMA_F64", "VALU", 4, 16, 32), ("V_CMP_LT_F64", "VALU", 4, 16, 32),
            ("V_RCP_F64", "VALU", 16, 16, 32), ("V_CVT_F64_F32", "VALU", 4, 16, 32), ("V_CVT_F32_U32", "VALU", 16, 1, 2),
            ("V_EXP_F32", "VALU", 16, 1, 2), ("V_RCP_IFLAG_F32", "VALU", 16, 1, 2), ("V_MUL_LO_U32", "VALU", 4, 4, 8),
            ("V_MAD_U64_U32", "VALU", 4, 4, 8), ("V_LSHLREV_B64", "VALU", 4, 2, 4), ("V_CMP_LT_U64", "VALU", 4, 2, 4),
            ("DS_LOAD_B32", "LDS", 4, 1, 2), ("GLOBAL_LOAD_B32", "VMEM", 4, 1, 2), ("S_ADD_U32", "SALU", 4, 1, 1),
            ("S_LOAD_B64", "SMEM", 4, 1, 1), ("S_BRANCH", "branch", 4, 1, 1), ("S_WAITCNT", "wait", 0, 0, 0)]
        for name, kind, *want in rows:
            got = [slots(chip, wave, name, kind) for chip, wave in (("gfx942", 64), ("gfx1100", 32), ("gfx1100", 64))]
            self.assertEqual(got, want, name)
        self.assertEqual(slots("gfx1201", 32, "V_DUAL_MOV_B32", "VALU") * 2, 1)

    def test_occupancy(self):
        rows = [  # chip, wave, registers, LDS, threads; waves
            ("gfx942", 64, 32, 0, 256, 8), ("gfx942", 64, 104, 15396, 256, 4), ("gfx942", 64, 128, 0, 256, 4), ("gfx942", 64, 129, 0, 256, 3),
            ("gfx942", 64, 8, 65536, 256, 1), ("gfx942", 64, 8, 32768 - 1, 256, 2), ("gfx942", 64, 8, 21504, 256, 3), ("gfx942", 64, 8, 21505, 256, 2),
            ("gfx1100", 32, 96, 0, 256, 16), ("gfx1100", 32, 97, 0, 256, 12), ("gfx1100", 64, 48, 0, 256, 16), ("gfx1201", 64, 49, 0, 256, 12),
            ("gfx1100", 32, 24, 65536, 256, 4)]
        for *launch, want in rows:
            self.assertEqual(occupancy(*launch), want, launch)


if __name__ == "__main__":
    unittest.main()
