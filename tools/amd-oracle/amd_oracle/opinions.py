"""What 64 lanes take of 32 on RDNA: by the search's estimate, by Mesa's compiler, and by what was counted.

All three are times for as many lanes, and above 1 say that 32 is better. That of Mesa is its inverse throughput
(aco_statistics.cpp): the largest use of a unit, or the latency by the waves that are resident. It is asked twice. As our modules
are, kernel arguments are loaded from memory, at 320 cycles or more for each wave; AMD's own targets have scalar loads for them. So
"Mesa" is of modules whose arguments are push constants, and "as is" of ours.

What was counted is a time by the same bounds, of what was executed: of each unit the issue slots (`costs.slots`), which
different waves fill at the same time; or the waves' own times, each alone, by how many are resident (`costs.occupancy`, from
what the code object allocates). A wave's own time is its slots, and what it waits for:

- each wait that had something to wait for, which was issued after the last such wait: 320 cycles for memory, 20 for LDS and
  scalar loads (LLVM, SISchedule.td, GFX11SpeedModel);
- four cycles for each `s_delay_alu`, which stands where an instruction needs the one before (RDNA3 ISA, section 16.5; LLVM: five
  cycles until a result is there);
- 31 more for each branch (LLVM: 32). Barriers are left out: when others arrive is not known.

It shares with Mesa that memory takes 320 cycles, and nothing else. Neither knows bandwidth: a body that moves more bytes than memory
delivers takes the same at both sizes.
"""

import json
import pathlib
import re

from .costs import bodies, occupancy, slots

CHIPS = ("gfx1100", "gfx1201")
WAITS = {"loads": 320, "stores": 320, "LDS": 20, "scalar": 20}
# Which of them issue side by side, from several waves.
UNITS = {"VALU": "VALU", "SALU": "scalar", "SMEM": "scalar", "branch": "scalar", "LDS": "LDS", "VMEM": "VMEM", "wait": "scalar"}
# Mesa's opinions count from there; a choice agrees with an opinion unless that says that it takes so much more.
SEEN, SLACK = 1.05, 1.03


def counted(launch):
    """Issue slots, the time that a SIMD takes for all of it, and what bounds that."""
    chip, wave = launch["architecture"], launch["wave"]
    units = dict.fromkeys(UNITS.values(), 0)
    for name, (count, kind) in launch["ops"].items():
        units[UNITS[kind]] += slots(chip, wave, name, kind) * count
    ops = {name: count for name, (count, _) in launch["ops"].items()}
    branches = sum(count for name, (count, kind) in launch["ops"].items() if kind == "branch" and name != "S_ENDPGM")
    own = sum(units.values()) + 4 * ops.get("S_DELAY_ALU", 0) + 31 * branches
    own += sum(WAITS[kind] * count for kind, count in launch["stalls"].items())
    resident = occupancy(chip, wave, launch["vgprs"], launch["lds"], launch["threads"])
    bounds = {**units, "latency": own / resident}
    bound = max(bounds, key=bounds.get)
    return {"slots": sum(units.values()), "time": bounds[bound], "bound": bound, "vgprs": launch["vgprs"], "resident": resident}


def said(figures, wave):
    """Of Mesa's figures the time, and what bounds that."""
    time = figures["Inverse Throughput"]
    resident = figures["Subgroups per SIMD"] * 32 / wave
    by_latency = figures["Latency"] * 64 / wave / resident
    return {"time": time, "bound": "latency" if by_latency > 0.99 * time else "issue", "vgprs": figures["Pre-Sched VGPRs"]}


def body_of(name, row, is_algorithm):
    """What a body is called in the table: nothing if it is the only one."""
    if not is_algorithm:
        return ""
    name = re.sub(r"_[0-9a-f]{12}$|_\d+$", "", name).removeprefix("main_")
    return name.removeprefix(row).strip("_")


def chosen(text):
    """Of each body the chosen wave, and what 64 lanes take of 32 by the estimate."""
    for name, attributes in re.findall(r"func\.func private @(\w+)\(.*?attributes \{(.*)\} \{", text):
        wave = int(re.search(r"qd\.wave = (\d+)", attributes).group(1))
        estimate = re.search(r"cost = ([\d.e+-]+).*runner_up_cost = ([\d.e+-]+)", attributes)
        own, other = map(float, estimate.groups()) if estimate else (1, 1)
        yield name, wave, (own / other if wave == 64 else other / own)


