"""What must be caught: each of these kernels is wrong, and the error says why. Their right twins pass."""

import os
import unittest

from .harness import Buffer, Module, OracleError, TARGETS, assemble, compile_ir, read, values

LOAD = {"gfx942": "s_load_dwordx4 s[4:7], s[0:1], 0x0", "gfx1100": "s_load_b128 s[4:7], s[0:1], 0x0", "gfx1201": "s_load_b128 s[4:7], s[0:1], 0x0"}
SCALARS = {"gfx942": "s_waitcnt lgkmcnt(0)", "gfx1100": "s_waitcnt lgkmcnt(0)", "gfx1201": "s_wait_kmcnt 0x0"}
VECTORS = {"gfx942": "s_waitcnt vmcnt(0)", "gfx1100": "s_waitcnt vmcnt(0)", "gfx1201": "s_wait_loadcnt 0x0"}
SHARED = {"gfx942": "s_waitcnt lgkmcnt(0)", "gfx1100": "s_waitcnt lgkmcnt(0)", "gfx1201": "s_wait_dscnt 0x0"}
BARRIER = {"gfx942": "s_barrier", "gfx1100": "s_barrier", "gfx1201": "s_barrier_signal -1\ns_barrier_wait -1"}


def modern(text, chip):
    """GFX9 spells widths differently."""
    if chip == "gfx942":
        for new, old in (("load_b32", "load_dword"), ("store_b32", "store_dword"), ("ds_load_dword", "ds_read_b32"), ("ds_store_dword", "ds_write_b32")):
            text = text.replace(new, old)
    return text


