"""Makes modules that are nested too deep, or just not, in a folder: see ../nesting.mlir."""

import pathlib
import sys

DEEP = 4000

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)


def write(name, text):
    (folder / f"{name}.mlir").write_text(text + "\n")


def branches(count):
    """A kernel that stores the number of the innermost of so many branches that are taken."""
    lines = [
        'qd.grid.kernel @k(%a: memref<1xi32> {qd.name = "a"}) {',
        "%c0 = arith.constant 0 : index",
        "%c1 = arith.constant 1 : index",
        "qd.grid.for_each %i to %c1 {",
        "%x = memref.load %a[%c0] : memref<1xi32>",
    ]
    for i in range(count):
        lines += [
            f"%k{i} = arith.constant {i + 1} : i32",
            f"%p{i} = arith.cmpi sgt, %x, %k{i} : i32",
            f"scf.if %p{i} {{",
            f"memref.store %k{i}, %a[%c0] : memref<1xi32>",
        ]
    return "\n".join(lines + ["}"] * (count + 2))


def loops(count):
    """A kernel that counts the loops in one another, each of which runs as often as `a` has elements."""
    lines = [
        'qd.grid.kernel @k(%a: memref<?xi32> {qd.name = "a"}) {',
        "%c0 = arith.constant 0 : index",
        "%c1 = arith.constant 1 : index",
        "%n = memref.dim %a, %c0 : memref<?xi32>",
        "qd.grid.for_each %i to %c1 {",
        "%one = arith.constant 1 : i32",
    ]
    for i in range(count):
        lines += [
            f"scf.for %i{i} = %c0 to %n step %c1 {{",
            f"%x{i} = memref.load %a[%i{i}] : memref<?xi32>",
            f"%y{i} = arith.addi %x{i}, %one : i32",
            f"memref.store %y{i}, %a[%i{i}] : memref<?xi32>",
        ]
    return "\n".join(lines + ["}"] * (count + 2))


def host(count, operation):
    """A kernel whose extent the host computes by so many operations, each on what the one before yields."""
    lines = ['qd.grid.kernel @k(%a: memref<?xi32> {qd.name = "a"}, %n: index {qd.name = "n"}) {']
    lines += [f"%v{i} = {operation(f'%v{i - 1}' if i else '%n')}" for i in range(count)]
    lines += [
        f"qd.grid.for_each %i to %v{count - 1} {{",
        "%x = arith.constant 7 : i32",
        "memref.store %x, %a[%i] : memref<?xi32>",
        "}",
        "}",
    ]
    return "\n".join(lines)


write("modules", "module {\n" * DEEP + "}\n" * DEEP)
write("ifs", branches(DEEP))
write("types", "func.func private @f(" + "tuple<" * DEEP + "i32" + ">" * DEEP + ")")
write("attributes", "module attributes {test.x = " + "[" * DEEP + "]" * DEEP + "} {}")
write("locations", "module {} loc(" + "callsite(" * DEEP + "unknown" + " at unknown)" * DEEP + ")")
flat = ["// " + "(" * 1200, 'module attributes {test.x = "' + "([{<" * 300 + '"} {}']
flat += ["func.func private @f() -> ()"] + [f"func.func private @f{i}(tuple<i32>) -> ()" for i in range(300)]
flat += ["module attributes {test.x = affine_set<(d0) : (d0 - 1 >= 0)>} {}"]
flat += ["// -----"] + ["module @flat {", "}"]
write("flat", "\n".join(flat))
write("valid", branches(60))
write("branches", branches(1000))
write("loops", loops(100))
write("chain", host(1000, lambda v: f"arith.addi {v}, %n : index"))
write("tree", host(60, lambda v: f"arith.addi {v}, {v} : index"))
write("shorter", host(120, lambda v: f"arith.addi {v}, %n : index"))
functions = ["func.func private @f0(%x: i32) -> i32 {", "return %x : i32", "}"]
for i in range(1, 41):
    functions += [f"func.func private @f{i}(%x: i32) -> i32 {{", f"%y = func.call @f{i - 1}(%x) : (i32) -> i32"]
    functions += [f"%z = func.call @f{i - 1}(%y) : (i32) -> i32", "%w = arith.addi %y, %z : i32", "return %w : i32", "}"]
functions += ["qd.grid.kernel @k(%a: memref<?xi32>, %n: index) {", "qd.grid.for_each %i to %n {"]
functions += ["%x = memref.load %a[%i] : memref<?xi32>", "%y = func.call @f40(%x) : (i32) -> i32"]
functions += ["memref.store %y, %a[%i] : memref<?xi32>", "}", "}"]
write("doubling", "\n".join(functions))
