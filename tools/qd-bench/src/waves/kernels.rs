//! Kernels whose best subgroup size should differ. Every second one is held out: no figure of the
//! costs may be fitted to it.

/// A kernel: its name, and what its body computes.
///
/// There are `%v` and `%w`, random numbers of the thread, `%f` and `%g`, the same as floats between 0 and 1,
/// `%p` and `%q`, predicates that hold for half, `%lane`, `%size`, and `%last`, the size less
/// one; and numbers `%c0` to `%c31` of those that are listed in [`source`]. It ends with `%r : i32`, or `%x : f32` if
/// its name ends so.
pub type Kernel = (&'static str, &'static str);

/// All of them. Of two neighbours the second is held out.
pub const KERNELS: [Kernel; 50] = [
    // Values of other lanes.
    ("gather i32", "%j = arith.andi %w, %last : i32\n %r = qd.simt.shuffle idx %v, %j : i32"),
    (
        "gather i64",
        "%j = arith.andi %w, %last : i32\n %l = arith.extsi %v : i32 to i64\n
         %m = qd.simt.shuffle idx %l, %j : i64\n %r = arith.trunci %m : i64 to i32",
    ),
    (
        "gather of gather",
        "%j = arith.andi %w, %last : i32\n %k = arith.andi %v, %last : i32\n
         %a = qd.simt.shuffle idx %v, %j : i32\n %r = qd.simt.shuffle idx %a, %k : i32",
    ),
    ("gather f32", "%j = arith.andi %w, %last : i32\n %x = qd.simt.shuffle idx %f, %j : f32"),
    ("mirror", "%r = qd.simt.shuffle xor %v, %last : i32"),
    ("neighbours", "%r = qd.simt.shuffle xor %v, %c1 : i32"),
    (
        "butterfly",
        "%a = qd.simt.shuffle xor %v, %c1 : i32\n %b = arith.addi %a, %v : i32\n
         %d = qd.simt.shuffle xor %b, %c2 : i32\n %r = arith.addi %b, %d : i32",
    ),
    (
        "rotate",
        "%j = arith.addi %lane, %c1 : i32\n %k = arith.andi %j, %last : i32\n
         %r = qd.simt.shuffle idx %v, %k : i32",
    ),
    ("table of four", "%j = arith.andi %w, %c3 : i32\n %r = qd.simt.shuffle idx %v, %j : i32"),
    (
        "broadcasts",
        "%a = qd.simt.broadcast %v, %c1 : i32\n %b = qd.simt.broadcast %w, %c3 : i32\n
         %r = arith.addi %a, %b : i32",
    ),
    // Reductions.
    ("sum i32", "%r = qd.simt.reduce_all add %v : i32"),
    ("sum f32", "%x = qd.simt.reduce_all add %f : f32"),
    ("maximum f32", "%x = qd.simt.reduce_all maxnumf %f : f32"),
    (
        "sum i64",
        "%l = arith.extsi %v : i32 to i64\n %m = qd.simt.reduce_all add %l : i64\n
         %r = arith.trunci %m : i64 to i32",
    ),
    ("minimum u32", "%r = qd.simt.reduce_all minui %v : i32"),
    ("count", "%r = qd.simt.count_true %p"),
    ("sums of four", "%r = qd.simt.reduce_all add %v tile(2) : i32"),
    ("maxima of four f32", "%x = qd.simt.reduce_all maxnumf %f tile(2) : f32"),
    (
        "softmax f32",
        "%m = qd.simt.reduce_all maxnumf %f : f32\n %d = arith.subf %f, %m : f32\n
         %e = math.exp %d : f32\n %s = qd.simt.reduce_all add %e : f32\n %x = arith.divf %e, %s : f32",
    ),
    (
        "two sums",
        "%a = qd.simt.reduce_all add %v : i32\n %b = qd.simt.reduce_all add %w : i32\n
         %r = arith.addi %a, %b : i32",
    ),
    ("parity", "%r = qd.simt.reduce_all xor %v : i32"),
    ("dot f32", "%d = arith.mulf %f, %g : f32\n %x = qd.simt.reduce_all add %d : f32"),
    // Votes, masks and ranks.
    (
        "rank",
        "%o = arith.extui %p : i1 to i32\n %r = qd.simt.exclusive_scan add %o : i32",
    ),
    (
        "ranks of both sides",
        "%n = arith.xori %p, %true : i1\n %o = arith.extui %p : i1 to i32\n
         %z = arith.extui %n : i1 to i32\n %a = qd.simt.exclusive_scan add %o : i32\n
         %b = qd.simt.exclusive_scan add %z : i32\n %r = arith.select %p, %a, %b : i32",
    ),
    (
        "mask",
        "%m = qd.simt.ballot %p\n %r = arith.trunci %m : i64 to i32",
    ),
    (
        "match of 4 bits",
        "%j = arith.andi %v, %c15 : i32\n %m = qd.simt.match_any %j bits(4) : i32\n
         %r = qd.math.popcnt %m : i64",
    ),
    (
        "match of 8 bits",
        "%j = arith.andi %v, %c255 : i32\n %m = qd.simt.match_any %j bits(8) : i32\n
         %r = qd.math.popcnt %m : i64",
    ),
    ("vote", "%a = qd.simt.any %p\n %r = arith.extui %a : i1 to i32"),
    (
        "two votes",
        "%a = qd.simt.any %p\n %b = qd.simt.all %q\n %d = arith.xori %a, %b : i1\n
         %r = arith.extui %d : i1 to i32",
    ),
    ("equality", "%a = qd.simt.all_equal %v : i32\n %r = arith.extui %a : i1 to i32"),
    ("prefix sums i32", "%r = qd.simt.inclusive_scan add %v : i32"),
    ("prefix sums f32", "%x = qd.simt.inclusive_scan add %f : f32"),
    (
        "exclusive prefix sums i64",
        "%l = arith.extsi %v : i32 to i64\n %m = qd.simt.exclusive_scan add %l : i64\n
         %r = arith.trunci %m : i64 to i32",
    ),
    ("prefix maxima", "%r = qd.simt.inclusive_scan maxsi %v : i32"),
    // Segments.
    ("segmented sums i32", "%r = qd.simt.segmented_reduce add %v heads %p : i32"),
    ("segmented sums f32", "%x = qd.simt.segmented_reduce add %f heads %p : f32"),
    ("segmented maxima", "%r = qd.simt.segmented_reduce maxsi %v heads %q : i32"),
    (
        "number of the segment",
        "%o = arith.extui %p : i1 to i32\n %r = qd.simt.inclusive_scan add %o : i32",
    ),
    // Several, and of blocks.
    ("sort i32", "%k, %r = qd.simt.bitonic_sort_kv %v, %w : i32, i32"),
    ("sort by floats", "%k, %r = qd.simt.bitonic_sort_kv %f, %w : f32, i32"),
    ("sum of a block", "%r = qd.simt.block.reduce_all add %v : i32"),
    ("prefix sums of a block", "%r = qd.simt.block.exclusive_scan add %v : i32"),
    (
        "mean and difference f32",
        "%s = qd.simt.reduce_all add %f : f32\n %i32 = arith.sitofp %size : i32 to f32\n
         %m = arith.divf %s, %i32 : f32\n %x = arith.subf %f, %m : f32",
    ),
    (
        "sum and prefix sums",
        "%a = qd.simt.reduce_all add %v : i32\n %b = qd.simt.exclusive_scan add %v : i32\n
         %r = arith.subi %a, %b : i32",
    ),
    // Threads that go their own ways, and those that need no others.
    (
        "steps until odd",
        "%d, %r = scf.while (%x0 = %v, %n = %c0) : (i32, i32) -> (i32, i32) {
           %b = arith.andi %x0, %c7 : i32\n %go = arith.cmpi ne, %b, %c7 : i32
           %few = arith.cmpi ult, %n, %c31 : i32\n %both = arith.andi %go, %few : i1
           scf.condition(%both) %x0, %n : i32, i32
         } do {
         ^next(%y: i32, %m: i32):
           %z = arith.muli %y, %c5 : i32\n %z1 = arith.addi %z, %c3 : i32\n %k = arith.addi %m, %c1 : i32
           scf.yield %z1, %k : i32, i32
         }",
    ),
    (
        "one of two ways f32",
        "%x = scf.if %p -> f32 {\n %e = math.exp %f : f32\n scf.yield %e : f32\n } else {
           %e = arith.mulf %f, %g : f32\n scf.yield %e : f32\n }",
    ),
    (
        "until no lane wants more",
        "%r = scf.while (%n = %c0) : (i32) -> i32 {
           %b = arith.shrui %v, %n : i32\n %odd = arith.andi %b, %c3 : i32
           %more = arith.cmpi eq, %odd, %c0 : i32\n %some = qd.simt.any %more
           %few = arith.cmpi ult, %n, %c15 : i32\n %both = arith.andi %some, %few : i1
           scf.condition(%both) %n : i32
         } do {
         ^next(%m: i32):\n %k = arith.addi %m, %c1 : i32\n scf.yield %k : i32
         }",
    ),
    (
        "polynomial f32",
        "%x1 = arith.mulf %f, %g : f32\n %x2 = arith.addf %x1, %f : f32\n %x3 = arith.mulf %x2, %f : f32\n
         %x4 = arith.addf %x3, %g : f32\n %x5 = arith.mulf %x4, %f : f32\n %x = arith.addf %x5, %f : f32",
    ),
    ("copy", "%r = arith.addi %v, %w : i32"),
    ("exponentials f32", "%e = math.exp %f : f32\n %x = math.exp %e : f32"),
];

