//! Artifacts of what has been compiled before: without the compiler, by several processes at once, after edits of one
//! phase, and where the cache is not what it should be.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

const FLIGHTS: &str = include_str!("../../../examples/flights/flights.mlir");

const DOUBLE: &str = "qd.grid.kernel @double(%a: memref<?xi32>, %n: index) {
  qd.grid.for_each %i to %n {
    %x = memref.load %a[%i] : memref<?xi32>
    %y = arith.addi %x, %x : i32
    memref.store %y, %a[%i] : memref<?xi32>
  }
}";

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_qd-translate"))
}

/// A folder with a module, in which the tool runs.
struct Place(tempfile::TempDir);

impl Place {
    fn new(text: &str) -> Self {
        let place = Self(tempfile::tempdir().expect("a folder"));
        place.save(text);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn save(&self, text: &str) {
        fs::write(self.path("k.mlir"), text).expect("it is written");
    }

    /// The tool, whose output is a file of that name.
    fn command(&self, program: &Path, output: &str, more: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.0.path())
            .args(["k.mlir", "-o", output])
            .args(more)
            .env("QD_CACHE_DIR", self.path("cache"))
            .env("QD_CACHE_REMOTE", "")
            .stdin(Stdio::null());
        command
    }

    /// What comes out of it, and what is said.
    fn run(&self, program: &Path, more: &[&str]) -> (Vec<u8>, String) {
        let output = self
            .command(program, "out", more)
            .output()
            .expect("it runs");
        (self.made("out"), said(&output))
    }

    fn made(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("it is there")
    }

    /// Without a cache.
    fn clean(&self) -> Vec<u8> {
        self.run(program(), &["--no-cache"]).0
    }
}

fn said(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    said
}

#[test]
fn the_compiler_is_loaded_where_there_is_something_to_compile() {
    let place = Place::new(DOUBLE);
    let loaded = |more: &[&str]| {
        let mut command = place.command(program(), "out", more);
        // The loader says which files it opens.
        let said = said(&command.env("LD_DEBUG", "files").output().expect("it runs"));
        assert!(said.contains("libc.so"), "the loader says nothing: {said}");
        let loaded = ["libLLVM", "libMLIR"].map(|name| said.contains(name));
        (place.made("out"), loaded)
    };
    let (first, is_loaded) = loaded(&[]);
    assert_eq!(is_loaded, [true; 2]);
    let (again, is_loaded) = loaded(&[]);
    assert_eq!(is_loaded, [false; 2]);
    assert_eq!(first, again);
    assert_eq!(place.clean(), first);
    let two = ["--target=cpu", "--target=nvptx:sm_90"];
    assert_eq!(loaded(&two).1, [true; 2]);
    assert_eq!(loaded(&two).1, [false; 2]);
    assert_eq!(loaded(&["--emit=asm"]).1, [true; 2]);
}

#[test]
fn processes_that_write_one_store_at_once_make_what_a_clean_build_does() {
    let place = Place::new("");
    let mut last = Vec::new();
    for minutes in [15, 20, 30, 45] {
        // Bodies that a process before has made, and bodies that all make.
        let edited = format!("arith.constant {minutes} : i32");
        place.save(&FLIGHTS.replacen("arith.constant 15 : i32", &edited, 1));
        let names = ["first", "second", "third"];
        let processes = names.map(|name| {
            let mut command = place.command(program(), name, &[]);
            command.stderr(Stdio::piped()).spawn().expect("it starts")
        });
        for process in processes {
            let output = process.wait_with_output().expect("it ends");
            assert_eq!(said(&output), "");
        }
        let clean = place.clean();
        for name in names {
            assert!(place.made(name) == clean, "{name} of {minutes}");
        }
        let (found, _) = place.run(program(), &[]);
        assert!(found == clean, "{minutes}");
        assert_ne!(clean, last);
        last = clean;
    }
    let cache = place.path("cache/store-1/parts");
    assert_eq!(fs::read_dir(cache).expect("a folder").count(), 0);
}

