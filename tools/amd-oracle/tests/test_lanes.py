"""Cross-lane instructions, LDS, atomics, control flow and private memory on every chip and wave."""

import random
import struct
import unittest

from .harness import Buffer, Module, OracleError, TARGETS, assemble, compile_ir, read, values

LANES = """
declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)
declare i32 @llvm.amdgcn.ds.permute(i32, i32)
declare i32 @llvm.amdgcn.ds.swizzle(i32, i32)
declare i32 @llvm.amdgcn.readlane.i32(i32, i32)
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
declare i32 @llvm.amdgcn.writelane.i32(i32, i32, i32)
declare i64 @llvm.amdgcn.ballot.i64(i1)
declare i32 @llvm.amdgcn.mbcnt.lo(i32, i32)
declare i32 @llvm.amdgcn.mbcnt.hi(i32, i32)
declare i32 @llvm.amdgcn.permlane64.i32(i32)
declare i32 @llvm.amdgcn.permlane16.i32(i32, i32, i32, i32, i1, i1)
declare i32 @llvm.amdgcn.permlanex16.i32(i32, i32, i32, i32, i1, i1)
declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32, i32, i32, i1)
declare i32 @llvm.amdgcn.mov.dpp8.i32(i32, i32)
"""


def kernel(name, body, kind="i32"):
    """`%v` is the lane's value, `%u` the lane's index; `%r` is what it stores."""
    return f"""
define amdgpu_kernel void @{name}(ptr addrspace(1) %out, ptr addrspace(1) %vs, ptr addrspace(1) %us) #0 {{
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %pv = getelementptr i32, ptr addrspace(1) %vs, i32 %t
  %pu = getelementptr i32, ptr addrspace(1) %us, i32 %t
  %v = load i32, ptr addrspace(1) %pv
  %u = load i32, ptr addrspace(1) %pu
{body}
  %po = getelementptr {kind}, ptr addrspace(1) %out, i32 %t
  store {kind} %r, ptr addrspace(1) %po
  ret void
}}
"""


def dpp(control, old=-1, rows=15, bound=False):
    return f"  %r = call i32 @llvm.amdgcn.update.dpp.i32(i32 {old}, i32 %v, i32 {control}, i32 {rows}, i32 15, i1 {str(bound).lower()})"


