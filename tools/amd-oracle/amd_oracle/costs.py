"""What launches cost, counted and not measured: instructions by class, issue slots, registers, occupancy.

Slots are cycles in which a SIMD issues for one wave. They are the sum over all units, as if there were one wave: with many,
a SIMD issues for several at a time, each to another unit (ROCm Compute Profiler, "Pipeline descriptions", Scheduler). AMD's
ISA manuals give no table of rates. What they do say, and where the rest is from:

- CDNA: a SIMD has 16 lanes (the same page, VALU), so that 64 take four cycles; the CDNA3 ISA calls four cycles a pass
  (section 7.5, table 37). Transcendentals and conversions to and from float have a quarter of the rate; doubles, 64-bit
  shifts and multiplications of 32-bit integers have all of it: LLVM's model (SISchedule.td, SIDPGFX940FullSpeedModel).
- RDNA: vector and memory instructions of wave64 are issued twice, all others once (RDNA3 ISA and RDNA4 ISA, section 2.1).
  The manuals allow hardware to skip a half without active lanes, and it pairs some halves: both are left out, so wave64 may
  be better than it looks here. A dual instruction (VOPD) is one, of wave32 (RDNA4 ISA, section 2.1).
- RDNA: 32-bit multiplications of integers take four cycles, other 64-bit integers two, doubles 16; transcendentals run in a
  unit of their own and take one (Mesa, aco_statistics.cpp, get_perf_info; LLVM, SISchedule.td, GFX11SpeedModel, agrees but on
  doubles, for which its latency is that of 32). Mesa's comment doubts its own figure for doubles, and so should a reader.
- Waits, barriers, hints and `s_nop` take none. For `s_nop` that is too little on CDNA, where it is there to take time.

Occupancy: waves that a SIMD has room for, in whole blocks. RDNA3 ISA, section 1.2.2.1: 128 KiB of LDS for a work-group
processor, whose mode is LLVM's default. RDNA4 ISA, section 3.3.2.1: registers in granules of 24 and 12 where a SIMD has 1,536;
that gfx1100 and gfx1201 have them says LLVM. All else is LLVM's (AMDGPUBaseInfo.cpp: getVGPRAllocGranule, getTotalNumVGPRs,
getMaxWavesPerEU, getMaxWorkGroupsPerCU, getLdsDwGranularity). Scalar registers are left out: they bound a CDNA
kernel that has more than 100, and none of ours has.
"""

import json
import pathlib
import re
import statistics
import subprocess

CLASSES = ("VALU", "SALU", "SMEM", "LDS", "VMEM", "branch", "wait")
TRANS = re.compile(r"V_(EXP|LOG|RCP|RCP_IFLAG|RSQ|SQRT|SIN|COS)_.*")
CONVERT = re.compile(r"V_CVT_.*")
MULTIPLY = re.compile(r"V_MUL_(LO|HI)_[UI]32|V_MAD_(CO_)?[UI]64_[UI]32")
WIDE = re.compile(r"V_.*_[UIB]64")
DOUBLE = re.compile(r"V_.*F64.*")
LDS_GRANULE = 512
ORDER = ("gfx942", "gfx1100", "gfx1201")
# Of a SIMD: waves, registers and their granule by wave; of what shares LDS: bytes of it, SIMDs, and blocks of several waves.
ROOM = {
    "gfx942": {"slots": 8, "registers": {64: (512, 8)}, "lds": 65536, "simds": 4, "blocks": 16},
    "gfx1100": {"slots": 16, "registers": {32: (1536, 24), 64: (768, 12)}, "lds": 131072, "simds": 4, "blocks": 32},
    "gfx1201": {"slots": 16, "registers": {32: (1536, 24), 64: (768, 12)}, "lds": 131072, "simds": 4, "blocks": 32},
}


def slots(architecture, wave, name, kind):
    """Cycles in which an instruction keeps its SIMD from issuing another."""
    if kind == "wait":
        return 0
    if architecture == "gfx942":
        return 16 if TRANS.fullmatch(name) or CONVERT.fullmatch(name) and "F64" not in name else 4
    passes = 2 if wave == 64 and kind in ("VALU", "LDS", "VMEM") else 1
    if kind != "VALU":
        return passes
    if name.startswith("V_DUAL_"):
        # Each of the two is counted.
        return 0.5
    if name.startswith("V_S_"):
        # A transcendental of one value, not of the lanes.
        return 1
    if DOUBLE.fullmatch(name):
        return passes * 16
    return passes * (4 if MULTIPLY.fullmatch(name) else 2 if WIDE.fullmatch(name) else 1)


