//! The conversion is independent of the vendor: with the hooks of a vendor that does not
//! exist, its output contains nothing of a real vendor's.

use super::{
    AddressSpaces, Hooks, Register, Source, ballot, broadcast, broadcast_first, convert,
    dynamic_shared_bytes, shuffle,
};
use crate::{
    convert::memory::Scopes,
    emit::handle,
    targets::{
        Target,
        isa::{Form, Scalar},
    },
};
use melior::ir::{Module, operation::OperationLike};
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    ir::{Context, OpExt},
    melior,
};

/// Subgroups of 64, memory and scopes of other names, and orders that are heeded.
const OTHER: Hooks = Hooks {
    spaces: AddressSpaces {
        global: 11,
        shared: 13,
        private: 15,
    },
    scopes: Scopes {
        block: Some("workgroup"),
        device: Some("agent"),
        rmw_has_order: true,
        rmw_orders_zeros: true,
        by_words: false,
        adds_shared_doubles: true,
    },
    max_static_shared_bytes: 1024,
    refuses_name: |name| name.contains('$').then_some("'$' cannot be"),
    kernel_attributes: |context, launch, setting| {
        let number = |number| attributes::i32(context, number);
        vec![
            ("other.threads", number(launch.threads)),
            ("other.wave", number(setting.wave as i32)),
            (
                "other.blocks",
                number(launch.blocks_per_core.unwrap_or_default()),
            ),
            ("other.waits", number(launch.has_shared_arrays.into())),
        ]
    },
    register,
    keeps_own: false,
    shuffle: |value, source, _| {
        let b = value.builder();
        let (from, lane) = match source {
            Source::First => ("first", b.i32(0)),
            Source::Lane(lane) => ("lane", lane),
            Source::Uniform(lane) => ("uniform", lane),
            Source::Up(lane) => ("up", lane),
            Source::Down(lane) => ("down", lane),
            Source::Xor(lane) => ("xor", lane),
        };
        let name = format!("other.from_{from}");
        b.result(&name, &[value, lane], value.ty(), &[])
    },
    ballot: |predicate, _| {
        let b = predicate.builder();
        b.result("other.ballot", &[predicate], b.int_type(64), &[])
    },
    subgroup_barrier: |b| _ = b.op("other.meet_subgroup", &[], &[], &[]),
    block_barrier: |b| _ = b.op("other.meet_block", &[], &[], &[]),
    pause: |b, nanoseconds| _ = b.op("other.sleep", &[], &[], &[("time", nanoseconds)]),
    prefetch: |_| None,
    forms: &[
        (Form::of("qd.simt.shuffle", "from"), shuffle),
        (Form::of("qd.simt.broadcast", "from_uniform"), broadcast),
        (
            Form::of("qd.simt.broadcast_first", "from_first"),
            broadcast_first,
        ),
        (Form::of("qd.simt.ballot", "ballot"), ballot),
        (Form::of("qd.simt.all", "all").of_subgroup(), |b, op, _| {
            let predicate = b.v(op.operand_values()[0]);
            let all = b.result("other.all", &[predicate], b.int_type(1), &[]);
            Ok(vec![all.value()])
        }),
    ],
};

fn register<'b, 'c>(b: &'b Builder<'c>, register: Register) -> V<'b, 'c> {
    let name = match register {
        Register::ThreadId => "thread",
        Register::BlockId => "block",
        Register::BlockDim => "threads",
        Register::GridDim => "blocks",
    };
    b.result(&format!("other.{name}"), &[], b.int_type(32), &[])
}

/// It has a sine.
const FUNCTIONS: &[Form] = &[Form::of("math.sin", "sin").on(&[Scalar::Float(32)])];

/// Whose subgroups may be of any size.
fn target() -> Target {
    let mut target = Target::parse("any").expect("a row");
    let forms = OTHER.forms.iter().map(|(form, _)| form);
    target.capabilities.forms = forms.chain(FUNCTIONS).collect();
    target
}

/// A body of this name, for subgroups of 64 in blocks of 128.
fn body(context: &Context, name: &str, ops: &str) -> Result<String, String> {
    let text = format!(
        "module {{
           func.func private @{name}(%a: memref<?xf64>, %n: i32, %p: i1)
               attributes {{qd.wave = 64 : i64, qd.threads = 128 : i64, qd.blocks_per_core = 3 : i64}} {{
             %zero = arith.constant 0 : index
             {ops}
             return
           }}
         }}"
    );
    let module = Module::parse(context, &text).expect("it parses");
    convert(handle(&module), &target(), &OTHER).map_err(|error| error.message().to_string())?;
    assert!(module.as_operation().verify(), "{}", module.as_operation());
    Ok(module.as_operation().to_string())
}

fn context() -> Context {
    let context = qd_dialects::context();
    context.set_allow_unregistered_dialects(true);
    context
}

/// Whether all of these are in the text, one after the other.
fn assert_in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let Some((_, behind)) = rest.split_once(part) else {
            panic!("no '{part}' in its place in:\n{text}");
        };
        rest = behind;
    }
}

