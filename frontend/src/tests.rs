use super::*;
use objects::{Buffer, Priority};
use qd_artifact::Format;
use qd_dialects::{
    melior::{
        Context,
        ir::{Location, Module},
    },
    serialize,
};

/// A text whose kernels add a number to each element, each another number.
fn adders(names: &[&str]) -> String {
    let kernel = |(number, name): (usize, &&str)| {
        format!(
            "qd.grid.kernel @{name}(%a: memref<?xi32> {{qd.name = \"a\"}}) {{
               %zero = arith.constant 0 : index
               %n = memref.dim %a, %zero : memref<?xi32>
               %number = arith.constant {number} : i32
               qd.grid.for_each %i to %n {{
                 %x = memref.load %a[%i] : memref<?xi32>
                 %y = arith.addi %x, %number : i32
                 memref.store %y, %a[%i] : memref<?xi32>
               }}
             }}\n"
        )
    };
    names.iter().enumerate().map(kernel).collect()
}

fn request(text: &str, targets: &[&str]) -> CompileRequest {
    let targets = targets.iter().map(|target| target.parse());
    CompileRequest {
        source: Source::text("adders.mlir", text),
        targets: targets.collect::<Result<_, _>>().expect("targets"),
        ..CompileRequest::default()
    }
}

/// What is wrong with a request, a line each.
fn errors(request: &CompileRequest) -> Vec<String> {
    let diagnostics = compile(request).expect_err("nonsense compiled");
    diagnostics.iter().map(Diagnostic::to_string).collect()
}

fn names(artifact: &Artifact) -> Vec<&str> {
    let kernels = artifact.kernels.iter();
    kernels.map(|kernel| &*kernel.name).collect()
}

#[test]
fn an_error_has_its_place_and_is_said_once() {
    let shared = "memref<9999xi32, #gpu.address_space<workgroup>>";
    let shared = format!(
        "qd.grid.kernel @k(%n: index) {{
  qd.grid.phase blocks(%n) threads(64) {{
    %s = qd.simt.block.shared : {shared}
    %t = qd.simt.block.thread_id
    %x = memref.load %s[%t] : {shared}
    memref.store %x, %s[%n] : {shared}
  }}
}}"
    );
    // Of the parser, the verifier, the plan's reader and passes.
    for (text, stage, expected) in [
        (
            "func.func @f() {\n  %x = nonsense\n}",
            Stage::Parse,
            "2:8: error: custom op 'nonsense' is unknown (tried 'func.nonsense' as well)",
        ),
        (
            "func.func private @f()\nqd.grid.kernel @k() {\n  func.call @f() : () -> ()\n}",
            Stage::Parse,
            "3:3: error: 'func.call' op is not legal at the top level of a kernel: only phases, \
             algorithms, 'qd.grid.do_while', 'qd.grid.if' and arithmetic that the host can \
             evaluate are",
        ),
        (
            "qd.grid.kernel @k(%a: memref<?xf80>) {}",
            Stage::Lower,
            "1:1: error: 'qd.grid.kernel' op argument 0 is of type 'memref<?xf80>', which no \
             kernel takes: expected elements of i1, i8, i16, i32, i64, f16, bf16, f32, f64, index",
        ),
        (
            &shared,
            Stage::Lower,
            "3:10: error: 'qd.simt.block.shared' op makes the block's shared memory 39996 bytes, \
             but target 'vulkan:1.3' has 16384",
        ),
    ] {
        let request = request(text, &["vulkan:1.3,subgroup=8", "vulkan:1.3", "cpu"]);
        let diagnostics = compile(&request).expect_err("nonsense compiled");
        assert_eq!(diagnostics.to_string(), format!("adders.mlir:{expected}"));
        assert_eq!(diagnostics[0].stage, stage);
    }
}

