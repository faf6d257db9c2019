//! What has been compiled, kept on disk by content: bytes under the hash of all that they follow
//! from. Processes share a folder, also those of different versions.
//!
//! The crate knows neither compilers nor artifacts and links no LLVM. It takes no locks: an entry is
//! written beside its place and renamed, so a reader finds all of it or nothing, whichever process
//! is killed meanwhile, and writers of one key write the same.
//!
//! With the feature `remote` there may be an object store behind the folder, which a team shares: what the
//! folder lacks is looked for there, and what is written is written there, too.
//!
//! Nothing here fails a compilation. What goes wrong is a [`Trouble`] to be said as a warning, and
//! the entry is compiled again.

mod entry;
mod key;
#[cfg(feature = "remote")]
mod remote;
mod sweep;

pub use entry::Entry;
pub use key::Key;
pub use sweep::Usage;

use std::{
    env,
    ffi::OsString,
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

/// The variable with the folder; empty: no store.
pub const FOLDER: &str = "QD_CACHE_DIR";
/// The variable with the most bytes of the store: `500M`, `2G`.
pub const SIZE: &str = "QD_CACHE_SIZE";
/// The most bytes unless that says otherwise.
pub const DEFAULT_SIZE: u64 = 2 << 30;

/// The variable with the URL of a store that a team shares; empty: none.
pub const REMOTE: &str = "QD_CACHE_REMOTE";

/// The folder of entries in the caches' folder. The number counts up when older readers would
/// misunderstand an entry.
const ENTRIES: &str = "store-1";
/// The folder of files that are being written.
const PARTS: &str = "parts";
/// An entry that was read is marked so, unless it was within this time.
const MARKED: Duration = Duration::from_secs(600);

/// What went wrong with the store. The compilation goes on without it.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// An entry is not what was written. It is removed.
    #[error("the cached {} is damaged: it is compiled again", .0.display())]
    Damaged(PathBuf),
    /// An entry, or the folder, cannot be read. Of several the first is said.
    #[error("the cache cannot be read: {}: {}", .0.display(), .1)]
    Unreadable(PathBuf, io::Error),
    /// Nothing can be written. It is not tried again.
    #[error("the cache cannot be written: {}: {}", .0.display(), .1)]
    Unwritable(PathBuf, io::Error),
    /// There is no such store.
    #[error("{REMOTE}={0} is not used: {1}")]
    NoRemote(String, String),
    /// It does not answer, or not as it should. It is left alone for a minute, and this is said once.
    #[error("the shared cache {0} is not used: {1}")]
    Unreachable(String, String),
    /// Nothing can be written there. It is not tried again.
    #[error("the shared cache {0} cannot be written: {1}")]
    RemoteUnwritable(String, String),
    /// An entry there is not what was written. It is written anew.
    #[error("the shared cache's {0} is damaged: it is compiled again")]
    RemoteDamaged(String),
    /// The environment names no size.
    #[error("{SIZE}={0}: expected a number of bytes, as in 500M or 2G")]
    Size(String),
}

/// How often it was asked, and had an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Entries found.
    pub hits: u64,
    /// Entries not found, or damaged.
    pub misses: u64,
    /// Entries written.
    pub writes: u64,
}

/// A folder of entries. It is made when the first is written.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    limit: u64,
    is_unwritable: AtomicBool,
    is_unreadable: AtomicBool,
    unswept: AtomicU64,
    hits: AtomicU64,
    misses: AtomicU64,
    writes: AtomicU64,
    troubles: Mutex<Vec<Trouble>>,
    #[cfg(feature = "remote")]
    remote: Option<remote::Remote>,
}

impl Store {
    /// The store in a folder of caches, with at most so many bytes.
    pub fn new(caches: impl Into<PathBuf>, limit: u64) -> Self {
        Self {
            folder: caches.into().join(ENTRIES),
            limit,
            is_unwritable: AtomicBool::new(false),
            is_unreadable: AtomicBool::new(false),
            unswept: AtomicU64::new(0),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            troubles: Mutex::default(),
            #[cfg(feature = "remote")]
            remote: None,
        }
    }

    /// With a store behind it that a team shares, `s3://BUCKET/FOLDER`. Options are those of Amazon's tools,
    /// by the names of their variables, such as `AWS_ENDPOINT_URL`. Where there is no such store, that is
    /// one of the [`troubles`](Store::troubles).
    #[cfg(feature = "remote")]
    #[must_use]
    pub fn with_remote(
        mut self,
        url: &str,
        options: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        match remote::Remote::open(url, options) {
            Ok(remote) => self.remote = Some(remote),
            Err(why) => self.say(Trouble::NoRemote(url.into(), why)),
        }
        self
    }