class Caught(unittest.TestCase):
    def run_text(self, chip, wave, body, threads=None, blocks=1, lds=0, private=0, room=4096, written=True):
        image = assemble(modern(f"{LOAD[chip]}\n{body}\ns_endpgm", chip), chip, wave, lds=lds, private=private)
        out, data = Buffer(bytes(room), written=False), Buffer(bytes(range(256)) * (room // 256), written=written)
        with Module(image) as module:
            module.launch("k", blocks, threads or wave, [out, data])
        return out

    def each(self, body, error, **more):
        """Runs a body on all targets. `{scalars}` and the like are the chip's waits; an error is expected, or none."""
        for chip, wave in TARGETS:
            with self.subTest(chip=chip, wave=wave):
                parts = {"scalars": SCALARS, "vectors": VECTORS, "shared": SHARED, "barrier": BARRIER}
                text = body.format(**{k: v[chip] for k, v in parts.items()})
                if error:
                    with self.assertRaisesRegex(OracleError, error):
                        self.run_text(chip, wave, text, **more)
                else:
                    self.run_text(chip, wave, text, **more)

    def test_missing_wait_for_load(self):
        right = "{scalars}\nv_lshlrev_b32 v1, 2, v0\nglobal_load_b32 v2, v1, s[6:7]\n{vectors}\nv_add_f32 v3, v2, v2\nglobal_store_b32 v1, v3, s[4:5]"
        self.each(right, None)
        self.each(right.replace("{vectors}\n", ""), "missing s_waitcnt: reads v2")
        self.each(right.replace("{vectors}\nv_add_f32 v3, v2, v2", "v_mov_b32 v2, 0\nv_mov_b32 v3, 0"), "missing s_waitcnt: overwrites v2")

    def test_missing_wait_for_scalar(self):
        self.each("v_lshlrev_b32 v1, 2, v0\nglobal_load_b32 v2, v1, s[6:7]\n{vectors}", "missing s_waitcnt: reads s6")

    def test_missing_wait_for_lds(self):
        right = "{scalars}\nv_lshlrev_b32 v1, 2, v0\nds_store_b32 v1, v0\nds_load_b32 v2, v1\n{shared}\nglobal_store_b32 v1, v2, s[4:5]"
        self.each(right, None, lds=1024)
        self.each(right.replace("{shared}\n", ""), "missing s_waitcnt: reads v2", lds=1024)

    def test_counted_waits(self):
        """Loads return in order: one may still be under way when the first is read."""
        text = {"gfx942": "s_waitcnt vmcnt(1)", "gfx1100": "s_waitcnt vmcnt(1)", "gfx1201": "s_wait_loadcnt 0x1"}
        for chip, wave in TARGETS:
            two = f"{SCALARS[chip]}\nv_lshlrev_b32 v1, 2, v0\nglobal_load_b32 v2, v1, s[6:7]\nglobal_load_b32 v3, v1, s[6:7] offset:4\n{text[chip]}\n"
            self.run_text(chip, wave, two + "v_mov_b32 v4, v2")
            with self.assertRaisesRegex(OracleError, "reads v3"):
                self.run_text(chip, wave, two + "v_mov_b32 v4, v3")

    def test_out_of_bounds(self):
        self.each("{scalars}\nv_lshlrev_b32 v1, 8, v0\nglobal_load_b32 v2, v1, s[6:7]\n{vectors}", "lane 16.*outside of all buffers")
        self.each("{scalars}\nv_mov_b32 v1, -4\nglobal_store_b32 v1, v0, s[4:5] offset:-8", "outside of all buffers")
        self.each("v_lshlrev_b32 v1, 2, v0\nds_store_b32 v1, v0\n{shared}", "lane 8.*outside of the block's 32 bytes", lds=32)

    def test_no_store_to_code(self):
        self.each("s_getpc_b64 s[8:9]\nv_mov_b32 v1, 0\nglobal_store_b32 v1, v0, s[8:9]", "to the code object")

    def test_races(self):
        right = "v_lshlrev_b32 v1, 2, v0\nds_store_b32 v1, v0\n{shared}\n{barrier}\nv_xor_b32 v2, 0x200, v1\nds_load_b32 v3, v2\n{shared}"
        self.each(right, None, lds=1024, threads=256)
        self.each(right.replace("{barrier}\n", ""), "race in LDS", lds=1024, threads=256)
        self.each(right.replace("{shared}\n{barrier}", "{barrier}"), "not waited for before the barrier", lds=1024, threads=256)

    def test_race_after_reads(self):
        body = ("v_lshlrev_b32 v1, 2, v0\nds_store_b32 v1, v0\n{shared}\n{barrier}\nv_xor_b32 v2, 0x200, v1\nds_load_b32 v3, v2\n{shared}\n"
                "{second}ds_store_b32 v1, v0\n{shared}")
        self.each(body.replace("{second}", "{barrier}\n"), None, lds=1024, threads=256)
        self.each(body.replace("{second}", ""), "race in LDS", lds=1024, threads=256)

    def test_unwritten_address(self):
        self.each("{scalars}\nglobal_load_b32 v2, v9, s[6:7]\n{vectors}", "address depends on a value that was never written")
        self.each("ds_load_b32 v2, v1\n{shared}\nds_load_b32 v3, v2\n{shared}", "address depends", lds=64)

    def test_unwritten_branch(self):
        self.each("s_cmp_eq_u32 s20, 0\ns_cbranch_scc1 end\ns_nop 0\nend:", "branch depends on a value that was never written")

    def test_unwritten_mask(self):
        for chip, wave in TARGETS:
            mask = "s_and_b32 exec_lo, exec_lo, vcc_lo" if wave == 32 else "s_and_b64 exec, exec, vcc"
            with self.subTest(chip=chip, wave=wave), self.assertRaisesRegex(OracleError, "mask of active lanes"):
                self.run_text(chip, wave, f"v_cmp_eq_u32 vcc, v9, v0\n{mask}" if wave == 64 else f"v_cmp_eq_u32 vcc_lo, v9, v0\n{mask}")

    def test_unwritten_memory(self):
        body = "{scalars}\nv_lshlrev_b32 v1, 2, v0\nglobal_load_b32 v2, v1, s[6:7]\n{vectors}\nglobal_load_b32 v3, v2, s[6:7]\n{vectors}"
        self.each(body, "address depends", written=False)

    def test_unwritten_values_may_be_moved(self):
        """Copies of what was never written, and arithmetic on it, are no error; the memory they reach counts as unwritten."""
        body = "{scalars}\nv_lshlrev_b32 v1, 2, v0\nv_add_u32 v3, v9, v0\nv_and_b32 v3, 0, v3\nglobal_store_b32 v1, v3, s[4:5]\nglobal_store_b32 v1, v9, s[4:5] offset:1024"
        for chip, wave in TARGETS:
            text = body.format(scalars=SCALARS[chip]).replace("v_add_u32", "v_add_u32" if chip == "gfx942" else "v_add_nc_u32")
            out = self.run_text(chip, wave, text)
            self.assertEqual(bytes(out.defined)[:4 * wave], b"\xff" * (4 * wave), "0 & unknown is 0")
            self.assertEqual(bytes(out.defined)[1024:1024 + 4 * wave], b"\0" * (4 * wave))

    def test_known_bits_decide(self):
        """An unwritten bit that a mask removes does not reach the branch."""
        self.each("s_mov_b32 s20, 8\ns_bfe_u32 s22, s20, 0x10003\ns_and_b32 s21, s21, 0\ns_or_b32 s21, s21, s22\ns_cmp_eq_u32 s21, 1\ns_cbranch_scc1 end\ns_nop 0\nend:", None)

    def test_low_half_of_a_sum_is_known(self):
        """The compiler multiplies the high halves of 64 bits this way, and takes the low half of what comes out."""
        carry = {"gfx942": "vcc", "gfx1100": "null", "gfx1201": "null"}
        for chip, wave in TARGETS:
            text = f"v_mad_{'co_' if chip == 'gfx1201' else ''}u64_u32 v[4:5], {carry[chip]}, v0, 3, v[2:3]\n"
            branch = "s_nop 0\nv_readfirstlane_b32 s20, {}\ns_cmp_eq_u32 s20, 0\ns_cbranch_scc1 end\ns_nop 0\nend:"
            with self.subTest(chip=chip, wave=wave):
                self.run_text(chip, wave, "v_mov_b32 v2, 1\n" + text + branch.format("v4"))
                with self.assertRaisesRegex(OracleError, "never written"):
                    self.run_text(chip, wave, "v_mov_b32 v2, 1\n" + text + branch.format("v5"))
                with self.assertRaisesRegex(OracleError, "never written"):
                    self.run_text(chip, wave, "v_mov_b32 v3, 1\n" + text + branch.format("v4"))

    def test_register_that_is_not_allocated(self):
        self.each("v_mov_b32 v100, 0", "not among the")

    def test_spinning(self):
        spin = """
define amdgpu_kernel void @k(ptr addrspace(1) %flags, i32 %ahead) #0 {
  %b = call i32 @llvm.amdgcn.workgroup.id.x()
  %pf = getelementptr i32, ptr addrspace(1) %flags, i32 %b
  %o = add i32 %b, %ahead
  %po = getelementptr i32, ptr addrspace(1) %flags, i32 %o
  %first = icmp eq i32 %o, -1
  br i1 %first, label %done, label %wait
wait:
  %x = load atomic i32, ptr addrspace(1) %po syncscope("agent") monotonic, align 4
  %c = icmp eq i32 %x, 0
  br i1 %c, label %wait, label %done
done:
  store atomic i32 1, ptr addrspace(1) %pf syncscope("agent") release, align 4
  ret void
}
"""
        os.environ["QD_AMD_ORACLE_BUDGET"] = "50000"
        try:
            for chip, wave in TARGETS:
                with self.subTest(chip=chip, wave=wave), Module(compile_ir(spin, chip, wave)) as module:
                    flags = values("I", [0] * 16)
                    module.launch("k", 12, wave, [flags, ("i", -1)])
                    self.assertEqual(read("I", flags)[:12], [1] * 12)
                    with self.assertRaisesRegex(OracleError, "no progress.*block 0 wave 0 at pc"):
                        module.launch("k", 12, wave, [values("I", [0] * 16), ("i", 1)])
        finally:
            del os.environ["QD_AMD_ORACLE_BUDGET"]

    def test_split_barrier_without_signal(self):
        for wave in (32, 64):
            with self.assertRaisesRegex(OracleError, "wait at barriers"):
                self.run_text("gfx1201", wave, "s_barrier_wait -1\ns_barrier_signal -1\ns_barrier_wait -1\ns_barrier_wait -1")

    def test_names_the_place(self):
        chip, wave = TARGETS[0]
        with self.assertRaisesRegex(OracleError, r"kernel k, block 2, wave 1, lane \d+, pc 0x[0-9a-f]+: global_store"):
            self.run_text(chip, wave, "s_waitcnt lgkmcnt(0)\ns_cmp_eq_u32 s2, 2\ns_cbranch_scc0 end\nv_lshlrev_b32 v1, 6, v0\nglobal_store_b32 v1, v0, s[4:5]\nend:",
                          blocks=3, threads=128)


if __name__ == "__main__":
    unittest.main()
