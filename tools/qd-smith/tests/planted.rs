//! The defects that `cargo xtask smith planted` plants: each still fits the sources.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

fn patches() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/planted");
    let entries = folder.read_dir().expect("the folder of patches");
    let mut patches: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    patches.sort();
    patches
}

#[test]
fn every_patch_applies() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let patches = patches();
    assert!(patches.len() >= 20, "there are {} patches", patches.len());
    let mut stale = Vec::new();
    for patch in &patches {
        let output = Command::new("git")
            .current_dir(&root)
            .args(["apply", "--check"])
            .arg(patch)
            .output()
            .expect("git is installed");
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            stale.push(format!("{}\n{said}", patch.display()));
        }
    }
    assert!(
        stale.is_empty(),
        "these do not apply any more:\n{}\nMake the same mistake in the sources by hand, write \
         `git diff` behind the first line of the patch, undo it, and see it found: \
         `cargo xtask smith planted NAME`",
        stale.join("\n")
    );
}

#[test]
fn every_patch_says_what_is_wrong_and_is_small() {
    for patch in patches() {
        let name = patch.display();
        let extension = patch.extension().and_then(|e| e.to_str());
        assert_eq!(extension, Some("patch"), "{name}");
        let text = fs::read_to_string(&patch).expect("a patch is text");
        let first = text.lines().next().unwrap_or_default();
        assert!(
            first.ends_with('.') && first.contains(' '),
            "{name}: {first}"
        );
        let lines_with = |sign: &str| {
            let header = sign.repeat(3);
            let is_it = |line: &&str| line.starts_with(sign) && !line.starts_with(&header);
            text.lines().filter(is_it).count()
        };
        let lines = lines_with("+").max(lines_with("-"));
        assert!((1..=5).contains(&lines), "{name} changes {lines} lines");
    }
}