#[test]
fn a_warning_is_said_once_for_all_targets() {
    let text = "qd.grid.kernel @k(%a: memref<?xi32>, %n: index) {
  qd.grid.for_each %i to %n {
    %x = memref.load %a[%i] : memref<?xi32>
    %zero = arith.constant 0 : i32
    %is_more = arith.constant false
    cf.assert %is_more, \"more\"
  }
}";
    let request = request(text, &["vulkan:1.3,subgroup=8", "vulkan:1.3,subgroup=16"]);
    let mut said = Vec::new();
    let compiled = compile_with(&request, &mut |said_now| said.push(said_now.clone()));
    assert_eq!(compiled.expect("it compiles").targets.len(), 2);
    let [warning] = &said[..] else {
        panic!("{said:?}");
    };
    assert_eq!(
        (warning.severity, warning.stage),
        (Severity::Warning, Stage::Lower)
    );
    assert_eq!(
        warning.to_string(),
        "adders.mlir:6:5: warning: 'cf.assert' op never holds: each lane that comes here fails"
    );
}

#[test]
fn unknown_targets_are_errors() {
    let Err(error) = Program::compile("module {}", "abacus") else {
        panic!("there is no such target");
    };
    assert!(error.to_string().contains("abacus"), "{error}");

    let all = errors(&request(
        "nonsense",
        &["abacus", "cpu", "cpu,wave=5", "cpu"],
    ));
    let known = "any, cpu, nvptx:sm_80, nvptx:sm_90, nvptx:sm_100, amdgpu:gfx90a, amdgpu:gfx942, \
                 amdgpu:gfx1100, amdgpu:gfx1201, vulkan:1.3, metal";
    assert_eq!(
        all,
        [
            format!("error: unknown target 'abacus': expected one of {known}"),
            "error: target 'cpu' has no wave of '5': expected one of 4, 8, 16, 32, 64".into(),
        ]
    );
    assert_eq!(errors(&request("", &[])), ["error: no target is asked for"]);
    let why = compile_text("", "cpu,").expect_err("an empty option");
    assert_eq!(why[0].stage, Stage::Request);
}

#[test]
fn an_artifact_has_a_plan_and_code_for_each_target() {
    let targets = ["nvptx:sm_90", "vulkan:1.3,subgroup=8", "cpu,wave=8"];
    let twice = [targets[0], targets[1], targets[0], targets[2], targets[2]];
    let artifact = compile(&request(&adders(&["none", "one"]), &twice)).expect("it compiles");
    let artifact = Artifact::from_bytes(artifact.to_bytes()).expect("it is one");
    assert_eq!(artifact.targets, targets);
    let modules = artifact.modules.iter();
    let modules: Vec<_> = modules
        .map(|m| (m.target, m.format, m.bodies[0].wave))
        .collect();
    // A module for each body.
    let of = [
        (0, Format::Ptx, 32),
        (1, Format::Spirv, 8),
        (2, Format::Object, 8),
    ];
    assert_eq!(modules, of.map(|module| [module; 2]).as_flattened());
    for kernel in &artifact.kernels {
        assert!(kernel.plans.iter().all(Option::is_some) && kernel.plans.len() == 3);
    }

    // A device takes the one that is for it.
    let device = open("cpu").expect("a cpu");
    let kernel = device.load(&artifact).and_then(|e| e.kernel("one"));
    let stream = device.stream(Priority::Normal).expect("a stream");
    let a = Buffer::from_slice(&stream, &[1, 2, 3]).expect("memory");
    let launched = kernel.and_then(|kernel| kernel.launch(&stream, &args![&a]));
    launched.expect("it runs");
    assert_eq!(a.to_vec::<i32>(&stream).expect("read"), [2, 3, 4]);
}

