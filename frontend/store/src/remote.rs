//! A store that a team shares, behind the folder: an object store such as Amazon's.
//!
//! Objects are files of entries, under the names that they have in the folder. An object is put if there
//! is none, which such stores do at once or not at all, so that writers need no locks. What is read is
//! checked as a file is.
//!
//! A request is waited for [`PATIENCE`] at most, and a store that does not answer, or says that
//! something is wrong, is left alone for [`REST`]: a compilation without it is quicker than one that
//! waits. Writes are waited for only at the end.

use crate::{Entry, Key, Trouble};
use object_store::{
    Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions, RetryConfig, aws::AmazonS3Builder,
    path::Path,
};
use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};
use tokio::{runtime::Runtime, sync::Semaphore};

/// A request is waited for at most so long.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// Many of them together, and what is still to be written in the end.
const PATIENCE_FOR_MANY: Duration = Duration::from_secs(10);
/// A store that failed is not asked again for so long.
const REST: Duration = Duration::from_secs(60);
/// An object that is not there is not asked for again for so long.
const ABSENT: Duration = Duration::from_secs(10);
/// So many requests are under way at a time.
const AT_A_TIME: usize = 32;

/// It is not known whether there is such an object.
struct NotRead;

/// What is shared with requests that are under way.
#[derive(Debug)]
struct Shared {
    store: Box<dyn ObjectStore>,
    url: String,
    at_a_time: Semaphore,
    /// Until when it is not asked.
    rests: Mutex<Option<Instant>>,
    is_unreachable_said: AtomicBool,
    is_unwritable: AtomicBool,
    /// Writes that are not over.
    writes: Mutex<usize>,
    written: Condvar,
    troubles: Mutex<Vec<Trouble>>,
}

/// An object store.
#[derive(Debug)]
pub struct Remote {
    shared: Arc<Shared>,
    folder: Path,
    /// Objects that were not there, and when that was: a caller that asked for many at a time asks
    /// for one by one next.
    absent: Mutex<HashMap<Key, Instant>>,
    /// Objects that were not what was written: they are written anew.
    damaged: Mutex<HashSet<Key>>,
    /// None once it is dropped.
    runtime: Option<Runtime>,
}

