use super::*;
use crate::{CompileRequest, Host, Machine, Source, compile, find_stored, this_machine};
use std::{fs, path::Path};

const ADDERS: &str = "
!t = memref<?xi32>
func.func @twice(%x: i32) -> i32 {
  %y = arith.addi %x, %x : i32
  return %y : i32
}
qd.grid.kernel @first(%a: !t, %n: index) {
  qd.grid.for_each \"go\" %i to %n {
    %x = memref.load %a[%i] : !t
    %y = func.call @twice(%x) : (i32) -> i32
    memref.store %y, %a[%i] : !t
  }
}
qd.grid.kernel @second(%a: !t, %n: index) {
  qd.grid.for_each \"go\" %i to %n {
    %x = memref.load %a[%i] : !t
    %y = arith.muli %x, %x : i32
    memref.store %y, %a[%i] : !t
  }
}";

const WARNED: &str = "qd.grid.kernel @k(%a: memref<?xi32>, %n: index) {
  qd.grid.for_each %i to %n {
    %x = memref.load %a[%i] : memref<?xi32>
    %zero = arith.constant 0 : i32
    %is_more = arith.constant false
    cf.assert %is_more, \"more\"
  }
}";

fn request(text: &str, targets: &[&str]) -> CompileRequest {
    let targets = targets
        .iter()
        .map(|target| target.parse().expect("a target"));
    CompileRequest {
        source: Source::text("k.mlir", text),
        targets: targets.collect(),
        ..CompileRequest::default()
    }
}

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::new(folder.path(), u64::MAX);
    (folder, store)
}

/// What comes out, what was said, and how many slices were compiled.
fn stored(
    request: &CompileRequest,
    store: &Store,
) -> (Result<Artifact, Diagnostics>, Vec<String>, usize) {
    let (mut said, mut compiled) = (Vec::new(), 0);
    let result = compile_stored(
        request,
        store,
        &mut |heard| said.push(heard.to_string()),
        &mut |_| compiled += 1,
    );
    (result, said, compiled)
}

#[test]
fn what_was_compiled_is_found_wherever_it_stands() {
    let (_folder, store) = store();
    let mut asked = request(ADDERS, &["cpu", "nvptx:sm_90"]);
    let expected = compile(&asked).expect("it compiles");
    let (first, _, compiled) = stored(&asked, &store);
    assert_eq!(first.expect("it compiles"), expected);
    assert_eq!(compiled, 4);
    let (again, _, compiled) = stored(&asked, &store);
    assert_eq!(again.expect("it compiles").to_bytes(), expected.to_bytes());
    assert_eq!(compiled, 0);
    assert_eq!(
        find_stored(&asked, &store, &mut |_| ()).expect("it is there"),
        expected
    );

    // Comments and lines are no part of it, nor are names of files or other kernels.
    let moved = format!("// Moved.\n\n{}", ADDERS.replace("\n", "\n  "));
    asked = request(&moved, &["cpu"]);
    assert_eq!(stored(&asked, &store).2, 0);
    let other = ADDERS.replace("@second", "@third");
    asked = request(&other, &["cpu"]);
    assert!(find_stored(&asked, &store, &mut |_| ()).is_none());
    assert_eq!(stored(&asked, &store).2, 1);
    // What a kernel calls is part of it.
    asked = request(&ADDERS.replace("addi", "muli"), &["cpu"]);
    assert_eq!(stored(&asked, &store).2, 1);

    asked = request(ADDERS, &["cpu"]);
    asked.kernels = Some(vec!["second".into()]);
    let (second, _, compiled) = stored(&asked, &store);
    assert_eq!(second, compile(&asked));
    assert_eq!(compiled, 0);
    asked.kernels = Some(vec!["third".into()]);
    assert_eq!(stored(&asked, &store).0, compile(&asked));
}

