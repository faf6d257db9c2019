//! Defects that lowerings for AMD's chips have had elsewhere, planted in our assembly: the oracle catches
//! each. The same assembly without the defect agrees with the interpreter.
//!
//! On other targets, and on a GPU, nothing runs here.

use qd_conformance::{
    Argument, Data, Expect, Main, difference, execute, interpret, is_simulated, open,
};
use qd_frontend::{CompileOptions, Emit, Parsed, Source, compile_text, lazy_context};
use std::{env, fs, path::Path, process::Command};

const THREADS: usize = 128;

/// Tells a process of its own which of a test's defects it is to run, for a launch that goes wrong takes
/// the device with it.
const PLANTED: &str = "QD_PLANTED";

/// An AMD chip in the oracle.
struct Chip {
    target: String,
    architecture: String,
    wave: u32,
}

/// The chip that `QD_TARGET` names, if it is simulated.
fn chip() -> Option<Chip> {
    let target = env::var("QD_TARGET").ok().filter(|_| is_simulated())?;
    let (architecture, wave) = target.strip_prefix("amdgpu:")?.split_once(",wave=")?;
    Some(Chip {
        architecture: architecture.into(),
        wave: wave.parse().ok()?,
        target,
    })
}

/// A kernel whose every thread makes `%r` of `%x` and `%y`, all `i32`.
fn kernel(body: &str) -> String {
    format!(
        "qd.grid.kernel @main(%a: memref<?xi32>, %b: memref<?xi32>, %o: memref<?xi32>) {{
  %blocks = arith.constant 1 : index
  qd.grid.phase blocks(%blocks) threads({THREADS}) {{
    %i = qd.simt.block.thread_id
    %x = memref.load %a[%i] : memref<?xi32>
    %y = memref.load %b[%i] : memref<?xi32>
    {body}
    memref.store %r, %o[%i] : memref<?xi32>
  }}
}}"
    )
}

/// Any values, and lanes of a subgroup.
fn arguments(wave: u32) -> [Argument; 3] {
    let number = |i: usize| (i as i32 + 1).wrapping_mul(0x9E37_79B9_u32 as i32);
    let lane = |i: usize| (number(i) >> 9).rem_euclid(wave as i32);
    let all = |of: &dyn Fn(usize) -> i32| Argument {
        data: Data::I32((0..THREADS).map(of).collect()),
        expect: Expect::Same,
    };
    [all(&number), all(&lane), all(&|_| 0)]
}

fn assembly(source: &str, target: &str) -> String {
    let context = lazy_context();
    let text = Source::text("planted", source);
    let mut parsed = Parsed::new(&context, &text, &mut |_| ()).expect("a module");
    let target = target.parse().expect("a target");
    let options = CompileOptions::default();
    let made = parsed.translate(&target, &options, Emit::Assembly, &mut |_| ());
    String::from_utf8(made.expect("it compiles")).expect("assembly is text")
}

/// A code object of assembly, which says itself what it is for.
fn assembled(text: &str, chip: &Chip) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("k.s"), text).expect("written");
    let tool = |name: &str, arguments: &[&str]| {
        let tool = Path::new(env!("LLVM_SYS_221_PREFIX"))
            .join("bin")
            .join(name);
        let mut command = Command::new(tool);
        let ran = command.args(arguments).current_dir(folder.path()).output();
        let ran = ran.expect("LLVM's tools are there");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{name}: {said}\n{text}");
    };
    let cpu = format!("-mcpu={}", chip.architecture);
    let size = format!("-mattr=+wavefrontsize{}", chip.wave);
    let mut arguments = vec!["-triple=amdgcn-amd-amdhsa", &cpu, "-filetype=obj"];
    if chip.architecture != "gfx942" {
        arguments.push(&size);
    }
    arguments.extend(["k.s", "-o", "k.o"]);
    tool("llvm-mc", &arguments);
    tool("ld.lld", &["-shared", "k.o", "-o", "k.hsaco"]);
    fs::read(path("k.hsaco")).expect("made")
}

/// Runs a kernel whose code is another, and compares with the interpreter.
fn run(source: &str, assembly: &str, chip: &Chip) -> Result<(), String> {
    let mut artifact = compile_text(source, &chip.target).expect("it compiles");
    let [module] = &mut artifact.modules[..] else {
        panic!("a kernel of one phase has one module");
    };
    module.set_bytes(assembled(assembly, chip));
    let device = open(&chip.target, None).expect("a device");
    let main = Main::load(&device, &artifact).map_err(|why| why.to_string())?;
    let arguments = arguments(chip.wave);
    let held = execute(&main, &arguments)?;
    let reference = interpret(source, chip.wave, &arguments).expect("no fault");
    difference(&arguments, &reference, &held).map(|_| ())
}