#[test]
fn what_vendors_do_is_asked_of_the_hooks() {
    let context = context();
    let made = |ops| {
        let text = body(&context, "k", ops).expect("it has a form");
        assert!(
            !text.contains("nvvm") && !text.contains("qd.simt"),
            "{text}"
        );
        text
    };
    let kernel = made(
        "%own = memref.alloca() : memref<4xf64>
         %x = memref.load %own[%zero] : memref<4xf64>
         memref.prefetch %a[%zero], read, locality<2>, data : memref<?xf64>
         memref.store %x, %a[%zero] : memref<?xf64>
         qd.simt.pause 1000",
    );
    assert_in_order(
        &kernel,
        &[
            "llvm.func @k(%arg0: !llvm.ptr<11>",
            "other.blocks = 3 : i32, other.threads = 128 : i32, other.waits = 0 : i32, \
             other.wave = 64 : i32",
            "-> !llvm.ptr<15>",
            "llvm.addrspacecast",
            "!llvm.ptr<15> to !llvm.ptr",
            "\"other.sleep\"() {time = 1000 : i32}",
        ],
    );
    assert!(!kernel.contains("prefetch"), "{kernel}");

    let ids = made(
        "%lane = qd.simt.lane_id
         %subgroup = qd.simt.subgroup_id
         %all = qd.simt.num_subgroups
         %blocks = qd.simt.grid.dim",
    );
    assert_in_order(
        &ids,
        &[
            "\"other.thread\"",
            "arith.constant 63",
            "arith.andi",
            "\"other.thread\"",
            "arith.constant 6 ",
            "arith.shrui",
            "\"other.threads\"",
            "arith.constant 6 ",
            "arith.shrui",
            "\"other.blocks\"",
        ],
    );

    let moves = made(
        "%x = memref.load %a[%zero] : memref<?xf64>
         %0 = qd.simt.shuffle xor %x, %n : f64
         %1 = qd.simt.shuffle up %n, %n : i32
         %2 = qd.simt.broadcast %n, %n : i32
         %3 = qd.simt.broadcast_first %n : i32
         %4 = qd.simt.ballot %p
         %5 = qd.simt.all %p",
    );
    assert_in_order(
        &moves,
        &[
            "arith.trunci",
            "\"other.from_xor\"",
            "arith.shrui",
            "\"other.from_xor\"",
            "arith.ori",
            "\"other.from_up\"",
            "arith.cmpi ule",
            "arith.select",
            "\"other.from_uniform\"",
            "\"other.from_first\"",
            "\"other.ballot\"(%9) : (i1) -> i64",
            "\"other.all\"",
        ],
    );
    // Of 64 lanes already.
    assert_eq!(moves.matches("arith.extui").count(), 2, "{moves}");
}

#[test]
fn orders_and_scopes_are_the_vendors() {
    let text = body(
        &context(),
        "k",
        "%i = qd.grid.view %a[%zero] [%zero] : memref<?xf64> to memref<?xi64>
         %w = arith.extui %n : i32 to i64
         qd.simt.sync
         qd.simt.block.sync
         qd.simt.block.mem_fence
         qd.grid.mem_fence
         %0 = qd.grid.atomic.rmw add %w, %i[%zero] device acq_rel : memref<?xi64>
         %1 = qd.grid.atomic.load %i[%zero] block acquire : memref<?xi64>",
    )
    .expect("it has a form");
    assert_in_order(
        &text,
        &[
            "other.meet_subgroup",
            "other.meet_block",
            "llvm.fence syncscope(\"workgroup\") seq_cst",
            "llvm.fence syncscope(\"agent\") seq_cst",
            "llvm.atomicrmw add",
            "syncscope(\"agent\") acq_rel",
            "llvm.load",
            "syncscope(\"workgroup\") acquire",
        ],
    );
    assert_eq!(text.matches("llvm.fence").count(), 2, "{text}");
}

#[test]
fn how_much_may_be_declared_is_the_vendors() {
    let context = context();
    let of = |elements: u32| {
        let shared = format!(
            "%s = qd.simt.block.shared : memref<{elements}xi8, #gpu.address_space<workgroup>>
             %b = qd.simt.block.shared : memref<4xi32, #gpu.address_space<workgroup>>"
        );
        body(&context, "k", &shared).expect("it has a form")
    };
    let declared = of(1000);
    assert_in_order(
        &declared,
        &[
            "internal",
            "addr_space = 13 : i32",
            "!llvm.array<1000 x i8>",
            "other.waits = 1",
            "!llvm.ptr<13> to !llvm.ptr",
        ],
    );
    assert_in_order(
        &of(1020),
        &["external", "addr_space = 13 : i32", "!llvm.array<0 x i8>"],
    );

    let text = "func.func private @k() attributes {qd.threads = 64 : i64} {
                  %s = qd.simt.block.shared : memref<1020xi8, #gpu.address_space<workgroup>>
                  %b = qd.simt.block.shared : memref<4xi32, #gpu.address_space<workgroup>>
                  return
                }";
    let module = Module::parse(&context, text).expect("it parses");
    let mut ops = handle(&module).nested().into_iter();
    let kernel = ops.find(|op| op.is("func.func")).expect("it is there");
    let bytes = dynamic_shared_bytes(kernel, &target(), &OTHER).expect("they fit");
    assert_eq!(bytes, 1040);
}

#[test]
fn what_a_vendor_lacks_is_an_error() {
    let context = context();
    for (name, ops, expected) in [
        (
            "k",
            "%0 = qd.simt.any %p",
            "'qd.simt.any' op is nothing that target 'any' has: run qd-expand-collectives first",
        ),
        (
            "k",
            "%0 = arith.constant 1.0 : f64\n%1 = math.sin %0 : f64",
            "'math.sin' op is a function that target 'any' does not have for f64",
        ),
        (
            "a$b",
            "",
            "'func.func' op is named 'a$b', which target 'any' cannot spell: '$' cannot be",
        ),
    ] {
        let error = body(&context, name, ops).expect_err("it has no form");
        assert!(error.starts_with(expected), "{error}");
    }
    let f32 = "%0 = arith.constant 1.0 : f32\n%1 = math.sin %0 : f32";
    assert!(body(&context, "k", f32).is_ok());
}