#[test]
fn each_input_alone_is_another_key() {
    let target = |text: &str| text.parse::<TargetSpec>().expect("a target");
    let options = Options::default();
    let k = Some(&["k".to_owned()][..]);
    let base = key("text", k, &target("cpu"), &options);
    assert!(base.is_some());
    assert_eq!(base, key("text", k, &target("cpu"), &options.clone()));
    let machine = this_machine();
    let on = |machine: &Machine| Options {
        host: Host::Named(machine.clone()),
        ..options.clone()
    };
    let (named, mut more, mut other) = (on(&machine), machine.clone(), machine);
    more.features.push("+more".into());
    other.cpu = "another".into();
    let (host, cpu) = (on(&more), on(&other));
    assert_ne!(
        key("text", k, &target("cpu"), &host),
        key("text", k, &target("cpu"), &cpu)
    );
    let l = Some(&["l".to_owned()][..]);
    for other in [
        key("text 2", k, &target("cpu"), &options),
        key("text", l, &target("cpu"), &options),
        key("text", None, &target("cpu"), &options),
        key("text", k, &target("cpu,wave=8"), &options),
        key("text", k, &target("nvptx:sm_90"), &options),
        key("text", k, &target("cpu"), &named),
        key("text", k, &target("cpu"), &host),
        key("text", k, &target("cpu"), &cpu),
    ] {
        assert!(other.is_some());
        assert_ne!(base, other);
    }
    // This machine is no part of what is for another.
    let nvptx = target("nvptx:sm_90");
    assert_eq!(
        key("text", k, &nvptx, &options),
        key("text", k, &nvptx, &host)
    );
    // Without the linker the output cannot be known.
    let amd = target("amdgpu:gfx90a");
    let with = |linker: &str| Options {
        linker: Some(linker.into()),
        ..options.clone()
    };
    assert_eq!(key("text", k, &amd, &with("/none/ld.lld")), None);
    let others = ["/bin/true", "/bin/cat"].map(|program| key("text", k, &amd, &with(program)));
    assert!(others[0].is_some() && others[0] != others[1]);
}

#[test]
fn warnings_are_said_again_at_their_new_places() {
    let (_folder, store) = store();
    let asked = request(WARNED, &["vulkan:1.3,subgroup=8"]);
    let expected =
        "k.mlir:6:5: warning: 'cf.assert' op never holds: each lane that comes here fails";
    let (_, said, compiled) = stored(&asked, &store);
    assert_eq!((said, compiled), (vec![expected.to_owned()], 1));
    let moved = WARNED.replacen('{', "{\n\n  // Two lines more.\n ", 1);
    let asked = request(&moved, &["vulkan:1.3,subgroup=8"]);
    let (_, said, compiled) = stored(&asked, &store);
    let moved = expected.replace(":6:5:", ":9:5:");
    assert_eq!((said, compiled), (vec![moved], 0));
}

#[test]
fn assertions_are_where_the_text_has_them_now() {
    let (_folder, store) = store();
    let text = WARNED.replace("arith.constant false", "arith.cmpi sgt, %x, %zero : i32");
    let moved = text.replacen('{', "{\n\n  // Two lines more.\n ", 1);
    for (text, place, expected) in [(&text, "k.mlir:6:5", 1), (&moved, "k.mlir:9:5", 0)] {
        let asked = request(text, &["cpu"]);
        let (artifact, _, compiled) = stored(&asked, &store);
        let artifact = artifact.expect("it compiles");
        assert_eq!(artifact.origins[0].sites["k"], [place]);
        assert_eq!(compiled, expected);
        let plan = artifact.kernels[0].plans[0].as_ref().expect("a plan");
        assert_eq!(plan.sites[0].text, "more");
        assert_eq!(artifact, compile(&asked).expect("it compiles"));
    }
}

#[test]
fn errors_are_those_of_the_whole_and_are_not_kept() {
    let (_folder, store) = store();
    for text in [
        &ADDERS.replace("arith.muli", "nonsense"),
        &ADDERS.replace("memref<?xi32>", "memref<?xf80>"),
        &ADDERS.replace("@twice(%x)", "@thrice(%x)"),
        &ADDERS.replace("@second", "@first"),
        // Functions alone.
        "func.func @f() -> i32 { nonsense }",
        "\"",
        "}",
    ] {
        let asked = request(text, &["cpu"]);
        for _ in 0..2 {
            let (result, _, _) = stored(&asked, &store);
            assert!(result.is_err(), "{text}");
            assert_eq!(result, compile(&asked), "{text}");
        }
        // What is wrong with another kernel is wrong with the source.
        let mut asked = asked;
        asked.kernels = Some(vec!["second".into()]);
        assert_eq!(stored(&asked, &store).0, compile(&asked), "{text}");
    }
}

