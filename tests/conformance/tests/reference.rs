//! The programs of the reference: each file of `examples/reference/` on a target, compared with
//! the interpreter and with the result that the reference states.
//!
//! A file's header is a call of qd-run and what that prints, as its README says.

use qd_artifact::{Argument as Declared, ArgumentKind, Dtype, Role, Values};
use qd_conformance::{
    Argument, Data, Expect, Subject, interpret, is_vulkan, load_for, report, waves,
};
use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

/// What a file's header says.
#[derive(Default)]
struct Header {
    /// The block of the reference that it is.
    block: String,
    /// The least subgroup that has its clusters.
    lanes: u32,
    /// `--arg`s, by name.
    given: HashMap<String, String>,
    /// What is printed, by name: its first elements.
    stated: Vec<(String, Vec<String>)>,
}

/// The words of a command line, without their quotes.
fn words(line: &str) -> Vec<String> {
    let quoted = line.split('\'').enumerate();
    let words = quoted.flat_map(|(i, part)| match i % 2 {
        0 => part.split_whitespace().map(String::from).collect(),
        _ => vec![part.to_string()],
    });
    words.collect()
}

/// `[1, 2]` or `1`.
fn list(text: &str) -> Vec<String> {
    let inside = text.trim().trim_start_matches('[').trim_end_matches(']');
    let items = inside.split(',').map(|item| item.trim().to_string());
    items.filter(|item| !item.is_empty()).collect()
}

impl Header {
    fn of(source: &str) -> Self {
        let mut header = Self::default();
        let comments = source.lines().map_while(|line| line.strip_prefix("//"));
        // A command goes on in the next line behind a backslash.
        let text = comments.collect::<Vec<_>>().join("\n").replace("\\\n", " ");
        for line in text.lines().map(str::trim) {
            if let Some(block) = line.strip_prefix("Reference: ") {
                header.block = block.into();
            } else if let Some(rest) = line.strip_prefix("Needs subgroups of ") {
                let lanes = rest.split_whitespace().next().and_then(|n| n.parse().ok());
                header.lanes = lanes.expect("a number of lanes");
            } else if let Some(command) = line.strip_prefix("$ qd-run ") {
                let words = words(command);
                for pair in words.windows(2).filter(|pair| pair[0] == "--arg") {
                    let (name, value) = pair[1].split_once('=').expect("NAME=VALUE");
                    header.given.insert(name.into(), value.into());
                }
                let printed = words.windows(2).filter(|pair| pair[0] == "--print");
                header.stated = printed.map(|pair| (pair[1].clone(), Vec::new())).collect();
            } else if let Some((name, value)) = line.split_once(" = ") {
                let stated = header.stated.iter_mut().find(|(n, _)| n == name);
                if let Some((_, values)) = stated {
                    *values = list(value);
                }
            }
        }
        for (name, values) in &mut header.stated {
            assert!(!values.is_empty(), "the header does not say what {name} is");
            if let Some((all, _)) = name.split_once('[') {
                *name = all.into();
            }
        }
        header
    }
}

/// The lengths of the arguments there are, for those of others.
struct Lengths<'a>(&'a [Option<Argument>]);

impl Values for Lengths<'_> {
    fn scalar(&self, _: usize) -> u64 {
        0
    }

    fn length(&self, argument: usize, _: usize) -> u64 {
        let given = self.0[argument].as_ref();
        given.map_or(0, |argument| argument.data.len() as u64)
    }
}

/// A number as qd-run takes it.
fn number(text: &str) -> f64 {
    let hexadecimal = text.strip_prefix("0x");
    let value = hexadecimal.map(|digits| u64::from_str_radix(digits, 16).map(|bits| bits as f64));
    let value = value.unwrap_or_else(|| Ok(text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))));
    value.unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// `iota[4]`, `zeros[4]`, `const(7)[4]`, a list or a number.
fn values(text: &str) -> Vec<f64> {
    let Some((generator, length)) = text.strip_suffix(']').and_then(|t| t.split_once('[')) else {
        return vec![number(text)];
    };
    let constant = generator.strip_prefix("const(");
    match (generator, constant.and_then(|text| text.strip_suffix(')'))) {
        ("", _) => list(text).iter().map(|item| number(item)).collect(),
        ("iota", _) => (0..length.parse().expect("a length"))
            .map(f64::from)
            .collect(),
        ("zeros", _) => vec![0.0; length.parse().expect("a length")],
        (_, Some(constant)) => vec![number(constant); length.parse().expect("a length")],
        _ => panic!("unknown generator {generator}"),
    }
}

/// An integer as `i32`, which `u32` is printed beyond.
fn word(value: f64) -> i32 {
    value as i64 as i32
}

fn data(dtype: Dtype, shape: &[Option<u64>], values: &[f64]) -> Data {
    match (dtype, shape) {
        (Dtype::I32 | Dtype::U32, []) => Data::Count(word(values[0])),
        (Dtype::I32 | Dtype::U32, _) => Data::I32(values.iter().map(|v| word(*v)).collect()),
        (Dtype::I64 | Dtype::U64, _) => Data::I64(values.iter().map(|v| *v as i64).collect()),
        (Dtype::F32, [_]) => Data::F32(values.iter().map(|v| *v as f32).collect()),
        _ => panic!("no example has {dtype} of this rank"),
    }
}