/// What the kernel is called in its text.
pub fn symbol(name: &str) -> String {
    name.replace(' ', "_")
}

/// The kernel's text, on `blocks` blocks of 256 threads.
pub fn source((name, body): Kernel, blocks: usize) -> String {
    let constants =
        [0, 1, 2, 3, 5, 7, 15, 31, 255].map(|c| format!("%c{c} = arith.constant {c} : i32"));
    let result = match name.ends_with("f32") {
        true => "%r = arith.bitcast %x : f32 to i32",
        false => "",
    };
    let symbol = symbol(name);
    format!(
        "qd.grid.kernel @{symbol}(%from: memref<?xi32>, %other: memref<?xi32>, %out: memref<?xi32>) {{
           %blocks = arith.constant {blocks} : index
           qd.grid.phase blocks(%blocks) threads(256) {{
             {}
             %true = arith.constant true
             %scale = arith.constant 2.3283064e-10 : f32
             %threads = arith.constant 256 : index
             %t = qd.simt.block.thread_id
             %block = qd.simt.block.id
             %first = arith.muli %block, %threads : index
             %i = arith.addi %first, %t : index
             %v = memref.load %from[%i] : memref<?xi32>
             %w = memref.load %other[%i] : memref<?xi32>
             %uv = arith.uitofp %v : i32 to f32
             %uw = arith.uitofp %w : i32 to f32
             %f = arith.mulf %uv, %scale : f32
             %g = arith.mulf %uw, %scale : f32
             %p = arith.cmpi slt, %v, %c0 : i32
             %q = arith.cmpi slt, %w, %c0 : i32
             %lane = qd.simt.lane_id
             %size = qd.simt.subgroup_size
             %last = arith.subi %size, %c1 : i32
             {body}
             {result}
             memref.store %r, %out[%i] : memref<?xi32>
           }}
         }}",
        constants.join("\n")
    )
}