#[test]
fn a_damaged_entry_is_compiled_again_and_never_used() {
    let (folder, store) = store();
    let asked = request(ADDERS, &["cpu"]);
    let expected = stored(&asked, &store).0.expect("it compiles");
    let mut entries = Vec::new();
    for shard in fs::read_dir(store.folder()).expect("a folder") {
        let shard = shard.expect("an entry").path();
        if shard.is_dir() {
            let files = fs::read_dir(shard).expect("a folder");
            entries.extend(files.map(|file| file.expect("an entry").path()));
        }
    }
    assert_eq!(
        entries.len(),
        3,
        "two kernels, and that the source is valid"
    );
    for path in &entries {
        let mut bytes = fs::read(path).expect("an entry");
        let middle = bytes.len() - 1;
        bytes[middle] ^= 1;
        fs::write(path, bytes).expect("written");
    }
    let (again, _, compiled) = stored(&asked, &store);
    assert_eq!(again.expect("it compiles"), expected);
    assert_eq!(compiled, 2);
    assert_eq!(store.troubles().len(), 3);
    // What is whole and none of ours is compiled again, too.
    let plan = Plan::of(&asked).expect("it can be kept");
    store.put(&plan.jobs[0].key, "", b"whatever");
    let (again, _, compiled) = stored(&asked, &store);
    assert_eq!((again.expect("it compiles"), compiled), (expected, 1));
    // A folder that is gone costs time alone.
    drop(folder);
    assert!(stored(&asked, &store).0.is_ok());
}

/// The sources of the repository that hold kernels and compile: the same as without a store, twice.
#[test]
fn what_comes_out_is_what_comes_out_of_the_whole() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut checked = 0;
    for folder in [
        "examples",
        "frontend/examples/kernels",
        "tests/filecheck/run",
    ] {
        let mut files: Vec<_> = fs::read_dir(root.join(folder))
            .expect("a folder")
            .map(|file| file.expect("an entry").path())
            .collect();
        files.push(root.join("examples/flights/flights.mlir"));
        files.sort();
        for path in files {
            let Ok(text) = fs::read_to_string(&path) else {
                continue;
            };
            let asked = request(&text, &["nvptx:sm_90"]);
            let Ok(expected) = compile(&asked) else {
                continue;
            };
            let (_folder, store) = store();
            for _ in 0..2 {
                let (found, _, _) = stored(&asked, &store);
                let found = found.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                assert_eq!(found.to_bytes(), expected.to_bytes(), "{}", path.display());
            }
            checked += 1;
        }
    }
    assert!(checked > 10, "{checked}");
}

#[test]
fn bodies_that_an_edit_does_not_reach_are_not_emitted_again() {
    let flights = include_str!("../../../examples/flights/flights.mlir");
    let edited = flights.replacen("arith.constant 15 : i32", "arith.constant 30 : i32", 1);
    assert_ne!(flights, edited);
    // The linker's work is kept, too.
    for target in ["cpu", "amdgpu:gfx1100"] {
        let (_folder, store) = store();
        let first = stored(&request(flights, &[target]), &store).0;
        let bodies = first.expect("it compiles").modules.len() as u64;
        let before = store.counts();
        let asked = request(&edited, &[target]);
        let found = stored(&asked, &store).0.expect("it compiles");
        let clean = compile(&asked).expect("it compiles");
        assert_eq!(found.to_bytes(), clean.to_bytes());
        let (hits, writes) = (
            store.counts().hits - before.hits,
            store.counts().writes - before.writes,
        );
        // Two entries are those of the kernel and of the whole.
        assert_eq!(hits + writes - 2, bodies, "{target}");
        assert!(
            (1..=3).contains(&(writes - 2)),
            "{target}: {writes} of {bodies}"
        );
        assert_eq!(find_stored(&asked, &store, &mut |_| ()), Some(clean));
        assert!(store.troubles().is_empty());
    }
}