    #[cfg(feature = "remote")]
    fn with_remote_of_environment(self, url: &str) -> Self {
        let options = env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        self.with_remote(url, options.filter(|(name, _)| name.starts_with("AWS_")))
    }

    #[cfg(not(feature = "remote"))]
    fn with_remote_of_environment(self, url: &str) -> Self {
        let why = "this program was built without the feature `remote` of qd-store";
        self.say(Trouble::NoRemote(url.into(), why.into()));
        self
    }

    /// The store that the environment names: `QD_CACHE_DIR`, or `qd` in the user's folder of caches;
    /// none if the variable is empty, or there is no such folder. Behind it is the store that
    /// `QD_CACHE_REMOTE` names, if it does, with the options of the variables of Amazon's tools.
    pub fn of_environment() -> Option<Self> {
        let store = Self::folder_of_environment()?;
        let remote = env::var(REMOTE).unwrap_or_default();
        Some(match remote.is_empty() {
            true => store,
            false => store.with_remote_of_environment(&remote),
        })
    }

    /// Its folder, with nothing behind it.
    pub fn folder_of_environment() -> Option<Self> {
        let caches = folder_of(env::var_os(FOLDER), dirs::cache_dir())?;
        let size = env::var(SIZE).ok().filter(|text| !text.is_empty());
        let limit = size.as_deref().map(|text| (parse_size(text), text));
        let store = Self::new(
            caches,
            limit.and_then(|(size, _)| size).unwrap_or(DEFAULT_SIZE),
        );
        if let Some((None, text)) = limit {
            store.say(Trouble::Size(text.into()));
        }
        Some(store)
    }

