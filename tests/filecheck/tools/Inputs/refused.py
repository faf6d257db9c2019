"""Runs every tool, for every target, on each file of a folder, and says of each file how it was refused.

Refused is: exit code 1, one error, which has a place in the file and no word of what happens inside, and nothing written.
"""

import pathlib
import re
import subprocess
import sys

INSIDE = re.compile(r"unrealized|LLVM|<<UNKNOWN|panicked|Interface|legalize|Stack dump")
TARGETS = ["cpu", "nvptx:sm_90", "vulkan:1.3"]

opt, run, translate, folder = sys.argv[1:]
out = pathlib.Path(folder) / "out"
for path in sorted(pathlib.Path(folder).glob("*.mlir")):
    messages = set()
    calls = [[run, path, "--arg", "0=zeros[4]"]]
    for target in TARGETS:
        calls.append([opt, path, "--to=target", f"--target={target}", "-o", out])
        calls.append([translate, path, f"--target={target}", "-o", out])
    for call in calls:
        done = subprocess.run(call, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        errors = [line for line in done.stderr.splitlines() if "error: " in line]
        place = re.escape(str(path)) + r":\d+:\d+: error: (.*)"
        found = re.fullmatch(place, errors[0]) if len(errors) == 1 else None
        if done.returncode != 1 or not found or INSIDE.search(done.stderr) or out.exists():
            print("WRONG", *call, "exit code", done.returncode, "\n", done.stderr)
            out.unlink(missing_ok=True)
            continue
        messages.add(found[1])
    print(path.stem, *sorted(messages), sep="\n  ")
