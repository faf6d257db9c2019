//! Text in, values out.

use melior::{Context, dialect::DialectRegistry, ir::Module};
use qd_interp::{
    Argument, Buffer, Fault, Native, Options, Report, Schedule, interpret, interpret_printing,
};

pub const WAVES: [u32; 5] = [4, 8, 16, 32, 64];

/// A context that knows upstream's dialects and ours.
pub fn context() -> Context {
    let registry = DialectRegistry::new();
    melior::utility::register_all_dialects(&registry);
    // Safety: both handles are valid, the registry outlives the call.
    unsafe {
        mlir_sys::mlirDialectHandleInsertDialect(qd_sys::qdDialectHandle(), registry.to_raw());
    }
    let context = Context::new();
    context.append_dialect_registry(&registry);
    context.get_or_load_dialect("qd");
    context
}

/// Runs kernel `@k` of a module.
pub fn run_with(
    text: &str,
    mut arguments: Vec<Argument>,
    options: Options,
) -> Result<(Vec<Argument>, Report), Fault> {
    let context = context();
    let module = Module::parse(&context, text).unwrap_or_else(|| panic!("does not parse:\n{text}"));
    let report = interpret(&module, "k", &mut arguments, &options)?;
    Ok((arguments, report))
}

pub fn options(wave: u32) -> Options {
    Options {
        wave,
        fuel: 1 << 26,
        ..Options::default()
    }
}

pub fn hostile(wave: u32, seed: u64) -> Options {
    Options {
        schedule: Schedule::Random { seed },
        ..options(wave)
    }
}

/// Runs kernel `@k` and expects it to end well.
pub fn run(text: &str, arguments: Vec<Argument>, wave: u32) -> Vec<Argument> {
    match run_with(text, arguments, options(wave)) {
        Ok((arguments, _)) => arguments,
        Err(fault) => panic!("{fault}\n{text}"),
    }
}

/// What kernel `@k` prints, print by print, and how it ends.
pub fn prints(text: &str, mut arguments: Vec<Argument>, wave: u32) -> (Vec<String>, Option<Fault>) {
    let context = context();
    let module = Module::parse(&context, text).unwrap_or_else(|| panic!("does not parse:\n{text}"));
    let mut printed = Vec::new();
    let mut print = |text: &str| printed.push(text.to_owned());
    let ended = interpret_printing(&module, "k", &mut arguments, &options(wave), &mut print);
    (printed, ended.err())
}

/// Runs kernel `@k` and expects a fault whose text holds these words.
pub fn faults(text: &str, arguments: Vec<Argument>, wave: u32, words: &[&str]) -> Fault {
    match run_with(text, arguments, options(wave)) {
        Ok(_) => panic!("no fault, expected {words:?}\n{text}"),
        Err(fault) => {
            let printed = fault.to_string();
            for word in words {
                assert!(printed.contains(word), "'{word}' is not in: {printed}");
            }
            fault
        }
    }
}

pub fn buffer<T: Native>(values: &[T]) -> Argument {
    Buffer::from_slice(values).into()
}

/// A live count.
pub fn count(n: usize) -> Argument {
    Buffer::scalar(n as i32).into()
}

/// Scratch of this many `i32` slots.
pub fn scratch(slots: usize) -> Argument {
    Buffer::uninitialised(qd_interp::Element::I32, &[slots]).into()
}

pub fn values<T: Native>(argument: &Argument) -> Vec<T> {
    argument.buffer().expect("a buffer").to_vec()
}

/// A kernel of one phase: blocks of threads that run `body`.
pub fn phase(parameters: &str, blocks: usize, threads: usize, body: &str) -> String {
    format!(
        "qd.grid.kernel @k({parameters}) {{
           %blocks = arith.constant {blocks} : index
           qd.grid.phase blocks(%blocks) threads({threads}) {{
             {body}
           }}
         }}"
    )
}

/// A phase of one block of 64 threads that computes `%r` of type `to` from
/// `%x` of type `from` in each thread, as a function over 64 values.
pub fn map64<A: Native, B: Native>(
    from: &str,
    to: &str,
    body: &str,
    input: &[A],
    wave: u32,
) -> Vec<B> {
    let text = map_text(from, to, body);
    let arguments = run(&text, map_arguments::<A, B>(input), wave);
    values(&arguments[1])
}

pub fn map_text(from: &str, to: &str, body: &str) -> String {
    phase(
        &format!("%in: memref<64x{from}>, %out: memref<64x{to}>"),
        1,
        64,
        &format!(
            "%t = qd.simt.block.thread_id
             %x = memref.load %in[%t] : memref<64x{from}>
             {body}
             memref.store %r, %out[%t] : memref<64x{to}>"
        ),
    )
}

pub fn map_arguments<A: Native, B: Native>(input: &[A]) -> Vec<Argument> {
    assert_eq!(input.len(), 64);
    vec![
        buffer(input),
        Buffer::uninitialised(B::ELEMENT, &[64]).into(),
    ]
}

/// Reproducible noise.
pub fn noise(seed: u64, n: usize) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.wrapping_mul(0x2545_F491_4F6C_DD1D)
        })
        .collect()
}
