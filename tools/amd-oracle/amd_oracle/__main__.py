"""The command line: `python3 -m amd_oracle --help`."""

import argparse
import json
import pathlib
import sys


def translate(options):
    from .table import table
    print(table(pathlib.Path(options.file).read_bytes()))


def serve(options):
    """Answers each path on standard input with a line: `table PATH`, or `error WHY`."""
    from .table import table
    for line in sys.stdin:
        try:
            answer = f"table {table(pathlib.Path(line.rstrip(chr(10))).read_bytes())}"
        except Exception as error:  # Whatever it is, it is about this code object.
            answer = "error " + " ".join(f"{type(error).__name__}: {error}".split())
        print(answer, flush=True)


def run(options):
    import numpy

    from .engine import Buffer, Module
    arguments, files = [], []
    for said in options.arg:
        kind, _, value = said.partition(":")
        if kind == "buffer":
            array = numpy.load(value, allow_pickle=False)
            buffer = Buffer(array.tobytes())
            arguments.append(buffer)
            files.append((value, array, buffer))
        elif kind in FORMATS:
            arguments.append((FORMATS[kind], float(value) if kind[0] == "f" else int(value, 0)))
        else:
            raise SystemExit(f"argument {said!r}: the kind is buffer or one of {', '.join(FORMATS)}")
    with Module(pathlib.Path(options.file).read_bytes()) as module:
        module.launch(options.kernel, options.blocks, options.threads, arguments, options.shared)
    for path, array, buffer in files:
        out = numpy.frombuffer(bytes(buffer), array.dtype).reshape(array.shape)
        if options.write:
            numpy.save(path, out)
        else:
            print(path, out)


def listing(options):
    from .decode import Decoder
    from .elf import CodeObject
    image = CodeObject(pathlib.Path(options.file).read_bytes())
    decoder = Decoder(image.family, image.memory)
    starts = {value: name for name, (value, _, kind) in image.names.items() if kind == 2}
    for address, size in image.text:
        pc = address
        while pc < address + size:
            if pc in starts:
                print(f"{starts[pc]}:")
            found = decoder.decode(pc)
            for i in found:
                print(f"  {pc:6x}  {i.kind:12} {i.text}{'  # ' + i.why if i.why else ''}")
            pc += found[0].size


def check(options):
    """Translates, and names every instruction that could not be executed."""
    from .table import Translation
    bad = 0
    for file in options.files:
        t = Translation(pathlib.Path(file).read_bytes())
        t.write()
        missing = sorted({i.why or i.name for _, i in t.records if i.kind == "unsupported" and i.name not in ("S_CODE_END", "padding", "unknown")})
        print(f"{file}: {t.object.architecture}, {len(t.records)} instructions, {len({i.name for _, i in t.records})} ops, {len(missing)} unsupported")
        for why in missing:
            print(f"  {why}")
        bad += len(missing)
    return 1 if bad else 0


def coverage(options):
    total = {}
    for line in pathlib.Path(options.file).read_text().splitlines():
        launch = json.loads(line)
        for op, (count, kind) in launch["ops"].items():
            key = launch["architecture"], kind, op
            total[key] = total.get(key, 0) + count
    if options.brief:
        print(f"{len(total)} distinct instructions, {sum(total.values()):,} executed")
        return
    for (architecture, kind, op), count in sorted(total.items()):
        print(f"{architecture:8} {kind:7} {op:32} {count}")


def errata(options):
    from .errata import ERRATA
    if options.count:
        print(len(ERRATA))
        return
    for families, pattern, why, _ in ERRATA:
        print(f"{', '.join(families)}: {pattern}\n    {why}")


def costs(options):
    from .costs import forms, table
    table(options.folder, options.elements, options.llvm)
    print()
    forms(options.folder, options.llvm)


def opinions(options):
    from .opinions import table
    table(options.folder)


FORMATS = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "Q", "i64": "q", "f32": "f", "f64": "d"}


def main():
    parser = argparse.ArgumentParser(prog="amd_oracle", description="Executes AMD code objects from AMD's own pseudocode.")
    commands = parser.add_subparsers(required=True)
    c = commands.add_parser("run", help="run one launch on .npy buffers")
    c.add_argument("file", help="a code object (.hsaco)")
    c.add_argument("--kernel", required=True, help="name of the kernel")
    c.add_argument("--blocks", type=int, default=1, help="number of blocks")
    c.add_argument("--threads", type=int, default=64, help="threads in a block")
    c.add_argument("--shared", type=int, default=0, help="bytes of LDS beyond those that the kernel declares")
    c.add_argument("--arg", action="append", default=[], metavar="KIND:VALUE", help="buffer:FILE.npy, or a number such as u32:7 or f32:0.5; in order")
    c.add_argument("--write", action="store_true", help="write buffers back to their files instead of printing them")
    c.set_defaults(do=run)
    c = commands.add_parser("list", help="list instructions as they are decoded")
    c.add_argument("file", help="a code object (.hsaco)")
    c.set_defaults(do=listing)
    c = commands.add_parser("check", help="name instructions of code objects that cannot be executed")
    c.add_argument("files", nargs="+", help="code objects (.hsaco)")
    c.set_defaults(do=check)
    c = commands.add_parser("coverage", help="sum the ops of a coverage file")
    c.add_argument("file", help="what QD_AMD_ORACLE_COVERAGE named")
    c.add_argument("--brief", action="store_true", help="only how many instructions, and how often")
    c.set_defaults(do=coverage)
    c = commands.add_parser("translate", help="translate a code object and print the table's path")
    c.add_argument("file", help="a code object (.hsaco)")
    c.set_defaults(do=translate)
    c = commands.add_parser("serve", help="translate the code objects whose paths standard input has, a line each; the engine uses this")
    c.set_defaults(do=serve)
    c = commands.add_parser("errata", help="list where AMD's pseudocode is not followed, with the sources")
    c.add_argument("--count", action="store_true", help="only how many there are")
    c.set_defaults(do=errata)
    c = commands.add_parser("opinions", help="print what 64 lanes take of 32, by whom; `cargo xtask wave-opinions` uses this")
    c.add_argument("folder", help="what that wrote")
    c.set_defaults(do=opinions)
    c = commands.add_parser("costs", help="print what launches cost, by coverage files and assembly; `cargo xtask amd-costs` uses this")
    c.add_argument("folder", help="files KERNEL.CHIP.WAVE.LOWERING.jsonl and .s, where LOWERING is selected or fixed, and set.CHIP.WAVE.LOWERING.counts")
    c.add_argument("--elements", type=int, required=True, help="how many elements each launch had")
    c.add_argument("--llvm", default="/usr/lib/llvm-22/bin", help="folder of llvm-mca")
    c.set_defaults(do=costs)
    options = parser.parse_args()
    try:
        return options.do(options) or 0
    except (OSError, ValueError, RuntimeError) as error:
        print(f"amd_oracle: {error}", file=sys.stderr)
        return 1
    except Exception as error:
        if type(error).__module__.startswith("amd_oracle"):
            print(f"amd_oracle: {error}", file=sys.stderr)
            return 1
        raise


if __name__ == "__main__":
    sys.exit(main())
