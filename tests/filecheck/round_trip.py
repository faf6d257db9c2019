"""A lit test format: runs each file's RUN lines, then sends its IR through every form it can take.

For a file that qd-opt accepts, what is printed must be the same

  - from the source,
  - from what was printed from the source,
  - from the generic form,
  - from bytecode.

This finds a printer that drops an attribute, a parser that resolves a type otherwise than the
generic form says it, and properties that bytecode loses, in every op that any test mentions. What
is printed of our ops must be spaced as upstream's are, too, which FileCheck overlooks.

Chunks (`// -----`) count one by one, and so do the `.mlir` parts of a file for split-file. A chunk
with an `expected-error` is passed over: it is not meant to be accepted. A whole file is excused by
a line

    // NO-ROUNDTRIP: reason

for which there is one good reason: the file is not valid IR and says so in its RUN lines
(`not qd-opt …`).
"""

import difflib
import os
import re
import shlex
import subprocess

import lit.formats
import lit.Test
import lit.TestRunner

SPLIT = "// -----"
EXCUSE = re.compile(r"^\s*// NO-ROUNDTRIP:(.*)$", re.MULTILINE)
PART = re.compile(r"^//--- (\S+)$", re.MULTILINE)
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
# Two spaces, one before a comma or within brackets, none behind a comma, or one at the end.
MISPLACED = re.compile(r"  | [,)\]]|[(\[] |,(?! )| $")
UNREGISTERED = re.compile(r"RUN:.*--?allow-unregistered-dialect\b")

# Far beyond any run of qd-opt: a hang is a failure, not a wait.
TIMEOUT = 120


class Failure(Exception):
    """What went wrong, with the commands that show it."""


class RoundTripTest(lit.formats.ShTest):
    """ShTest, and then the round trips."""

    def __init__(self, qd_opt):
        super().__init__(execute_external=False)
        self.qd_opt = qd_opt

    def execute(self, test, lit_config):
        result = super().execute(test, lit_config)
        # What a test's RUN lines require, its IR does not: it parses on any machine.
        if result.code not in (lit.Test.PASS, lit.Test.UNSUPPORTED):
            return result
        if lit_config.noExecute:
            return result
        try:
            self.round_trip(test)
        except Failure as failure:
            return lit.Test.Result(lit.Test.FAIL, f"{result.output}\nRound trip: {failure}\n")
        return result

    def round_trip(self, test):
        with open(test.getSourcePath(), encoding="utf-8") as file:
            source = file.read()
        excuse = EXCUSE.search(source)
        if excuse:
            if not excuse.group(1).strip():
                raise Failure("`// NO-ROUNDTRIP:` must be followed by the reason, on the same line")
            return
        chunks = [chunk for part in parts(source) for chunk in split(part)]
        chunks = [chunk for chunk in chunks if "expected-error" not in chunk]
        if chunks:
            flags = ["--allow-unregistered-dialect"] if UNREGISTERED.search(source) else []
            folder = lit.TestRunner.getTempPaths(test)[1] + ".round-trip"
            os.makedirs(folder, exist_ok=True)
            Trip(self.qd_opt, flags, folder).run(chunks)


def parts(source):
    """The texts meant for qd-opt: the whole, or the .mlir parts of a file for split-file."""
    pieces = PART.split(source)
    if len(pieces) == 1:
        return pieces
    # Text before the first part, then name and text of each.
    return [text for name, text in zip(pieces[1::2], pieces[2::2]) if name.endswith(".mlir")]


def split(text):
    """The chunks of a text, as `--split-input-file` sees them."""
    chunks = [[]]
    for line in text.splitlines():
        if line.rstrip() == SPLIT:
            chunks.append([])
        else:
            chunks[-1].append(line)
    return ["\n".join(chunk).strip() for chunk in chunks]


class Trip:
    """The round trips of one test's chunks, in a folder that stays for the reader of a failure."""

    def __init__(self, qd_opt, flags, folder):
        self.qd_opt = qd_opt
        self.flags = flags
        self.folder = folder

    def run(self, chunks):
        source = self.write("source.mlir", f"\n\n{SPLIT}\n".join(chunks) + "\n")
        custom = self.path("custom.mlir")
        self.opt(
            ["--split-input-file", source, "-o", custom],
            "the IR is not accepted. If it is not meant to be, mark each error with expected-error, "
            "or excuse the file with a line `// NO-ROUNDTRIP: reason`",
        )
        self.spaced(custom)
        self.same(custom, custom, ["--split-input-file"], "what was printed")

        generic = self.path("generic.mlir")
        self.opt(
            ["--split-input-file", "--mlir-print-op-generic", source, "-o", generic],
            "the generic form cannot be printed",
        )
        self.same(custom, generic, ["--split-input-file"], "the generic form")

        # Bytecode holds one module, so here the chunks go one by one.
        printed = split(self.read(custom))
        for number, (chunk, expected) in enumerate(zip(chunks, printed)):
            text = self.write(f"{number}.mlir", chunk + "\n")
            reference = self.write(f"{number}.custom.mlir", expected + "\n")
            bytecode = self.path(f"{number}.mlirbc")
            emit = ["--emit-bytecode", text, "-o", bytecode]
            self.opt(emit, "bytecode cannot be written")
            self.same(reference, bytecode, [], "bytecode", [self.command(emit)])

    def same(self, expected, form, options, what, before=()):
        """What is printed from a form must be what was printed from the source."""
        again = form + ".printed"
        arguments = [*options, form, "-o", again]
        self.opt(arguments, f"{what} is not accepted")
        # Ends of chunks differ by an empty line between the two ways of splitting.
        left = self.read(expected).strip().splitlines()
        right = self.read(again).strip().splitlines()
        if left == right:
            return
        difference = "\n".join(
            difflib.unified_diff(left, right, "from the source", f"from {what}", lineterm="", n=2)
        )
        compare = shlex.join(["diff", "-B", expected, again])
        raise Failure(
            f"reading {what} does not give the same IR.\n{difference}\n"
            "Look at the op's parser, printer and properties.\n"
            + reproduce([*before, self.command(arguments), compare])
        )

    def spaced(self, path):
        """No space where upstream's printers put none, in lines with an op of ours."""
        for number, line in enumerate(self.read(path).splitlines(), 1):
            bare = STRING.sub('""', line.lstrip())
            if "qd." in bare and MISPLACED.search(bare):
                raise Failure(
                    f"a printer puts spaces where there should be none.\n{path}:{number}:\n"
                    f"  {line}|\nLook at the op's printer or assemblyFormat."
                )

    def opt(self, arguments, complaint):
        command = [self.qd_opt, *self.flags, *arguments]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT
            )
        except subprocess.TimeoutExpired:
            retry = reproduce([self.command(arguments)])
            raise Failure(f"no answer within {TIMEOUT} s.\n{retry}") from None
        if done.returncode != 0:
            stderr = done.stderr.decode(errors="replace").strip()
            raise Failure(
                f"{complaint} (exit status {done.returncode}).\n{stderr}\n"
                + reproduce([self.command(arguments)])
            )

    def command(self, arguments):
        return shlex.join([self.qd_opt, *self.flags, *arguments])

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def write(self, name, text):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path


def reproduce(commands):
    return "To reproduce:\n" + "\n".join(f"  {command}" for command in commands)