    /// Where entries are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The most bytes that it keeps.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// What was put under a key, if it is there and whole. A damaged entry is removed.
    pub fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let found = self.read(key).or_else(|| self.read_remote(key));
        let counter = if found.is_some() {
            &self.hits
        } else {
            &self.misses
        };
        counter.fetch_add(1, Ordering::Relaxed);
        found.map(|entry| entry.contents)
    }

    fn read(&self, key: &Key) -> Option<Entry> {
        let path = self.path(key);
        let (bytes, used) = match read(&path) {
            Ok(found) => found,
            Err(error) => {
                let is_missing = error.kind() == io::ErrorKind::NotFound;
                if !is_missing && !self.is_unreadable.swap(true, Ordering::Relaxed) {
                    self.say(Trouble::Unreadable(path, error));
                }
                return None;
            }
        };
        let Some(entry) = Entry::from_bytes(key.as_bytes(), bytes) else {
            let _ = fs::remove_file(&path);
            self.say(Trouble::Damaged(path));
            return None;
        };
        mark(&path, used);
        Some(entry)
    }

    /// Looks for an entry where a team keeps them, and keeps it in the folder, too.
    #[cfg(feature = "remote")]
    fn read_remote(&self, key: &Key) -> Option<Entry> {
        let remote = self.remote.as_ref()?;
        let (_, bytes) = remote.get(std::slice::from_ref(key), self.limit).pop()?;
        self.keep(key, &bytes);
        Entry::from_bytes(key.as_bytes(), bytes)
    }

    #[cfg(not(feature = "remote"))]
    fn read_remote(&self, _: &Key) -> Option<Entry> {
        None
    }

    /// Brings entries that the folder lacks into it from where a team keeps them, many at a time, before
    /// they are asked for one by one. Without such a store nothing happens.
    #[cfg(feature = "remote")]
    pub fn fetch(&self, keys: &[Key]) {
        let Some(remote) = &self.remote else { return };
        let is_missing = |key: &&Key| !self.path(key).exists();
        let missing: Vec<Key> = keys.iter().filter(is_missing).copied().collect();
        for (key, bytes) in remote.get(&missing, self.limit) {
            self.keep(&key, &bytes);
        }
    }

    /// Does nothing without the feature `remote`.
    #[cfg(not(feature = "remote"))]
    pub fn fetch(&self, _: &[Key]) {}

    /// Keeps contents under a key. `label` says what they are to people. If that fails once, for want
    /// of space or rights, it is not tried again.
    pub fn put(&self, key: &Key, label: &str, contents: &[u8]) {
        let bytes = Entry::to_bytes(key, label, contents);
        if bytes.len() as u64 > self.limit {
            return;
        }
        self.keep(key, &bytes);
        #[cfg(feature = "remote")]
        if let Some(remote) = &self.remote {
            remote.put(key, bytes);
        }
    }

    /// Keeps an entry's file in the folder.
    fn keep(&self, key: &Key, bytes: &[u8]) {
        if self.is_unwritable.load(Ordering::Relaxed) {
            return;
        }
        let length = bytes.len() as u64;
        let path = self.path(key);
        if let Err(error) = self.write(&path, bytes) {
            self.is_unwritable.store(true, Ordering::Relaxed);
            self.say(Trouble::Unwritable(self.folder.clone(), error));
            return;
        }
        self.writes.fetch_add(1, Ordering::Relaxed);
        let unswept = self.unswept.fetch_add(length, Ordering::Relaxed) + length;
        if unswept > self.limit / 16 || self.is_unswept() {
            self.unswept.store(0, Ordering::Relaxed);
            self.sweep();
        }
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let parts = self.folder.join(PARTS);
        fs::create_dir_all(&parts)?;
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder)?;
        // In the same file system as its place. All who may read the folder may read entries.
        let mut file = tempfile::Builder::new()
            .permissions(fs::Permissions::from_mode(0o666))
            .tempfile_in(&parts)?;
        // It is not synced to disk: what a power cut takes is seen when it is read.
        io::Write::write_all(&mut file, bytes)?;
        file.persist(path).map_err(|e| e.error)?;
        Ok(())
    }

    /// Removes what was put under a key, because it is not what whoever reads it expects, though it
    /// is what was written.
    pub fn discard(&self, key: &Key) {
        let path = self.path(key);
        let _ = fs::remove_file(&path);
        #[cfg(feature = "remote")]
        if let Some(remote) = &self.remote {
            remote.discard(key);
        }
        self.say(Trouble::Damaged(path));
    }

    /// Waits until what was put is where a team keeps it, but not long. Dropping the store does so, too.
    pub fn flush(&self) {
        #[cfg(feature = "remote")]
        if let Some(remote) = &self.remote {
            remote.flush();
        }
    }

    /// What went wrong since this was last asked.
    pub fn troubles(&self) -> Vec<Trouble> {
        let mut troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        let troubles = std::mem::take(&mut *troubles);
        #[cfg(feature = "remote")]
        let troubles = match &self.remote {
            Some(remote) => troubles.into_iter().chain(remote.troubles()).collect(),
            None => troubles,
        };
        troubles
    }

    /// Prints that to standard error as warnings of a tool, after a [`flush`](Store::flush).
    pub fn print_troubles(&self, tool: &str) {
        self.flush();
        for trouble in self.troubles() {
            eprintln!("{tool}: warning: {trouble}");
        }
    }

    /// How often it was asked in this process.
    pub fn counts(&self) -> Counts {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            hits: of(&self.hits),
            misses: of(&self.misses),
            writes: of(&self.writes),
        }
    }

    fn say(&self, trouble: Trouble) {
        let mut troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        troubles.push(trouble);
    }

    fn path(&self, key: &Key) -> PathBuf {
        let digits = key.to_string();
        self.folder.join(&digits[..2]).join(&digits[2..])
    }
}

/// What is in an entry's file, and when it was last used: few calls of the system, for there are many entries.
fn read(path: &Path) -> io::Result<(Vec<u8>, io::Result<SystemTime>)> {
    let mut file = fs::File::open(path)?;
    let found = file.metadata()?;
    // Entries are replaced, and never written again. What is cut short is damaged.
    let length = usize::try_from(found.len()).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length)?;
    bytes.resize(length, 0);
    io::Read::read_exact(&mut file, &mut bytes)?;
    Ok((bytes, found.modified()))
}

/// Notes that an entry is in use, by the time of its file. A folder that cannot be written is as good to read.
fn mark(path: &Path, used: io::Result<SystemTime>) {
    let is_fresh = used.is_ok_and(|at| at.elapsed().is_ok_and(|age| age < MARKED));
    if !is_fresh && let Ok(file) = fs::File::options().append(true).open(path) {
        let _ = file.set_modified(SystemTime::now());
    }
}

/// The folder of caches, by what a variable says and the user's own.
fn folder_of(variable: Option<OsString>, users: Option<PathBuf>) -> Option<PathBuf> {
    match variable {
        Some(path) if path.is_empty() => None,
        Some(path) => Some(path.into()),
        None => Some(users?.join("qd")),
    }
}

/// `1000`, `500M`, `2G`.
fn parse_size(text: &str) -> Option<u64> {
    let (digits, factor) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        b'G' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    let number: u64 = digits.parse().ok()?;
    number.checked_mul(factor)
}

#[cfg(test)]
mod tests;