class Lanes(unittest.TestCase):
    def setUp(self):
        draw = random.Random(3)
        self.v = [draw.randrange(1 << 31) for _ in range(64)]
        self.u = [draw.randrange(64) for _ in range(64)]

    def run_kernel(self, image, name, form="I", threads=64):
        out = Buffer(bytes(struct.calcsize(form) * threads), written=False)
        with Module(image) as module:
            module.launch(name, 1, threads, [out, values("I", self.v), values("I", self.u)])
        return read(form, out)

    def each(self, text, name, want, form="I", only=None):
        """`want(lane, first lane of its wave, wave, chip)`."""
        for chip, wave in TARGETS:
            if only and not only(chip, wave):
                continue
            with self.subTest(chip=chip, wave=wave):
                got = self.run_kernel(compile_ir(LANES + text, chip, wave), name, form)
                self.assertEqual(got, [want(t, t // wave * wave, wave, chip) for t in range(64)])

    def test_shuffle(self):
        text = kernel("shuffle", "  %a = shl i32 %u, 2\n  %r = call i32 @llvm.amdgcn.ds.bpermute(i32 %a, i32 %v)")

        def want(t, base, wave, chip):
            reach = 32 if chip == "gfx1100" else wave
            return self.v[t // reach * reach + self.u[t] % reach]
        self.each(text, "shuffle", want)

    def test_planted_shuffle_is_caught(self):
        """A plain ds_bpermute for a wave-wide shuffle is wrong on RDNA3 in wave64, and only there."""
        text = kernel("shuffle", "  %a = shl i32 %u, 2\n  %r = call i32 @llvm.amdgcn.ds.bpermute(i32 %a, i32 %v)")
        for chip, wave in TARGETS:
            if wave == 64:
                got = self.run_kernel(compile_ir(LANES + text, chip, wave), "shuffle")
                self.assertEqual(got != [self.v[self.u[t]] for t in range(64)], chip == "gfx1100", chip)

    def test_permute(self):
        order = list(range(64))
        random.Random(9).shuffle(order)
        order = [x % 32 + (t & 32) for half in (0, 32) for t, x in enumerate(sorted(range(32), key=lambda k: order[k + half]), half)]
        self.u = order
        text = kernel("permute", "  %a = shl i32 %u, 2\n  %r = call i32 @llvm.amdgcn.ds.permute(i32 %a, i32 %v)")
        self.each(text, "permute", lambda t, base, wave, chip: self.v[order.index(t)])

    def test_swizzle(self):
        self.each(kernel("swap", "  %r = call i32 @llvm.amdgcn.ds.swizzle(i32 %v, i32 1055)"), "swap", lambda t, b, w, c: self.v[t ^ 1])
        self.each(kernel("quad", "  %r = call i32 @llvm.amdgcn.ds.swizzle(i32 %v, i32 32795)"), "quad", lambda t, b, w, c: self.v[t ^ 3])

    def test_read_lanes(self):
        self.each(kernel("read", "  %r = call i32 @llvm.amdgcn.readlane.i32(i32 %v, i32 5)"), "read", lambda t, b, w, c: self.v[b + 5])
        self.each(kernel("first", "  %r = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %v)"), "first", lambda t, b, w, c: self.v[b])
        self.each(kernel("write", "  %r = call i32 @llvm.amdgcn.writelane.i32(i32 77, i32 9, i32 %v)"), "write",
                  lambda t, b, w, c: 77 if t - b == 9 else self.v[t])

    def test_ballot(self):
        text = kernel("ballot", "  %c = icmp ugt i32 %u, 31\n  %r = call i64 @llvm.amdgcn.ballot.i64(i1 %c)", "i64")
        self.each(text, "ballot", lambda t, b, w, c: sum((self.u[b + k] > 31) << k for k in range(w)), "Q")

    def test_planted_mask_is_caught(self):
        """The low word of a ballot alone misses lanes 32 and up in wave64."""
        text = kernel("rank", "  %c = icmp ugt i32 %u, 31\n  %m = call i64 @llvm.amdgcn.ballot.i64(i1 %c)\n  %l = trunc i64 %m to i32\n"
                      "  %r = call i32 @llvm.amdgcn.mbcnt.lo(i32 %l, i32 0)")
        for chip, wave in TARGETS:
            got = self.run_kernel(compile_ir(LANES + text, chip, wave), "rank")
            want = [sum(self.u[k] > 31 for k in range(t // wave * wave, t)) for t in range(64)]
            self.assertEqual(got != want, wave == 64, f"{chip} {wave}")

    def test_lane_number(self):
        text = kernel("lane", "  %l = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)\n  %r = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %l)")
        self.each(text, "lane", lambda t, b, w, c: t - b)

    def test_permlane(self):
        rdna = lambda chip, wave: chip != "gfx942"  # noqa: E731
        self.each(kernel("half", "  %r = call i32 @llvm.amdgcn.permlane64.i32(i32 %v)"), "half",
                  lambda t, b, w, c: self.v[t ^ 32] if w == 64 else self.v[t], only=rdna)
        selects = "i32 u0x89abcdef, i32 u0x01234567, i1 false, i1 false"
        turned = [0xF, 0xE, 0xD, 0xC, 0xB, 0xA, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
        self.each(kernel("row", f"  %r = call i32 @llvm.amdgcn.permlane16.i32(i32 0, i32 %v, {selects})"), "row",
                  lambda t, b, w, c: self.v[(t & ~15) + turned[t & 15]], only=rdna)
        self.each(kernel("rows", f"  %r = call i32 @llvm.amdgcn.permlanex16.i32(i32 0, i32 %v, {selects})"), "rows",
                  lambda t, b, w, c: self.v[((t & ~15) ^ 16) + turned[t & 15]], only=rdna)

    def test_dpp(self):
        old = (1 << 32) - 1
        cases = {"quad": (dpp(0x1B), lambda t: self.v[t ^ 3], None),
                 "shift": (dpp(0x111), lambda t: self.v[t - 1] if t & 15 else old, None),
                 "zero": (dpp(0x112, bound=True), lambda t: self.v[t - 2] if t & 15 > 1 else 0, None),
                 "left": (dpp(0x103), lambda t: self.v[t + 3] if t & 15 < 13 else old, None),
                 "turn": (dpp(0x121), lambda t: self.v[(t & ~15) + ((t - 1) & 15)], None),
                 "mirror": (dpp(0x140), lambda t: self.v[t ^ 15], None), "half": (dpp(0x141), lambda t: self.v[t ^ 7], None),
                 "rows": (dpp(0x140, rows=10), lambda t: self.v[t ^ 15] if t & 16 else old, None),
                 "cast15": (dpp(0x142, rows=10), lambda t: self.v[(t & ~15) - 1] if t & 16 else old, "gfx942"),
                 "cast31": (dpp(0x143, rows=12), lambda t: self.v[31] if t & 32 else old, "gfx942"),
                 "share": (dpp(0x153), lambda t: self.v[(t & ~15) + 3], "gfx1"), "xmask": (dpp(0x165), lambda t: self.v[t ^ 5], "gfx1")}
        for name, (body, want, chips) in cases.items():
            with self.subTest(control=name):
                self.each(kernel(name, body), name, lambda t, b, w, c: want(t), only=lambda c, w: not chips or c.startswith(chips))
        lanes = [3, 2, 1, 0, 7, 6, 5, 4]
        selector = sum(s << 3 * k for k, s in enumerate(lanes))
        self.each(kernel("eight", f"  %r = call i32 @llvm.amdgcn.mov.dpp8.i32(i32 %v, i32 {selector})"), "eight",
                  lambda t, b, w, c: self.v[(t & ~7) + lanes[t & 7]], only=lambda c, w: c != "gfx942")

    def test_divergence_and_loops(self):
        text = kernel("walk", """  br label %loop
loop:
  %i = phi i32 [0, %0], [%i2, %next]
  %x = phi i32 [%v, %0], [%x2, %next]
  %odd = and i32 %x, 1
  %c = icmp eq i32 %odd, 1
  br i1 %c, label %up, label %down
up:
  %m = mul i32 %x, 3
  %m1 = add i32 %m, 1
  br label %next
down:
  %h = lshr i32 %x, 1
  br label %next
next:
  %x2 = phi i32 [%m1, %up], [%h, %down]
  %i2 = add i32 %i, 1
  %more = icmp ult i32 %i2, %u
  br i1 %more, label %loop, label %done
done:
  %r = add i32 %x2, 0""")

        def want(t, base, wave, chip):
            x, i = self.v[t], 0
            while True:
                x = (3 * x + 1) & 0xFFFFFFFF if x & 1 else x >> 1
                i += 1
                if i >= self.u[t]:
                    return x
        self.each(text, "walk", want)


MEMORY = """
@lds = internal addrspace(3) global [256 x i32] undef
@sums = internal addrspace(3) global [4 x i64] undef
define amdgpu_kernel void @reverse(ptr addrspace(1) %out, ptr addrspace(1) %vs) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %b = call i32 @llvm.amdgcn.workgroup.id.x()
  %first = mul i32 %b, 256
  %i = add i32 %first, %t
  %pv = getelementptr i32, ptr addrspace(1) %vs, i32 %i
  %v = load i32, ptr addrspace(1) %pv
  %pl = getelementptr i32, ptr addrspace(3) @lds, i32 %t
  store i32 %v, ptr addrspace(3) %pl
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %o = sub i32 255, %t
  %pm = getelementptr i32, ptr addrspace(3) @lds, i32 %o
  %w = load i32, ptr addrspace(3) %pm
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %w, ptr addrspace(1) %po
  ret void
}
define amdgpu_kernel void @shared_sum(ptr addrspace(1) %out, ptr addrspace(1) %vs) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %pv = getelementptr i32, ptr addrspace(1) %vs, i32 %t
  %v = load i32, ptr addrspace(1) %pv
  %z = icmp eq i32 %t, 0
  br i1 %z, label %clear, label %ready
clear:
  store i64 0, ptr addrspace(3) @sums
  br label %ready
ready:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %v64 = zext i32 %v to i64
  %old = atomicrmw add ptr addrspace(3) @sums, i64 %v64 syncscope("workgroup") monotonic
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %s = load i64, ptr addrspace(3) @sums
  %po = getelementptr i64, ptr addrspace(1) %out, i32 %t
  store i64 %s, ptr addrspace(1) %po
  ret void
}
define amdgpu_kernel void @atomics(ptr addrspace(1) %out, ptr addrspace(1) %vs) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %pv = getelementptr i32, ptr addrspace(1) %vs, i32 %t
  %v = load i32, ptr addrspace(1) %pv
  %v64 = zext i32 %v to i64
  %f = uitofp i32 %t to float
  %p1 = getelementptr i8, ptr addrspace(1) %out, i32 8
  %p2 = getelementptr i8, ptr addrspace(1) %out, i32 16
  %p3 = getelementptr i8, ptr addrspace(1) %out, i32 24
  %p4 = getelementptr i8, ptr addrspace(1) %out, i32 32
  %p5 = getelementptr i8, ptr addrspace(1) %out, i32 40
  %a0 = atomicrmw add ptr addrspace(1) %out, i64 %v64 syncscope("agent") monotonic
  %a1 = atomicrmw umax ptr addrspace(1) %p1, i32 %v syncscope("agent") monotonic
  %a2 = atomicrmw fadd ptr addrspace(1) %p2, float %f syncscope("agent") monotonic
  %a3 = atomicrmw xor ptr addrspace(1) %p3, i32 %v syncscope("agent") acq_rel
  %a4 = cmpxchg ptr addrspace(1) %p4, i32 0, i32 %v syncscope("agent") acq_rel monotonic
  %a5 = cmpxchg ptr addrspace(1) %p5, i64 0, i64 %v64 syncscope("agent") acq_rel monotonic
  ret void
}
define amdgpu_kernel void @private(ptr addrspace(1) %out, i32 %k) #0 {
  %a = alloca [64 x i32], addrspace(5)
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  br label %l
l:
  %i = phi i32 [0, %0], [%j, %l]
  %pa = getelementptr i32, ptr addrspace(5) %a, i32 %i
  %v = mul i32 %i, %t
  store i32 %v, ptr addrspace(5) %pa
  %j = add i32 %i, 1
  %c = icmp slt i32 %j, 64
  br i1 %c, label %l, label %e
e:
  %x = add i32 %t, %k
  %y = and i32 %x, 63
  %pb = getelementptr i32, ptr addrspace(5) %a, i32 %y
  %w = load i32, ptr addrspace(5) %pb
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %w, ptr addrspace(1) %po
  ret void
}
define amdgpu_kernel void @widths(ptr addrspace(1) %out, ptr addrspace(1) %in) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %pb = getelementptr i8, ptr addrspace(1) %in, i32 %t
  %b = load i8, ptr addrspace(1) %pb
  %po = getelementptr i8, ptr addrspace(1) %out, i32 %t
  store i8 %b, ptr addrspace(1) %po
  %ph = getelementptr i16, ptr addrspace(1) %in, i32 %t
  %h = load i16, ptr addrspace(1) %ph
  %out2 = getelementptr i8, ptr addrspace(1) %out, i32 64
  %pq = getelementptr i16, ptr addrspace(1) %out2, i32 %t
  store i16 %h, ptr addrspace(1) %pq
  %pv = getelementptr <4 x i32>, ptr addrspace(1) %in, i32 %t
  %v = load <4 x i32>, ptr addrspace(1) %pv
  %out3 = getelementptr i8, ptr addrspace(1) %out, i32 192
  %pw = getelementptr <4 x i32>, ptr addrspace(1) %out3, i32 %t
  store <4 x i32> %v, ptr addrspace(1) %pw
  ret void
}
define amdgpu_kernel void @generic(ptr addrspace(1) %out, i32 %which) #0 {
  %a = alloca i32, addrspace(5)
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %pl = getelementptr i32, ptr addrspace(3) @lds, i32 %t
  store i32 %t, ptr addrspace(3) %pl
  store i32 7, ptr addrspace(5) %a
  %gl = addrspacecast ptr addrspace(3) %pl to ptr
  %ga = addrspacecast ptr addrspace(5) %a to ptr
  %c = icmp eq i32 %which, 0
  %g = select i1 %c, ptr %gl, ptr %ga
  %x = load volatile i32, ptr %g
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %x, ptr addrspace(1) %po
  ret void
}
"""


class Memory(unittest.TestCase):
    def images(self):
        for chip, wave in TARGETS:
            with self.subTest(chip=chip, wave=wave):
                with Module(compile_ir(MEMORY, chip, wave)) as module:
                    yield module

    def test_lds_with_barriers(self):
        numbers = list(range(3000, 3000 + 5 * 256))
        for module in self.images():
            out = Buffer(bytes(4 * len(numbers)), written=False)
            module.launch("reverse", 5, 256, [out, values("I", numbers)])
            self.assertEqual(read("I", out), [numbers[b * 256 + 255 - t] for b in range(5) for t in range(256)])

    def test_lds_atomics(self):
        numbers = [random.Random(4).randrange(1 << 32) for _ in range(256)]
        for module in self.images():
            out = Buffer(bytes(8 * 256), written=False)
            module.launch("shared_sum", 1, 256, [out, values("I", numbers)])
            self.assertEqual(read("Q", out), [sum(numbers)] * 256)

    def test_global_atomics(self):
        draw = random.Random(6)
        numbers = [draw.randrange(1, 1 << 32) for _ in range(256)]
        together = 0
        for x in numbers:
            together ^= x
        for module in self.images():
            out = Buffer(bytes(48))
            module.launch("atomics", 1, 256, [out, values("I", numbers)])
            data = bytes(out)
            self.assertEqual(struct.unpack_from("<Q", data, 0)[0], sum(numbers))
            self.assertEqual(struct.unpack_from("<I", data, 8)[0], max(numbers))
            self.assertEqual(struct.unpack_from("<f", data, 16)[0], sum(range(256)))
            self.assertEqual(struct.unpack_from("<I", data, 24)[0], together)
            self.assertIn(struct.unpack_from("<I", data, 32)[0], numbers)
            self.assertIn(struct.unpack_from("<Q", data, 40)[0], numbers)

    def test_private_memory(self):
        for module in self.images():
            out = Buffer(bytes(4 * 256), written=False)
            module.launch("private", 1, 256, [out, ("i", 5)])
            self.assertEqual(read("I", out), [(t + 5) % 64 * t for t in range(256)])

    def test_widths(self):
        data = bytes(random.Random(8).randrange(256) for _ in range(1024))
        for module in self.images():
            out = Buffer(bytes(64 + 128 + 1024), written=False)
            module.launch("widths", 1, 64, [out, Buffer(data)])
            self.assertEqual(bytes(out), data[:64] + data[:128] + data)

    def test_generic_addresses(self):
        for module in self.images():
            for which, want in ((0, list(range(128))), (1, [7] * 128)):
                out = Buffer(bytes(512), written=False)
                module.launch("generic", 1, 128, [out, ("i", which)])
                self.assertEqual(read("I", out), want)


class Handwritten(unittest.TestCase):
    """Encodings that LLVM chooses rarely."""

    def run_body(self, chip, wave, body):
        out = Buffer(bytes(4 * wave), written=False)
        store = {"gfx942": "s_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v2, s[2:3]\ns_endpgm",
                 "gfx1100": "s_waitcnt lgkmcnt(0)\nglobal_store_b32 v1, v2, s[2:3]\ns_endpgm",
                 "gfx1201": "s_wait_kmcnt 0x0\nglobal_store_b32 v1, v2, s[2:3]\ns_endpgm"}[chip]
        load = "s_load_dwordx2 s[2:3], s[0:1], 0x0" if chip == "gfx942" else "s_load_b64 s[2:3], s[0:1], 0x0"
        image = assemble(f"{load}\nv_lshlrev_b32 v1, 2, v0\n{body}\n{store}", chip, wave)
        with Module(image) as module:
            module.launch("k", 1, wave, [out])
        return read("I", out)

    def test_sub_dword(self):
        got = self.run_body("gfx942", 64, "v_mov_b32 v3, 0x8182f384\nv_add_u32_sdwa v2, v0, sext(v3) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_1")
        self.assertEqual(got, [(t - 13) & 0xFFFFFFFF for t in range(64)])

    def test_dual_issue_swaps(self):
        for chip in ("gfx1100", "gfx1201"):
            got = self.run_body(chip, 32, "v_mov_b32 v2, 5\nv_mov_b32 v3, v0\nv_dual_mov_b32 v2, v3 :: v_dual_mov_b32 v3, v2\nv_lshl_add_u32 v2, v2, 8, v3")
            self.assertEqual(got, [t << 8 | 5 for t in range(32)])

    def test_modifiers(self):
        one = 0x3F800000
        for chip, wave in TARGETS:
            got = self.run_body(chip, wave, "v_cvt_f32_u32 v2, v0\nv_mul_f32 v2, 0.5, v2\nv_sub_f32_e64 v2, |v2|, -v2 clamp\nv_mul_f32_e64 v2, v2, 1.0 mul:2")
            self.assertEqual(got, [0 if t == 0 else one + (1 << 23) for t in range(wave)], chip)

    def test_scalar_calls(self):
        for chip, wave in TARGETS:
            got = self.run_body(chip, wave, "s_mov_b32 s8, 3\ns_getpc_b64 s[4:5]\ns_add_u32 s4, s4, sub-.\ns_addc_u32 s5, s5, 0\ns_swappc_b64 s[6:7], s[4:5]\ns_branch over\n"
                                "sub:\ns_mul_i32 s8, s8, 7\ns_setpc_b64 s[6:7]\nover:\nv_mov_b32 v2, s8")
            self.assertEqual(got, [21] * wave, chip)

    def test_unknown_instruction(self):
        for chip, wave in TARGETS:
            with self.assertRaisesRegex(OracleError, "cannot be executed"):
                self.run_body(chip, wave, "s_trap 2\nv_mov_b32 v2, 0")


if __name__ == "__main__":
    unittest.main()