#[test]
fn an_artifact_that_lacks_the_devices_target_is_refused_by_name() {
    let artifact = compile_text(&adders(&["k"]), "nvptx:sm_90").expect("it compiles");
    let loaded = open("cpu").expect("a cpu").load(&artifact);
    let error = loaded.err().expect("no code for it").to_string();
    let expected = "the artifact is for target 'nvptx:sm_90', not for cpu";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn only_the_kernels_that_are_named_are_compiled() {
    let text = adders(&["none", "one", "two"]);
    let mut request = request(&text, &["cpu", "nvptx:sm_90"]);
    let all = compile(&request).expect("it compiles");
    assert_eq!(names(&all), ["none", "one", "two"]);

    request.kernels = Some(vec!["two".into()]);
    let two = compile(&request).expect("it compiles");
    assert_eq!(names(&two), ["two"]);
    assert_eq!((all.modules.len(), two.modules.len()), (6, 2));
    // The same, whatever it is compiled with.
    assert_eq!(all.kernels[2], two.kernels[0]);
    assert_eq!(all.modules[2], two.modules[0]);
    assert_eq!(all.modules[5], two.modules[1]);

    request.kernels = Some(vec!["three".into()]);
    let expected = "error: there is no kernel 'three': the module has none, one, two";
    assert_eq!(errors(&request), [expected]);
    // Before anything else is looked at that could be wrong with them.
    assert_eq!(
        compile(&request).expect_err("none")[0].stage,
        Stage::Request
    );
}

/// Kernels of phases, each with a number that it adds to an element from elsewhere, so that no
/// two of them become one.
fn turners(kernels: &[(&str, &[u32])]) -> String {
    let phase = |number: &u32| {
        format!(
            "%v{number} = arith.constant {number} : i32
             qd.grid.for_each \"turn\" %i to %n {{
               %j = arith.subi %n, %i : index
               %x = memref.load %a[%j] : memref<?xi32>
               %y = arith.addi %x, %v{number} : i32
               memref.store %y, %a[%i] : memref<?xi32>
             }}\n"
        )
    };
    let kernel = |(name, phases): &(&str, &[u32])| {
        let phases: String = phases.iter().map(phase).collect();
        format!("qd.grid.kernel @{name}(%a: memref<?xi32>, %n: index) {{ {phases} }}\n")
    };
    kernels.iter().map(kernel).collect()
}

fn bodies(artifact: &Artifact) -> Vec<&str> {
    let bodies = artifact.modules.iter().flat_map(|module| &module.bodies);
    bodies.map(|body| &*body.name).collect()
}

#[test]
fn bodies_are_shared_within_a_kernel_and_meet_across_kernels() {
    for target in ["cpu", "nvptx:sm_90", "vulkan:1.3,subgroup=8"] {
        let compiled = |text: &str| compile_text(text, target).expect("it compiles");
        // Phases that add different numbers are one body with the number as an argument.
        let alone = compiled(&turners(&[("k", &[1, 2])]));
        assert_eq!(alone.modules.len(), 1, "{target}");
        // Another kernel's is the same, and one whose number is always the same is not.
        let text = turners(&[("j", &[3]), ("l", &[7, 4]), ("k", &[1, 2])]);
        let beside = compiled(&text);
        assert_eq!(beside.modules.len(), 2, "{target}");
        assert_eq!(alone.kernels[0], beside.kernels[2], "{target}");
        assert!(beside.modules.contains(&alone.modules[0]), "{target}");
        let name = bodies(&alone)[0];
        let digits = name.strip_prefix("turn_").expect("the phase's name");
        assert!(digits.len() == 12 && digits.bytes().all(|b| b.is_ascii_hexdigit()));
        // Where it is written changes nothing.
        let moved = compiled(&format!("// A comment.\n\n{}", turners(&[("k", &[1, 2])])));
        assert_eq!(
            (moved.kernels, moved.modules),
            (alone.kernels, alone.modules),
            "{target}"
        );
    }
    // The size of subgroups does.
    let names = |target: &str| {
        let artifact = compile_text(&turners(&[("k", &[1])]), target);
        bodies(&artifact.expect("it compiles"))[0].to_string()
    };
    assert_ne!(names("cpu,wave=8"), names("cpu,wave=16"));
}

#[test]
fn text_bytecode_and_modules_are_the_same_to_it() {
    let text = adders(&["k"]);
    let mut request = request(&text, &["cpu"]);
    let expected = compile(&request).expect("it compiles");

    let context = context();
    let parsed = Parsed::new(&context, &request.source, &mut |_| ()).expect("it parses");
    let bytes = serialize::bytecode(parsed.module()).expect("it has a binary form");
    let module = module_bytes(parsed.module()).expect("it is of our context");
    for source in [
        Source::Bytecode(bytes.clone().into()),
        module.into(),
        Source::File {
            path: "k.mlirbc".into(),
            bytes: bytes.into(),
        },
    ] {
        request.source = source;
        assert_eq!(compile(&request).expect("it compiles"), expected);
    }
}

