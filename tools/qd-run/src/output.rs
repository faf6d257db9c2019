//! Files, written all or none.

use crate::{
    bind::Argument,
    npy,
    select::{self, Selection},
};
use qd_artifact::Kernel;
use std::{
    fmt, fs,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

/// A buffer to be written.
pub struct Output {
    selection: Selection,
    path: PathBuf,
    /// As the user wrote it.
    text: String,
}

impl Output {
    /// What of which argument is written.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    fn error(&self, message: &dyn fmt::Display) -> String {
        format!("--out '{}': {message}", self.text)
    }
}

/// Reads `NAME[:K]=FILE.npy`, and looks whether the file can be written before
/// time is spent on what to write.
pub fn parse(kernel: &Kernel, texts: &[String]) -> Result<Vec<Output>, String> {
    let mut outputs: Vec<Output> = Vec::new();
    for text in texts {
        let error = |message: String| format!("--out '{text}': {message}");
        let (name, path) = text
            .split_once('=')
            .ok_or_else(|| error("expected NAME=FILE.npy".into()))?;
        let path = PathBuf::from(path);
        let selection = select::parse(kernel, name).map_err(error)?;
        let parameter = &kernel.arguments[selection.argument];
        if matches!(parameter.kind, qd_artifact::ArgumentKind::Scalar { .. }) {
            return Err(error(format!(
                "'{}' is a scalar, which the kernel does not change",
                parameter.name
            )));
        }
        if outputs.iter().any(|other| other.path == path) {
            return Err(error("another --out writes the same file".into()));
        }
        if path.is_dir() {
            return Err(error("it is a folder".into()));
        }
        if !folder(&path).is_dir() {
            return Err(error(format!(
                "there is no folder {}",
                folder(&path).display()
            )));
        }
        outputs.push(Output {
            selection,
            path,
            text: text.clone(),
        });
    }
    Ok(outputs)
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Writes them beside their places, and when all are written moves them there.
/// Yields a line about each.
pub fn write(
    outputs: &[Output],
    kernel: &Kernel,
    arguments: &[Argument],
) -> Result<Vec<String>, String> {
    let mut written = Vec::new();
    let mut lines = Vec::new();
    for output in outputs {
        let Argument::Array(array) = &arguments[output.selection.argument] else {
            continue;
        };
        let rows = output
            .selection
            .rows(kernel, arguments)
            .map_err(|e| output.error(&e))?;
        let file = temporary(&output.path)
            .and_then(|mut file| {
                let mut writer = BufWriter::new(file.as_file_mut());
                npy::write(&mut writer, array, rows)?;
                writer.flush()?;
                drop(writer);
                Ok(file)
            })
            .map_err(|e| output.error(&e))?;
        written.push((output, file));
        lines.push(format!("wrote {} rows to {}", rows, output.path.display()));
    }
    // What can fail comes first: a device or a pipe is written to, the others
    // only change their names.
    let (special, regular): (Vec<_>, Vec<_>) = written
        .into_iter()
        .partition(|(output, _)| is_special(&output.path));
    for (output, file) in special {
        fs::copy(file.path(), &output.path).map_err(|e| output.error(&e))?;
    }
    for (output, file) in regular {
        file.persist(&output.path)
            .map_err(|e| output.error(&e.error))?;
    }
    Ok(lines)
}

fn temporary(path: &Path) -> std::io::Result<NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".qd-run-");
    // What the user's umask leaves, as for any new file.
    builder.permissions(fs::Permissions::from_mode(0o666));
    if is_special(path) {
        builder.tempfile()
    } else {
        builder.tempfile_in(folder(path))
    }
}

fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file())
}