/// An argument; none while others' lengths are missing.
fn argument(header: &Header, declared: &Declared, made: &[Option<Argument>]) -> Option<Argument> {
    let given = header.given.get(&declared.name).map(|text| values(text));
    let (dtype, shape) = match &declared.kind {
        ArgumentKind::Scalar { dtype: Dtype::I32 } => {
            let given = given.expect("numbers are given");
            return Some(Argument {
                data: Data::Number(word(given[0])),
                expect: Expect::Same,
            });
        }
        ArgumentKind::Scalar { dtype } => panic!("no example has numbers that are {dtype}"),
        ArgumentKind::Buffer { dtype, shape } => (*dtype, shape),
    };
    let expect = match (declared.role, dtype) {
        (Role::Scratch, _) => Expect::Scratch,
        _ if given.is_none() => Expect::Written,
        (_, Dtype::F32) if is_vulkan() => Expect::Device {
            units: 4,
            or_zero: false,
        },
        _ => Expect::Same,
    };
    let values = given.or_else(|| {
        let length = match (shape.first(), &declared.length) {
            (None, _) => 1,
            (Some(Some(extent)), _) => *extent,
            (Some(None), Some(length)) => length.evaluate(&Lengths(made)).expect("a length"),
            (Some(None), None) => panic!("nothing says how long {} is", declared.name),
        };
        (length > 0).then(|| vec![0.0; length as usize])
    })?;
    Some(Argument {
        data: data(dtype, shape, &values),
        expect,
    })
}

/// The kernel's arguments: as given, or as long as it needs them.
fn arguments(header: &Header, declared: &[Declared]) -> Vec<Argument> {
    for name in header.given.keys() {
        let is_known = declared.iter().any(|declared| declared.name == *name);
        assert!(is_known, "the kernel has no argument {name}");
    }
    let mut made: Vec<Option<Argument>> = declared.iter().map(|_| None).collect();
    for _ in 0..declared.len() {
        for (i, declared) in declared.iter().enumerate() {
            if made[i].is_none() {
                made[i] = argument(header, declared, &made);
            }
        }
    }
    let names = declared.iter().map(|declared| &declared.name);
    let all = names.zip(made);
    all.map(|(name, made)| made.unwrap_or_else(|| panic!("nothing says how long {name} is")))
        .collect()
}

/// That the interpreter's results are those that the reference states.
fn stated(header: &Header, declared: &[Declared], results: &[qd_interp::Argument]) {
    for (name, expected) in &header.stated {
        let at = declared.iter().position(|declared| declared.name == *name);
        let at = at.unwrap_or_else(|| panic!("the kernel has no argument {name}"));
        let buffer = results[at].buffer().expect("a buffer");
        for (i, text) in expected.iter().enumerate() {
            assert!(buffer.is_initialised(i), "{name}[{i}] is not written");
            let bits = &buffer.data[i * buffer.element.bytes()..][..buffer.element.bytes()];
            let wanted = number(text);
            let wanted = match buffer.element {
                qd_interp::Element::F32 => (wanted as f32).to_le_bytes().to_vec(),
                qd_interp::Element::I64 => (wanted as i64).to_le_bytes().to_vec(),
                _ => word(wanted).to_le_bytes().to_vec(),
            };
            assert_eq!(
                bits, wanted,
                "{name}[{i}] is not {text}, as the reference says"
            );
        }
    }
}

fn check(source: &str) -> String {
    let header = Header::of(source);
    assert!(
        !header.block.is_empty(),
        "the header names no block of the reference"
    );
    assert!(!header.stated.is_empty(), "the header prints nothing");
    for wave in waves() {
        let main = match load_for(source, *wave) {
            None => continue,
            Some(Ok(main)) => main,
            // Clusters that the subgroup has no room for are an error, which says so.
            Some(Err(why)) if *wave < header.lanes && why.contains("lanes") => continue,
            Some(Err(why)) => panic!("{why}"),
        };
        assert!(
            *wave >= header.lanes,
            "it runs with subgroups of {wave} lanes"
        );
        let declared = main.kernel().signature();
        let arguments = arguments(&header, declared);
        let results = interpret(source, *wave, &arguments).unwrap_or_else(|why| panic!("{why}"));
        stated(&header, declared, &results);
        Subject::new(source).check(*wave, &arguments, &header.block);
    }
    header.block
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut all = Vec::new();
    for entry in entries {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false if path.extension().is_some_and(|e| e == "mlir") => all.push(path),
            false => {}
        }
    }
    all.sort();
    all
}

/// Where the examples are.
fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// No test runs code for Metal. That there is some does not depend on the target under test.
#[test]
fn programs_translate_for_metal() {
    let folders = ["reference", "flights", "c"];
    for path in folders
        .map(|folder| files(&examples().join(folder)))
        .concat()
    {
        let source = fs::read_to_string(&path).expect("a file");
        for target in ["metal", "metal,checked"] {
            if let Err(error) = qd_frontend::compile_text(&source, target) {
                panic!("{}, {target}: {error}", path.display());
            }
        }
    }
}

#[test]
fn programs_of_the_reference() {
    let folder = examples().join("reference");
    let mut blocks = HashMap::new();
    let all = files(&folder);
    assert!(!all.is_empty(), "there are examples");
    for path in all {
        // The panic's message has no name of the file.
        println!("{}", path.display());
        let source = fs::read_to_string(&path).expect("a file");
        let block = check(&source);
        if let Some(other) = blocks.insert(block, path.clone()) {
            panic!(
                "{} is the same block as {}",
                path.display(),
                other.display()
            );
        }
    }
    report("programs of the reference");
}
