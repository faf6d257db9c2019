"""Compiles instructions to shared objects in a cache that processes share.

A function is named by the hash of all that it is made from. The cache says in `ops/NAME` which
library holds it; files appear by renaming, so that a reader never sees half of one.
"""

import functools
import hashlib
import os
import pathlib
import subprocess
import tempfile

from . import emit, pcode

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = HERE.parent / "engine"
PRELUDE = """#include "arith.h"
#define M128(w) (((u128)1 << (w)) - 1)
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
"""


def cache():
    """The folder of what has been compiled and translated."""
    said = os.environ.get("QD_AMD_ORACLE_CACHE")
    if said:
        return pathlib.Path(said)
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "qd" / "amd-oracle"


@functools.cache
def version():
    """Changes with the translator, with the headers and with the table's format."""
    h = hashlib.sha256()
    for path in sorted([*HERE.rglob("*.py"), HEADERS / "ops.h", HEADERS / "arith.h"]):
        h.update(path.read_bytes())
    return h.hexdigest()[:16]


@functools.cache
def basis():
    """What decides on the C text of an instruction, and on how it is compiled."""
    paths = (*sorted((HERE / "emit").glob("*.py")), HERE / "pcode.py", HERE / "compile.py", HEADERS / "ops.h", HEADERS / "arith.h")
    return b"".join(path.read_bytes() for path in paths)


def seed():
    return hashlib.sha256(basis())


def place(path, data):
    """Writes a file so that it is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


@functools.cache
def bodies(family, text, lookup, saturate):
    """A function of an instruction: its name, its C text, and what it writes. May raise `PcodeError`."""
    # Other instructions are inlined: what they say belongs to the hash.
    body, outputs = emit.function("@", text, lookup, saturate)
    probe = seed()
    probe.update(body.encode())
    name = probe.hexdigest()[:24]
    return name, body.replace("@", name), outputs


class Library:
    """The compiled functions of one translation; `finish` compiles those that are missing."""

    # Text of all functions, and the files of those that are compiled, of all translations of this process.
    texts, files = {}, {}

    def __init__(self):
        self.root = cache()
        self.wanted, self.missing = {}, {}

    def want(self, family, text, lookup, saturate=False):
        """The name of an instruction's function, and what it writes. May raise `PcodeError`."""
        name, body, outputs = bodies(family, text, lookup, saturate)
        self.texts[name] = body
        return name, outputs

    def use(self, name):
        """Says that a function is needed."""
        if name in self.wanted:
            return
        self.wanted[name] = None
        if name not in self.files:
            known = self.root / "ops" / name
            if not known.exists() or not (self.root / "lib" / (found := known.read_text())).exists():
                self.missing[name] = self.texts[name]
                return
            self.files[name] = found
        self.wanted[name] = self.files[name]

    def finish(self):
        """Library files by function name."""
        if self.missing:
            names = sorted(self.missing)
            text = PRELUDE
            for prefix, twin in (("v_", "0"), ("u_", "(x)")):
                text += f"#undef SH\n#undef NAME\n#define SH(x) {twin}\n#define NAME(x) {prefix}##x\n"
                text += "\n".join(self.missing[n] for n in names) + "\n"
            file = "ops-" + hashlib.sha256(" ".join(names).encode()).hexdigest()[:24] + ".so"
            self.compile(text, self.root / "lib" / file)
            for name in names:
                place(self.root / "ops" / name, file.encode())
                self.wanted[name] = self.files[name] = file
        return self.wanted

    @staticmethod
    def compile(text, target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            source, made = pathlib.Path(folder) / "ops.c", pathlib.Path(folder) / "ops.so"
            source.write_text(text)
            command = [os.environ.get("CC", "cc"), "-O1", "-w", "-fPIC", "-shared", "-ffp-contract=off",
                       "-fno-strict-aliasing", f"-I{HEADERS}", str(source), "-o", str(made), "-lm"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"cc failed:\n{done.stderr[:2000]}")
            os.replace(made, target)


PcodeError = pcode.PcodeError
