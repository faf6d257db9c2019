//! Bounding the store, and looking it over.

use crate::{Entry, PARTS, Store};
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// A file whose time says when the store was last bounded.
const SWEPT: &str = "swept";
/// It is bounded by the first process that writes something after this time.
const OFTEN: Duration = Duration::from_secs(600);
/// Parts of entries older than this were left by processes that were killed.
const LEFT_BEHIND: Duration = Duration::from_secs(3600);

/// An entry's file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    used: SystemTime,
    bytes: u64,
    path: PathBuf,
}

/// What there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// How many entries.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Store {
    /// Whether no process has bounded it of late.
    pub(crate) fn is_unswept(&self) -> bool {
        age(&self.folder.join(SWEPT)).is_none_or(|age| age > OFTEN)
    }

    /// Removes the entries that were least recently used until it is within its limit, a fifth below
    /// it so that not every writer has to. What cannot be removed stays.
    pub fn sweep(&self) {
        let _ = fs::write(self.folder.join(SWEPT), "");
        for part in files(&self.folder.join(PARTS)) {
            if age(&part).is_some_and(|age| age > LEFT_BEHIND) {
                let _ = fs::remove_file(part);
            }
        }
        let mut found = self.found();
        let mut total: u64 = found.iter().map(|entry| entry.bytes).sum();
        if total <= self.limit {
            return;
        }
        found.sort_by_key(|entry| entry.used);
        for entry in found {
            if total <= self.limit / 5 * 4 {
                break;
            }
            // Another process may have done it.
            let _ = fs::remove_file(&entry.path);
            total -= entry.bytes;
        }
    }

    fn found(&self) -> Vec<Found> {
        let of = |path: PathBuf| {
            let metadata = fs::metadata(&path).ok()?;
            Some(Found {
                used: metadata.modified().ok()?,
                bytes: metadata.len(),
                path,
            })
        };
        self.paths().into_iter().filter_map(of).collect()
    }

    /// The files of entries.
    fn paths(&self) -> Vec<PathBuf> {
        let folders = files(&self.folder).into_iter();
        let is_of_entries =
            |folder: &PathBuf| folder.file_name().is_some_and(|name| name.len() == 2);
        folders
            .filter(is_of_entries)
            .flat_map(|folder| files(&folder))
            .filter(|path| key_of(path).is_some())
            .collect()
    }

    /// How much there is.
    pub fn usage(&self) -> Usage {
        let found = self.found();
        Usage {
            entries: found.len() as u64,
            bytes: found.iter().map(|entry| entry.bytes).sum(),
        }
    }

    /// Each entry: its key, bytes and label, the last used first. Those that are damaged have no label.
    pub fn list(&self) -> Vec<(String, u64, Option<String>)> {
        let mut found = self.found();
        found.sort_by_key(|entry| std::cmp::Reverse(entry.used));
        let of = |entry: Found| {
            let label = read(&entry.path).map(|entry| entry.label);
            (digits(&entry.path), entry.bytes, label)
        };
        found.into_iter().map(of).collect()
    }

    /// Reads every entry and removes those that are damaged: how many are whole, and the others.
    pub fn verify(&self) -> (u64, Vec<PathBuf>) {
        let (mut whole, mut damaged) = (0, Vec::new());
        for path in self.paths() {
            match read(&path) {
                Some(_) => whole += 1,
                None => {
                    let _ = fs::remove_file(&path);
                    damaged.push(path);
                }
            }
        }
        (whole, damaged)
    }

    /// Removes all of it.
    ///
    /// # Errors
    ///
    /// Something cannot be removed.
    pub fn clear(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

fn read(path: &Path) -> Option<Entry> {
    Entry::from_bytes(&key_of(path)?, fs::read(path).ok()?)
}

fn digits(path: &Path) -> String {
    let name = |path: &Path| {
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    path.parent().map(name).unwrap_or_default() + &name(path)
}

/// The key that a path is of.
fn key_of(path: &Path) -> Option<[u8; 32]> {
    Some(*blake3::Hash::from_hex(digits(path)).ok()?.as_bytes())
}

/// The paths in a folder; none if it is none.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect()
}

fn age(path: &Path) -> Option<Duration> {
    fs::metadata(path).ok()?.modified().ok()?.elapsed().ok()
}
