"""The steps of the first kernel of a plan on standard input: number, kind, what each waits for."""

import json
import sys


def show(steps, indent=""):
    for step in steps:
        (kind,) = step["kind"]
        what = step["kind"][kind]
        print(f"{indent}{step['id']} {what.get('name', kind)}: {step['after']}")
        show(what.get("steps", []), indent + "  ")


show(json.load(sys.stdin)["kernels"][0]["plans"][0]["steps"])
