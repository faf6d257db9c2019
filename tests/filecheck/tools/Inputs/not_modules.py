"""Makes files that are no modules of a module's bytecode and its artifact, and says of each how every tool refused it.

Refused is: exit code 1, one line of error and at most notes, no word of what happens inside, and nothing written.
"""

import pathlib
import re
import subprocess
import sys

INSIDE = re.compile(r"LLVM|<<UNKNOWN|panicked|Stack dump|does not parse|is not a module")

run, translate, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
bytecode = (folder / "valid.mlirbc").read_bytes()
artifact = (folder / "valid.qdart").read_bytes()
another_format, formats = re.subn(rb'"format":\d+,', b'"format":4,', artifact, count=1)
assert formats == 1
files = {
    "another-format": another_format,
    "another-version": bytecode[:4] + bytes([99 << 1 | 1]) + bytecode[5:],
    "artifact": artifact,
    "artifact-cut": artifact[: len(artifact) // 2],
    "bytecode-cut": bytecode[: len(bytecode) // 2],
    "bytes": bytes(range(128, 256)),
    "no-utf8": b"qd.grid.kernel @k\xff() {}\n",
}
for name, content in files.items():
    (folder / name).write_bytes(content)
(folder / "a-folder").mkdir()
out = folder / "out"
for name in sorted([*files, "a-folder", "nowhere"]):
    path = folder / name
    calls = [[run, "--interpret", path], [translate, path, "-o", out]]
    if name != "artifact":
        calls.append([run, path])
    messages = set()
    for call in calls:
        done = subprocess.run(call, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        lines = done.stderr.replace(f"{folder}/", "").splitlines()
        is_said_once = lines and all(": note: " in line for line in lines[1:])
        if done.returncode != 1 or not is_said_once or INSIDE.search(done.stderr) or out.exists():
            print("WRONG", *call, "exit code", done.returncode, "\n", done.stderr)
        messages.update(lines[:1])
    print(name, *sorted(messages), sep="\n  ")