impl Remote {
    /// The store that a URL names: `s3://BUCKET/FOLDER`. Options are those of Amazon's tools, by the names
    /// of their variables: `AWS_ENDPOINT_URL`.
    ///
    /// # Errors
    ///
    /// In words, why that is none.
    pub fn open(
        url: &str,
        options: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, String> {
        let rest = url.strip_prefix("s3://").filter(|rest| !rest.is_empty());
        let rest = rest.ok_or("expected s3://BUCKET/FOLDER")?;
        let (bucket, folder) = rest.split_once('/').unwrap_or((rest, ""));
        let said = |error: Error| error.to_string();
        let folder = Path::parse(folder).map_err(|e| e.to_string())?;
        let mut builder = AmazonS3Builder::new();
        for (name, value) in options {
            // Others are no business of ours.
            if let Ok(name) = name.to_ascii_lowercase().parse() {
                builder = builder.with_config(name, value);
            }
        }
        // Another crate may have chosen one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let store = builder.with_bucket_name(bucket).with_retry(RetryConfig {
            // A caller that would have to wait compiles instead.
            max_retries: 1,
            retry_timeout: PATIENCE,
            ..RetryConfig::default()
        });
        let store = store.build().map_err(said)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("qd-store")
            .enable_all()
            .build();
        Ok(Self {
            shared: Arc::new(Shared {
                store: Box::new(store),
                url: url.into(),
                at_a_time: Semaphore::new(AT_A_TIME),
                rests: Mutex::default(),
                is_unreachable_said: AtomicBool::new(false),
                is_unwritable: AtomicBool::new(false),
                writes: Mutex::default(),
                written: Condvar::new(),
                troubles: Mutex::default(),
            }),
            folder: folder.join(crate::ENTRIES),
            absent: Mutex::default(),
            damaged: Mutex::default(),
            runtime: Some(runtime.map_err(|e| e.to_string())?),
        })
    }

    /// The files of entries that it has, of those that are asked for: of each that comes in time and is
    /// whole. `limit` is the most bytes of one.
    pub fn get(&self, keys: &[Key], limit: u64) -> Vec<(Key, Vec<u8>)> {
        let (Some(runtime), false) = (&self.runtime, self.shared.rests()) else {
            return Vec::new();
        };
        let (send, receive) = mpsc::channel();
        let mut absent = lock(&self.absent);
        absent.retain(|_, since| since.elapsed() < ABSENT);
        let keys: Vec<&Key> = keys
            .iter()
            .filter(|key| !absent.contains_key(key))
            .collect();
        drop(absent);
        for key in &keys {
            let (shared, send, path, key) =
                (self.shared.clone(), send.clone(), self.path(key), **key);
            runtime.spawn(async move {
                let found = shared.get(&path, limit).await;
                // It fails if the receiver waits no longer.
                let _ = send.send((key, path, found));
            });
        }
        drop(send);
        let deadline = Instant::now()
            + match keys.len() {
                // A request's own time, and some for the thread.
                1 => PATIENCE * 2,
                _ => PATIENCE_FOR_MANY,
            };
        let mut found = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let (key, path, bytes) = match receive.recv_timeout(left) {
                Ok(answer) => answer,
                Err(mpsc::RecvTimeoutError::Disconnected) => return found,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    self.shared.fail("it takes too long");
                    return found;
                }
            };
            match bytes {
                Err(NotRead) => {}
                Ok(None) => drop(lock(&self.absent).insert(key, Instant::now())),
                Ok(Some(bytes)) if Entry::is_whole(&key, &bytes) => found.push((key, bytes)),
                Ok(Some(_)) => self.damaged(key, &path),
            }
        }
    }

    /// Notes that an object is not what it is to be.
    fn damaged(&self, key: Key, path: &Path) {
        lock(&self.damaged).insert(key);
        self.shared.say(Trouble::RemoteDamaged(format!(
            "{} of {}",
            path, self.shared.url
        )));
    }

    /// As [`damaged`](Self::damaged), of contents that are whole.
    pub fn discard(&self, key: &Key) {
        lock(&self.damaged).insert(*key);
    }

    /// Begins to write an entry's file.
    pub fn put(&self, key: &Key, bytes: Vec<u8>) {
        let shared = &self.shared;
        let is_off = shared.is_unwritable.load(Ordering::Relaxed) || shared.rests();
        let (Some(runtime), false) = (&self.runtime, is_off) else {
            return;
        };
        let mode = match lock(&self.damaged).remove(key) {
            true => PutMode::Overwrite,
            false => PutMode::Create,
        };
        *lock(&shared.writes) += 1;
        let (shared, path) = (shared.clone(), self.path(key));
        runtime.spawn(async move {
            shared.put(&path, bytes, mode).await;
            *lock(&shared.writes) -= 1;
            shared.written.notify_all();
        });
    }

    /// Waits until all is written, but not long.
    pub fn flush(&self) {
        let writes = lock(&self.shared.writes);
        let waited = self
            .shared
            .written
            .wait_timeout_while(writes, PATIENCE_FOR_MANY, |writes| *writes > 0);
        if waited.is_ok_and(|(_, waited)| waited.timed_out()) {
            self.shared.fail("it takes too long");
        }
    }

    /// What went wrong since this was last asked.
    pub fn troubles(&self) -> Vec<Trouble> {
        std::mem::take(&mut lock(&self.shared.troubles))
    }

    fn path(&self, key: &Key) -> Path {
        let digits = key.to_string();
        self.folder.clone().join(&digits[..2]).join(&digits[2..])
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.flush();
        // What is still under way is given up.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Shared {
    /// None if there is no such object.
    async fn get(&self, path: &Path, limit: u64) -> Result<Option<Vec<u8>>, NotRead> {
        let _turn = self.at_a_time.acquire().await.map_err(|_| NotRead)?;
        if self.rests() {
            return Err(NotRead);
        }
        let read = async {
            let found = self.store.get(path).await?;
            if found.meta.size > limit {
                // No entry is as long: as good as garbage.
                return Ok(Vec::new());
            }
            Ok(found.bytes().await?.to_vec())
        };
        match tokio::time::timeout(PATIENCE, read).await {
            Ok(Ok(bytes)) => Ok(Some(bytes)),
            Ok(Err(Error::NotFound { .. })) => Ok(None),
            Ok(Err(error)) => {
                self.fail(&reason(&error));
                Err(NotRead)
            }
            Err(_) => {
                self.fail("it does not answer");
                Err(NotRead)
            }
        }
    }

    async fn put(&self, path: &Path, bytes: Vec<u8>, mode: PutMode) {
        let Ok(_turn) = self.at_a_time.acquire().await else {
            return;
        };
        if self.rests() || self.is_unwritable.load(Ordering::Relaxed) {
            return;
        }
        let put = |mode| {
            let options = PutOptions {
                mode,
                ..PutOptions::default()
            };
            self.store.put_opts(path, bytes.clone().into(), options)
        };
        let write = async {
            match put(mode).await {
                // The first writer has written the same.
                Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(()),
                // The same is written twice then.
                Err(Error::NotImplemented { .. } | Error::NotSupported { .. }) => {
                    put(PutMode::Overwrite).await.map(drop)
                }
                result => result.map(drop),
            }
        };
        match tokio::time::timeout(PATIENCE, write).await {
            Ok(Ok(())) => {}
            // It may still be read.
            Ok(Err(
                error @ (Error::PermissionDenied { .. }
                | Error::Unauthenticated { .. }
                | Error::NotFound { .. }),
            )) => {
                if !self.is_unwritable.swap(true, Ordering::Relaxed) {
                    self.say(Trouble::RemoteUnwritable(self.url.clone(), reason(&error)));
                }
            }
            Ok(Err(error)) => self.fail(&reason(&error)),
            Err(_) => self.fail("it does not answer"),
        }
    }

    /// Whether it is left alone.
    fn rests(&self) -> bool {
        lock(&self.rests).is_some_and(|until| Instant::now() < until)
    }

    /// Leaves it alone for a while. That is said once.
    fn fail(&self, why: &str) {
        *lock(&self.rests) = Some(Instant::now() + REST);
        if !self.is_unreachable_said.swap(true, Ordering::Relaxed) {
            self.say(Trouble::Unreachable(self.url.clone(), why.into()));
        }
    }

    fn say(&self, trouble: Trouble) {
        lock(&self.troubles).push(trouble);
    }
}

/// The first line of an error: those of HTTP have bodies.
fn reason(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        let more = inner.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = inner.source();
    }
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.into(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