def occupancy(architecture, wave, vgprs, lds, threads):
    """Waves of a SIMD that are resident at a time."""
    room = ROOM[architecture]
    total, granule = room["registers"][wave]
    by_registers = min(room["slots"], total // (-(-max(vgprs, 1) // granule) * granule))
    waves = -(-threads // wave)
    blocks = by_registers * room["simds"] // waves
    if waves > 1:
        blocks = min(blocks, room["blocks"])
    if lds:
        blocks = min(blocks, room["lds"] // (-(-lds // LDS_GRANULE) * LDS_GRANULE))
    return min(by_registers, blocks * waves / room["simds"])


def straight_line(llvm, assembly, launch):
    """llvm-mca's cycles of a body's instructions, each once, without barriers: to it a branch leads nowhere, and a barrier takes 2000."""
    name, chip, wave = launch["kernel"], launch["architecture"], launch["wave"]
    body = re.search(rf"^{re.escape(name)}:\n(.*?)^\t\.section", assembly, re.S | re.M)
    if not body:
        return None
    text = re.sub(r"^\ts_barrier.*\n", "", body.group(1), flags=re.M)
    attributes = [] if chip == "gfx942" else [f"-mattr=+wavefrontsize{wave}"]
    command = [f"{llvm}/llvm-mca", "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={chip}", *attributes, "-iterations=1", "-skip-unsupported-instructions=any"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    found = re.search(r"Total Cycles:\s+(\d+)", done.stdout)
    return int(found.group(1)) if found else None


def bodies(path):
    """The launches of a file, those of one body together."""
    out = {}
    for line in path.read_text().splitlines():
        launch = json.loads(line)
        known = out.setdefault(launch["kernel"], {**launch, "ops": {}, "stalls": {}, "launches": 0})
        known["launches"] += 1
        for kind, count in launch["stalls"].items():
            known["stalls"][kind] = known["stalls"].get(kind, 0) + count
        for name, (count, kind) in launch["ops"].items():
            known["ops"][name] = (known["ops"].get(name, (0, kind))[0] + count, kind)
    return list(out.values())


def cost(launch):
    return sum(slots(launch["architecture"], launch["wave"], name, kind) * count for name, (count, kind) in launch["ops"].items())


def shares(folder, elements, llvm, lowering):
    """Of files `KERNEL.CHIP.WAVE.LOWERING.jsonl` with assembly beside: each body by its kernel, name, chip and wave, with its share of the kernel's slots."""
    out = {}
    for path in pathlib.Path(folder).glob(f"*.{lowering}.jsonl"):
        kernel, chip, wave, _ = path.stem.split(".")
        assembly = path.with_suffix(".s").read_text()
        launches = bodies(path)
        total = sum(map(cost, launches))
        for launch in launches:
            name = re.sub(r"_[0-9a-f]{12}$", "", launch["kernel"]).removeprefix(kernel).strip("_") or "all"
            per_64 = f"{cost(launch) * 64 / elements:.0f}"
            mca = str(straight_line(llvm, assembly, launch) or "")
            out[kernel, name, chip, wave] = launch, cost(launch) / total, per_64, mca
    return out


def one_body(folder, llvm, lowering):
    """Of files `set.CHIP.WAVE.LOWERING.counts`: what each kernel of one body takes on each chip at each wave, in slots and in llvm-mca's cycles."""
    out = {}
    for path in pathlib.Path(folder).glob(f"set.*.{lowering}.counts"):
        _, chip, wave, *_ = path.name.split(".")
        for launch in bodies(path):
            kernel = re.sub(r"_phase_\d+_[0-9a-f]{12}$", "", launch["kernel"])
            assembly = path.with_name(f"{kernel}.{chip}.{wave}.{lowering}.s").read_text()
            out[f"{chip} w{wave}", kernel] = cost(launch), straight_line(llvm, assembly, launch)
    return out


def forms(folder, llvm):
    """What the search makes of a body's forms: a row for each kernel of one body that it changes somewhere, and a sum of each chip."""
    selected, fixed = (one_body(folder, llvm, lowering) for lowering in ("selected", "fixed"))
    ratios = {key: tuple(of / without for of, without in zip(selected[key], fixed[key])) for key in fixed if selected[key] != fixed[key]}
    chips = sorted({chip for chip, _ in fixed}, key=lambda chip: (ORDER.index(chip.split()[0]), chip))
    print("| kernel | " + " | ".join(chips) + " |")
    print("|---|" + "---:|" * len(chips))
    for kernel in sorted({kernel for _, kernel in ratios}):
        cells = ["{:.2f}, {:.2f}".format(*ratios[chip, kernel]) if (chip, kernel) in ratios else "" for chip in chips]
        print(f"| {kernel.replace('_', ' ')} | " + " | ".join(cells) + " |")
    print()
    for chip in chips:
        of_it = [ratio for (of, _), ratio in ratios.items() if of == chip]
        spans = [f"{what} {min(of):.2f} to {max(of):.2f} (geometric mean {statistics.geometric_mean(of):.2f})"
                 for what, of in zip(("slots", "cycles"), zip(*of_it))]
        print(f"- {chip}: {len(of_it)} of {sum(of == chip for of, _ in fixed)} kernels differ", *spans, sep=", ")


def table(folder, elements, llvm):
    """A row for each body that has a tenth of its kernel's slots or more; last what it takes without the search, where that differs."""
    print("| algorithm | body | chip | " + " | ".join(CLASSES) + " | slots | VGPRs | LDS | waves | mca | slots, fixed | mca, fixed |")
    print("|---|---|---|" + "---:|" * (len(CLASSES) + 7))
    rows = []
    fixed = shares(folder, elements, llvm, "fixed")
    for key, (launch, share, per_64, mca) in shares(folder, elements, llvm, "selected").items():
        kernel, name, chip, wave = key
        if share < 0.1:
            continue
        counts = dict.fromkeys(CLASSES, 0)
        for count, kind in launch["ops"].values():
            counts[kind] += count
        each = [counts[kind] * 64 / elements for kind in CLASSES]
        resident = occupancy(chip, int(wave), launch["vgprs"], launch["lds"], launch["threads"])
        _, _, *without = fixed.get(key, (None, None, "", ""))
        if without == [per_64, mca]:
            without = ["", ""]
        rows.append((kernel, name, ORDER.index(chip), wave,
                     [f"{chip} w{wave}", *(f"{x:.1f}" for x in each), per_64, str(launch["vgprs"]), str(launch["lds"]), f"{resident:.3g}", mca, *without]))
    for kernel, name, _, _, cells in sorted(rows):
        print(f"| {kernel} | {name} | " + " | ".join(cells) + " |")