#[test]
fn bytecode_of_another_version_says_so() {
    let context = context();
    let parsed = Parsed::new(&context, &Source::default(), &mut |_| ()).expect("it is empty");
    let mut bytes = serialize::bytecode(parsed.module()).expect("it has a binary form");
    bytes[4] = (99 << 1) | 1;
    let mut request = request("", &["cpu"]);
    request.source = Source::Bytecode(bytes.into());
    let error = errors(&request).remove(0);
    let begin = "<bytecode>:0:0: error: bytecode of version 99 (made by MLIR";
    assert!(error.starts_with(begin), "{error}");
    let end = "); this reads versions up to 6: write it again";
    assert!(error.ends_with(end), "{error}");
}

#[test]
fn what_is_no_module_is_said_once() {
    let request_of = |bytes: &[u8]| CompileRequest {
        source: Source::Bytecode(bytes.into()),
        targets: vec!["cpu".parse().expect("a target")],
        ..CompileRequest::default()
    };
    let artifact = compile(&request(&adders(&["k"]), &["cpu"])).expect("it compiles");
    for (bytes, expected) in [
        (
            &artifact.to_bytes()[..],
            "<bytecode>:0:0: error: is an artifact, which has been compiled: give its module",
        ),
        (b"\xFF\xFE", "<bytecode>:1:1: error: unexpected character"),
        (
            b"ML\xEFR",
            "<bytecode>:0:0: error: attempting to parse a byte at the end of the bytecode",
        ),
    ] {
        assert_eq!(errors(&request_of(bytes)), [expected]);
    }
    let why = Source::read("/nowhere.mlir".as_ref()).expect_err("there is none");
    assert_eq!(
        why.to_string(),
        "error: /nowhere.mlir: there is no such file"
    );
    let why = Source::read("/".as_ref()).expect_err("it cannot be read");
    assert_eq!(why.to_string(), "error: /: it is a folder");
}

#[test]
fn a_source_without_kernels_is_warned_of() {
    let mut said = Vec::new();
    let compiled = compile_with(&request("", &["cpu"]), &mut |d| said.push(d.to_string()));
    assert_eq!(names(&compiled.expect("it compiles")), [""; 0]);
    assert_eq!(said, ["warning: there is no kernel: nothing can be run"]);
}

#[test]
fn a_module_of_a_context_that_lacks_our_dialect_is_refused() {
    let foreign = Context::new();
    foreign.set_allow_unregistered_dialects(true);
    let text =
        "module { \"qd.grid.kernel\"() ({}) {sym_name = \"k\"} : () -> () loc(\"k.py\":3:4) }";
    let module = Module::parse(&foreign, text).expect("it is taken for anything");
    let error = module_bytes(&module).expect_err("it is not ours");
    assert_eq!(error[0].stage, Stage::Request);
    assert_eq!(
        error.to_string(),
        "k.py:3:4: error: 'qd.grid.kernel' is of a dialect that the module's context does not \
         know: build modules in a context of qd_frontend::context()"
    );
    let ours = context();
    assert!(module_bytes(&Module::new(Location::unknown(&ours))).is_ok());
    // To ask does not teach it.
    assert!(module_bytes(&module).is_err());
}

#[test]
fn the_machine_is_what_the_request_says() {
    let mut request = request(&adders(&["k"]), &["cpu"]);
    let mut machine = this_machine();
    machine.features = vec!["-avx512f".into()];
    machine.cpu = match machine.triple.starts_with("x86_64") {
        true => "x86-64-v2".into(),
        false => "generic".into(),
    };
    request.options.host = Host::Named(machine.clone());
    let artifact = compile(&request).expect("it compiles");
    let needs = &artifact.kernels[0].plans[0].as_ref().expect("a plan").needs;
    assert_eq!(needs.device, machine.cpu);
    assert_eq!(needs.features, [""; 0]);
}