/// How often each body was converted is what the trace says of the pass that does so.
#[test]
fn bodies_that_are_kept_are_not_converted_again() {
    const CONVERSION: &str = "\"qd-convert-to-cpu\"";
    let place = Place::new(FLIGHTS);
    let conversions = || {
        place.run(program(), &["--trace=trace.json"]);
        let trace = String::from_utf8(place.made("trace.json")).expect("a text");
        let begins = |line: &&str| line.contains(CONVERSION) && line.contains("\"ph\":\"B\"");
        trace.lines().filter(begins).count()
    };
    let bodies = conversions();
    assert!(bodies > 5, "{bodies}");
    let edited = FLIGHTS.replacen("arith.constant 15 : i32", "arith.constant 30 : i32", 1);
    place.save(&edited);
    assert_eq!(conversions(), 1, "of {bodies}");
    place.save(&edited.replacen("arith.constant 30", "// A comment.\n arith.constant 30", 1));
    assert_eq!(conversions(), 0);
}

/// A device that is full, by a limit of the size of files: writing fails, and its signal is ignored.
#[test]
fn where_there_is_no_space_that_is_a_warning() {
    let place = Place::new(DOUBLE);
    let clean = place.clean();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""])
        .arg(program())
        .args(["k.mlir", "-o", "-"])
        .current_dir(place.0.path())
        .env("QD_CACHE_DIR", place.path("cache"))
        .env("QD_CACHE_REMOTE", "")
        .stdin(Stdio::null());
    let output = shell.output().expect("it runs");
    assert!(output.stdout == clean);
    let said = said(&output);
    assert_eq!(said.matches("warning: ").count(), 1, "{said}");
    let expected = "qd-translate: warning: the cache cannot be written: ";
    assert!(said.starts_with(expected), "{said}");
    // Nothing is left that is not whole.
    let (found, said) = place.run(program(), &[]);
    assert!(found == clean && said.is_empty(), "{said}");
}

/// Another version is this one with other hashes of its sources: the programs are copied, and edited.
#[test]
fn versions_share_a_folder_and_find_their_own() {
    let place = Place::new(DOUBLE);
    let clean = place.clean();
    let other = place.path("other");
    fs::create_dir(&other).expect("a folder");
    let sources = qd_request::sources().as_bytes();
    let mut changed = sources.to_vec();
    changed[0] = if sources[0] == b'0' { b'1' } else { b'0' };
    for name in ["qd-translate", "qd-translate-compile"] {
        let mut bytes = fs::read(program().with_file_name(name)).expect("a program");
        let places: Vec<usize> = (0..bytes.len().saturating_sub(sources.len()))
            .filter(|at| bytes[*at..].starts_with(sources))
            .collect();
        assert!(!places.is_empty(), "{name} has no hash of its sources");
        for at in places {
            bytes[at..at + changed.len()].copy_from_slice(&changed);
        }
        let path = other.join(name);
        fs::copy(program().with_file_name(name), &path).expect("it is copied");
        fs::write(&path, bytes).expect("it is written");
    }
    let other = other.join("qd-translate");
    // How many entries there are after each has run.
    let entries = || {
        let shards = fs::read_dir(place.path("cache/store-1")).expect("a folder");
        let shards = shards.map(|shard| shard.expect("a folder").path());
        let files = shards
            .filter(|path| path.is_dir())
            .map(|path| fs::read_dir(path).expect("it").count());
        files.sum::<usize>()
    };
    let mut counts = Vec::new();
    for program in [program(), &other, program(), &other] {
        let (made, said) = place.run(program, &[]);
        assert!(made == clean && said.is_empty(), "{said}");
        counts.push(entries());
    }
    let [first, second, ..] = counts[..] else {
        unreachable!("four runs")
    };
    assert_eq!(counts, [first, second, second, second]);
    assert_eq!(second, 2 * first);
}