/// Plants each of the defects that `plant` makes of the assembly: all must be caught, with an error
/// that says `expected`.
fn caught(test: &str, body: &str, chip: &Chip, expected: &str, plant: fn(&str) -> Vec<String>) {
    let source = kernel(body);
    let right = assembly(&source, &chip.target);
    let planted = plant(&right);
    if let Ok(number) = env::var(PLANTED) {
        let number: usize = number.parse().expect("a number");
        println!("planted: {:?}", run(&source, &planted[number], chip));
        return;
    }
    assert!(!planted.is_empty(), "nothing to replace in\n{right}");
    run(&source, &right, chip).expect("without a defect, all is right");
    for (number, wrong) in planted.iter().enumerate() {
        let mut process = Command::new(env::current_exe().expect("this test"));
        process
            .args([test, "--exact", "--nocapture"])
            .env(PLANTED, number.to_string())
            .env_remove("QD_AMD_ORACLE_COVERAGE");
        let output = process.output().expect("it runs");
        let result = String::from_utf8_lossy(&output.stdout);
        // What keeps code from being loaded is said beside the error.
        let said = format!("{result}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(
            result.contains("planted: Err(") && said.contains(expected),
            "{} does not catch this:\n{wrong}\n{said}",
            chip.target,
        );
    }
    println!("{test}: {} defects caught", planted.len());
}

/// The text with one of the lines of which `plant` makes another, for each such line.
fn one_by_one(text: &str, plant: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let with = |(at, line): (usize, &&str)| {
        let other = plant(line.trim())?;
        let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        lines[at] = other;
        Some(lines.join("\n") + "\n")
    };
    lines.iter().enumerate().filter_map(with).collect()
}

/// On RDNA3 each half of 64 lanes reads itself alone.
#[test]
fn a_plain_permute_of_64_lanes_on_rdna3() {
    let test = "a_plain_permute_of_64_lanes_on_rdna3";
    let Some(chip) = chip().filter(|c| c.architecture == "gfx1100" && c.wave == 64) else {
        return;
    };
    let body = "%r = qd.simt.shuffle idx %x, %y : i32";
    caught(test, body, &chip, "has bytes", |assembly| {
        // The move of the own half, taken for that of the whole.
        one_by_one(assembly, |line| {
            let operands = line.strip_prefix("v_cndmask_b32_e32 ")?;
            let operands: Vec<&str> = operands.split(", ").collect();
            let [to, _, own, _] = operands[..] else {
                return None;
            };
            Some(format!("\tv_mov_b32_e32 {to}, {own}"))
        })
    });
}

/// Each wait of a kernel for what it has loaded, shuffled and been given.
#[test]
fn a_wait_that_is_missing() {
    let test = "a_wait_that_is_missing";
    let Some(chip) = chip() else { return };
    let body = "%r = qd.simt.shuffle idx %x, %y : i32";
    caught(test, body, &chip, "missing s_waitcnt", |assembly| {
        let is_wait = |line: &str| {
            let waits = [
                "s_waitcnt ",
                "s_wait_loadcnt",
                "s_wait_kmcnt",
                "s_wait_dscnt",
            ];
            waits.iter().any(|wait| line.starts_with(wait))
        };
        one_by_one(assembly, |line| is_wait(line).then(String::new))
    });
}

/// CDNA leaves some distances between instructions to the compiler.
#[test]
fn a_wait_state_that_is_missing() {
    let test = "a_wait_state_that_is_missing";
    let Some(chip) = chip().filter(|c| c.architecture == "gfx942") else {
        return;
    };
    let body = "%r = qd.simt.exclusive_scan add %x : i32";
    caught(test, body, &chip, "wait state", |assembly| {
        // After a load, there is one that nothing needs.
        let lines: Vec<&str> = assembly.lines().map(str::trim).collect();
        let pairs = lines.windows(2).enumerate();
        let needed =
            pairs.filter(|(_, pair)| pair[0].starts_with("v_") && pair[1].starts_with("s_nop"));
        let without = |(at, _): (usize, &[&str])| {
            let mut lines: Vec<&str> = assembly.lines().collect();
            lines.remove(at + 1);
            lines.join("\n") + "\n"
        };
        needed.map(without).collect()
    });
}

#[test]
fn a_mask_of_32_bits_for_64_lanes() {
    let test = "a_mask_of_32_bits_for_64_lanes";
    let Some(chip) = chip().filter(|chip| chip.wave == 64) else {
        return;
    };
    let body = "%zero = arith.constant 0 : i32
    %p = arith.cmpi sgt, %x, %zero : i32
    %r = qd.simt.count_true %p";
    caught(test, body, &chip, "has bytes", |assembly| {
        one_by_one(assembly, |line| {
            let operands = line.strip_prefix("s_bcnt1_i32_b64 ")?;
            Some(format!(
                "\ts_bcnt1_i32_b32 {}",
                operands.replace("vcc", "vcc_lo")
            ))
        })
    });
}

/// Without any barrier, subgroups read what others are yet to write.
#[test]
fn barriers_that_are_missing() {
    let test = "barriers_that_are_missing";
    let Some(chip) = chip() else { return };
    let body = "%r = qd.simt.block.reduce_all add %x : i32";
    caught(test, body, &chip, "race in LDS", |assembly| {
        let lines = assembly.lines().map(str::trim_end);
        let kept = lines.filter(|line| !line.trim_start().starts_with("s_barrier"));
        let without: Vec<&str> = kept.collect();
        match without.len() < assembly.lines().count() {
            true => vec![without.join("\n") + "\n"],
            false => Vec::new(),
        }
    });
}
