//! Forms of algorithms: kernels that tests run, in `forms.mlir` of an algorithm's folder.
//! An algorithm with such a file is tested: each strategy is compared with the interpreter,
//! compiled for devices, and run on them.
//!
//! A kernel has one algorithm. `!T` is each of the types that a line `// ELEMENTS:` names, in turn, and
//! every capacity is tested.

use std::{fs, path::Path};

/// A kernel with elements of some type.
#[derive(Clone, Debug)]
pub struct Form {
    /// Says which it is: `unique, @firsts of i32`.
    pub name: String,
    /// Its only kernel is called so.
    pub kernel: String,
    /// A module.
    pub text: String,
}

/// All forms that there are.
pub fn all() -> Vec<Form> {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let folder = folders
        .map(|above| above.join("lowering/src/algorithms"))
        .find(|folder| folder.exists())
        .expect("the repository");
    let entries = fs::read_dir(folder).expect("a folder");
    let mut files: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path().join("forms.mlir")))
        .filter(|file| file.exists())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "there are no forms");
    files.iter().flat_map(|file| of_file(file)).collect()
}

fn of_file(file: &Path) -> Vec<Form> {
    let text = fs::read_to_string(file).expect("a file");
    let algorithm = file.parent().and_then(Path::file_name).expect("a folder");
    let algorithm = algorithm.to_string_lossy();
    let elements = text.lines().find_map(|l| l.strip_prefix("// ELEMENTS: "));
    let elements = elements.expect("a line of elements").split_whitespace();
    let kernels: Vec<_> = text.split("qd.grid.kernel @").skip(1).collect();
    let forms = elements.flat_map(|element| {
        let head = format!("!T = {element}\nqd.grid.kernel @");
        let kernels = kernels.iter();
        let form = |kernel: &&str| {
            let (name, _) = kernel.split_once('(').expect("arguments");
            Form {
                name: format!("{algorithm}, @{name} of {element}"),
                kernel: name.into(),
                text: head.clone() + kernel,
            }
        };
        kernels.map(form).collect::<Vec<_>>()
    });
    forms.collect()
}

impl Form {
    /// The same, with its kernel called otherwise.
    pub fn called(&self, kernel: &str) -> Self {
        Self {
            text: self
                .text
                .replace(&format!("@{}(", self.kernel), &format!("@{kernel}(")),
            kernel: kernel.into(),
            ..self.clone()
        }
    }

    /// The same, with another capacity, and what else the op is to say.
    pub fn with(&self, depth: u32, options: &str) -> Self {
        let all = "log256_max_n = 3\n";
        assert!(self.text.contains(all), "{}", self.text);
        let said = format!("log256_max_n = {depth} {options}\n");
        Self {
            text: self.text.replace(all, &said),
            ..self.clone()
        }
    }
}