def read(folder):
    """Of each body of each row and chip the choice and the opinions."""
    folder = pathlib.Path(folder)
    rows = [(file.name.removesuffix(".mlir").removesuffix(".held-out"), ".held-out." in file.name, False) for file in sorted((folder / "set").iterdir())]
    # As in the set, every second one.
    rows += [(file.name.split(".")[0], number % 2 == 1, True) for number, file in enumerate(sorted((folder / "algorithms").iterdir()))]
    algorithms = {row for row, _, is_algorithm in rows if is_algorithm}
    found = {}
    for chip in CHIPS:
        for row, held_out, is_algorithm in rows:
            for name, wave, estimate in chosen((folder / f"{row}.{chip}.32.chosen").read_text()):
                body = body_of(name, row, is_algorithm)
                found[row, body, chip] = {"held out": held_out, "wave": wave, "search": estimate, "Mesa": {}, "as is": {}, "counts": {}}
        for wave in (32, 64):
            for suffix, who in (("pushed", "Mesa"), ("driver", "as is")):
                for line in (folder / f"all.{chip}.{wave}.{suffix}").read_text().splitlines():
                    said_of = json.loads(line)
                    row = said_of["file"].split(".")[0]
                    body = body_of(said_of["entry"], row, row in algorithms)
                    found[row, body, chip][who][wave] = said(said_of["driver"], wave)
            of_set = bodies(folder / f"set.{chip}.{wave}.jsonl")
            launches = [(row, "", launch) for row, _, is_algorithm in rows if not is_algorithm
                        for launch in of_set if re.fullmatch(row + r"_phase_\d+_[0-9a-f]{12}", launch["kernel"])]
            launches += [(row, body_of(launch["kernel"], row, True), launch) for row, _, is_algorithm in rows if is_algorithm
                         for launch in bodies(folder / f"{row}.{chip}.{wave}.jsonl")]
            for row, body, launch in launches:
                found[row, body, chip]["counts"][wave] = counted(launch)
    # Of bodies that hardly anything is executed of, counts say nothing.
    for key in [key for key in found if key[0] in algorithms]:
        counts = {key: of["counts"][32]["slots"] for key, of in found.items() if len(of["counts"]) == 2}
        total = sum(slots for (row, _, chip), slots in counts.items() if (row, chip) == (key[0], key[2]))
        if counts.get(key, 0) < total / 10:
            del found[key]
    return found


def ratio(opinion, what="time"):
    """What 64 lanes take of 32; none if there is no opinion."""
    return opinion[64][what] / opinion[32][what] if len(opinion) == 2 else None


def sees(opinion):
    """Whether the sizes differ by so much that an opinion counts."""
    return len(opinion) == 2 and max(ratio(opinion), 1 / ratio(opinion)) > SEEN


def agrees(wave, opinion):
    return (ratio(opinion) if wave == 64 else 1 / ratio(opinion)) <= SLACK


def table(folder):
    found = read(folder)
    print("| body | held out | " + " | ".join(f"{chip} | search | Mesa | as is | counts | slots" for chip in CHIPS) + " |")
    print("|---|---|" + "---:|" * (6 * len(CHIPS)))
    text = lambda x: "" if x is None else f"{x:.2f}"
    for row, body in dict.fromkeys((row, body) for row, body, _ in found):
        cells = []
        for chip in CHIPS:
            of = found[row, body, chip]
            cells += [str(of["wave"]), text(of["search"]), text(ratio(of["Mesa"])), text(ratio(of["as is"])), text(ratio(of["counts"])), text(ratio(of["counts"], "slots"))]
        name = f"{row.replace('_', ' ')}{': ' if body else ''}{body}"
        print(f"| {name} | {'yes' if of['held out'] else ''} | " + " | ".join(cells) + " |")
    print()
    differs = []
    for held_out in (True, False):
        for chip in CHIPS:
            for who in ("Mesa", "as is"):
                seen = [(key, of) for key, of in found.items() if key[2] == chip and of["held out"] == held_out and sees(of[who])]
                agree = sum(agrees(of["wave"], of[who]) for _, of in seen)
                always = [sum(agrees(wave, of[who]) for _, of in seen) for wave in (32, 64)]
                with_counts = sum(agrees(of["wave"], of["counts"]) for _, of in seen)
                could = sum(any(agrees(wave, of[who]) and agrees(wave, of["counts"]) for wave in (32, 64)) for _, of in seen)
                print(f"- {chip}, {'held out' if held_out else 'not held out'}: {len(seen)} where {'Mesa' if who == 'Mesa' else 'Mesa, as is,'} sees more "
                      f"than 5 %. The choice agrees with it on {agree} (32 always would on {always[0]}, 64 on {always[1]}), with the counts on "
                      f"{with_counts}. On {could} a choice can agree with both.")
                if who == "Mesa":
                    differs += [(key, of) for key, of in seen if not (agrees(of["wave"], of["Mesa"]) and agrees(of["wave"], of["counts"]))]
    print()
    for (row, body, chip), of in differs:
        against = [who for who in ("Mesa", "counts") if not agrees(of["wave"], of[who])]
        bounds = "; ".join(f"{who}: {of[who][32]['bound']} at 32, {of[who][64]['bound']} at 64" for who in ("Mesa", "counts"))
        print(f"- {row.replace('_', ' ')}{': ' if body else ''}{body}, {chip}{', held out' if of['held out'] else ''}: {of['wave']} is chosen "
              f"against {' and '.join(against)}. What bounds it by {bounds}.")
