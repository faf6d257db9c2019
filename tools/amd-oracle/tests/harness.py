"""Compiles small kernels with LLVM and runs them in the engine."""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from amd_oracle.engine import Buffer, Module, OracleError  # noqa: E402

LLVM = pathlib.Path(os.environ.get("LLVM_BIN", "/usr/lib/llvm-22/bin"))
TARGETS = [("gfx942", 64), ("gfx1100", 32), ("gfx1100", 64), ("gfx1201", 32), ("gfx1201", 64)]
HEAD = """
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare void @llvm.amdgcn.s.barrier()
"""
TAIL = """
attributes #0 = { "amdgpu-flat-work-group-size"="1,1024" "uniform-work-group-size"="true" nounwind %s }
"""


def tool(name, *arguments):
    done = subprocess.run([str(LLVM / name), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{name}: {done.stderr[:3000]}")


def link(folder, made):
    tool("ld.lld", "-shared", made, "-o", f"{folder}/k.hsaco")
    return pathlib.Path(folder, "k.hsaco").read_bytes()


def compile_ir(text, chip, wave, attributes="", level="-O2"):
    """A code object from LLVM IR; functions have attributes #0."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "k.ll").write_text(HEAD + text + TAIL % attributes)
        features = [] if chip == "gfx942" else [f"-mattr=+wavefrontsize{wave}"]
        tool("llc", level, "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={chip}", *features, "-filetype=obj", f"{folder}/k.ll", "-o", f"{folder}/k.o")
        return link(folder, f"{folder}/k.o")


def assemble(body, chip, wave, vgprs=32, lds=0, private=0):
    """A code object from instructions. The kernel `k` has its arguments' address in s[0:1] and its block's number where the chip puts it."""
    accum = ".amdhsa_accum_offset 32\n" if chip == "gfx942" else f".amdhsa_wavefront_size32 {int(wave == 32)}\n"
    text = f""".amdgcn_target "amdgcn-amd-amdhsa--{chip}"
.text
.globl k
.p2align 8
.type k,@function
k:
{body}
.size k, .-k
.rodata
.p2align 6
.amdhsa_kernel k
.amdhsa_user_sgpr_kernarg_segment_ptr 1
.amdhsa_group_segment_fixed_size {lds}
.amdhsa_private_segment_fixed_size {private}
.amdhsa_kernarg_size 64
.amdhsa_next_free_vgpr {vgprs}
.amdhsa_next_free_sgpr 64
{accum}.end_amdhsa_kernel
"""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "k.s").write_text(text)
        tool("llvm-mc", "-triple=amdgcn-amd-amdhsa", f"-mcpu={chip}", *([] if chip == "gfx942" else [f"-mattr=+wavefrontsize{wave}"]), "-filetype=obj", f"{folder}/k.s", "-o", f"{folder}/k.o")
        return link(folder, f"{folder}/k.o")


def values(form, numbers):
    return Buffer(struct.pack(f"<{len(numbers)}{form}", *numbers))


def read(form, buffer):
    return list(struct.unpack(f"<{buffer.size // struct.calcsize(form)}{form}", bytes(buffer)))


def elementwise(name, kind_in, kind_out, body, declarations=""):
    """A kernel that applies `body`, from %a, %b and %c to %r, to each element."""
    loads = "".join(f"  %p{n} = getelementptr {kind_in}, ptr addrspace(1) %{n}s, i32 %t\n  %{n} = load {kind_in}, ptr addrspace(1) %p{n}\n" for n in "abc")
    return f"""{declarations}
define amdgpu_kernel void @{name}(ptr addrspace(1) %out, ptr addrspace(1) %as, ptr addrspace(1) %bs, ptr addrspace(1) %cs) #0 {{
  %t = call i32 @llvm.amdgcn.workitem.id.x()
{loads}{body}
  %po = getelementptr {kind_out}, ptr addrspace(1) %out, i32 %t
  store {kind_out} %r, ptr addrspace(1) %po
  ret void
}}
"""


__all__ = ["Buffer", "Module", "OracleError", "TARGETS", "assemble", "compile_ir", "elementwise", "read", "values"]
