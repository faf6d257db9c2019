//! A file that is watched.

use notify::{
    EventKind, RecommendedWatcher, RecursiveMode, Watcher,
    event::{AccessKind, AccessMode},
};
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant, SystemTime},
};

/// How often the file is looked at even if no save is reported.
const LOOKS: Duration = Duration::from_secs(1);
/// A save is over when nothing has happened for this long: editors empty a file and then write it, or
/// write another and rename it.
const QUIET: Duration = Duration::from_millis(25);
/// But it is looked at after this long in any case.
const LONGEST: Duration = Duration::from_millis(500);

/// What happened to the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// It has other contents.
    Saved(Vec<u8>),
    /// It is there no more, or cannot be read, for this reason.
    Gone(String),
}

/// A file that is watched. It may vanish and come back.
pub struct Watch {
    path: PathBuf,
    events: Receiver<()>,
    watcher: Option<RecommendedWatcher>,
    /// What it held; none if it is gone.
    contents: Option<Vec<u8>>,
    stamp: Option<Stamp>,
}

/// What tells whether a file has to be read again.
type Stamp = (SystemTime, u64);

impl Watch {
    /// Watches a file, which is there, and reads it. Where the system does not tell of saves, that is
    /// said to `warn`.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn begin(path: &Path, warn: impl FnOnce(String)) -> io::Result<(Self, Vec<u8>)> {
        let (send, events) = mpsc::channel();
        let watcher = match watcher(path, send) {
            Ok(watcher) => Some(watcher),
            Err(error) => {
                let name = path.display();
                warn(format!("{name}: looked at every second only: {error}"));
                None
            }
        };
        let mut watch = Self {
            path: path.into(),
            events,
            watcher,
            contents: None,
            stamp: None,
        };
        watch.attach();
        // Watched first, so that no save is missed.
        watch.stamp = stamp(path);
        let contents = fs::read(path)?;
        watch.contents = Some(contents.clone());
        Ok((watch, contents))
    }

    /// Begins with a text; `warn` as in [`begin`](Self::begin).
    ///
    /// # Errors
    ///
    /// It cannot be read, or is no text; the message names it.
    pub fn begin_text(path: &Path, warn: impl FnOnce(String)) -> Result<(Self, String), String> {
        let name = path.display();
        let (watch, contents) = Self::begin(path, warn).map_err(|e| format!("{name}: {e}"))?;
        let text = String::from_utf8(contents).map_err(|_| {
            format!("{name}: --watch is for text, and this is none: give the module as text")
        })?;
        Ok((watch, text))
    }

    /// Waits until something happens.
    pub fn wait(&mut self) -> Event {
        loop {
            let told = self.events.recv_timeout(LOOKS);
            let begin = Instant::now();
            match told {
                Ok(()) => {
                    while begin.elapsed() < LONGEST && self.events.recv_timeout(QUIET).is_ok() {}
                }
                Err(RecvTimeoutError::Timeout) if stamp(&self.path) == self.stamp => continue,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => thread::sleep(LOOKS),
            }
            if let Some(event) = self.look() {
                return event;
            }
        }
    }

    /// Waits until it holds another text. What happens to it otherwise is said to `warn`.
    pub fn text(&mut self, warn: impl Fn(String)) -> String {
        loop {
            let text = match self.wait() {
                Event::Saved(contents) => {
                    String::from_utf8(contents).map_err(|_| "it is no text".into())
                }
                Event::Gone(why) => Err(why),
            };
            match text {
                Ok(text) => return text,
                Err(why) => warn(format!("{}: {why}: waiting for it", self.path.display())),
            }
        }
    }

    fn look(&mut self) -> Option<Event> {
        self.stamp = stamp(&self.path);
        match fs::read(&self.path) {
            Ok(contents) => {
                if self.contents.is_none() {
                    // Its folder may be another.
                    self.attach();
                }
                if self.contents.as_ref() == Some(&contents) {
                    return None;
                }
                self.contents = Some(contents.clone());
                Some(Event::Saved(contents))
            }
            Err(error) => {
                // Said once.
                self.contents.take()?;
                Some(Event::Gone(match error.kind() {
                    io::ErrorKind::NotFound => "the file is gone".into(),
                    _ => error.to_string(),
                }))
            }
        }
    }

    /// Watches the folder, for a file that is replaced is another; and that of what a link leads to.
    fn attach(&mut self) {
        let Some(watcher) = &mut self.watcher else {
            return;
        };
        for path in places(&self.path) {
            // It may be another of that name. Where it fails the file is looked at nevertheless.
            let _ = watcher.unwatch(folder(&path));
            let _ = watcher.watch(folder(&path), RecursiveMode::NonRecursive);
        }
    }
}

/// The file, and what it leads to.
fn places(path: &Path) -> Vec<PathBuf> {
    let mut places = vec![path.to_path_buf()];
    places.extend(fs::canonicalize(path));
    places
}

fn folder(path: &Path) -> &Path {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

fn watcher(path: &Path, send: Sender<()>) -> notify::Result<RecommendedWatcher> {
    let names: Vec<_> = places(path)
        .iter()
        .filter_map(|path| Some(path.file_name()?.to_owned()))
        .collect();
    notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let is_its = match &event {
            // Reading is no save: each look would cause the next.
            Ok(event) => {
                let is_read = matches!(event.kind, EventKind::Access(kind)
                    if kind != AccessKind::Close(AccessMode::Write));
                let mut named = event.paths.iter().filter_map(|path| path.file_name());
                !is_read && (event.paths.is_empty() || named.any(|n| names.iter().any(|i| i == n)))
            }
            // Events may have been lost.
            Err(_) => true,
        };
        if is_its {
            // It fails where the watch has ended.
            let _ = send.send(());
        }
    })
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What happens, each waited for at most so long.
    fn events(path: &Path) -> Receiver<Event> {
        let (mut watch, first) = Watch::begin(path, |why| panic!("{why}")).expect("it is there");
        assert_eq!(first, b"first");
        let (send, receive) = mpsc::channel();
        thread::spawn(move || while send.send(watch.wait()).is_ok() {});
        receive
    }

    fn next(events: &Receiver<Event>) -> Event {
        let found = events.recv_timeout(Duration::from_secs(20));
        found.expect("something happens")
    }

    #[test]
    fn saves_of_every_kind_are_seen_and_the_file_may_vanish() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("inner/k.mlir");
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).expect("a folder");
        fs::write(&path, "first").expect("it is written");
        let events = events(&path);
        let saved = |text: &str| Event::Saved(text.into());

        fs::write(&path, "in place").expect("it is written");
        assert_eq!(next(&events), saved("in place"));
        let other = inner.join("other");
        fs::write(&other, "renamed").expect("it is written");
        fs::rename(&other, &path).expect("it is renamed");
        assert_eq!(next(&events), saved("renamed"));
        // The same again is no save.
        fs::write(&path, "renamed").expect("it is written");
        assert_eq!(
            events.recv_timeout(20 * QUIET),
            Err(RecvTimeoutError::Timeout)
        );
        fs::remove_file(&path).expect("it is removed");
        assert_eq!(next(&events), Event::Gone("the file is gone".into()));
        fs::write(&path, "back").expect("it is written");
        assert_eq!(next(&events), saved("back"));
        // With its folder, which comes back as another.
        fs::remove_dir_all(&inner).expect("it is removed");
        assert!(matches!(next(&events), Event::Gone(_)));
        fs::create_dir(&inner).expect("a folder");
        fs::write(&path, "moved").expect("it is written");
        assert_eq!(next(&events), saved("moved"));
        fs::write(&path, "again").expect("it is written");
        assert_eq!(next(&events), saved("again"));
        assert_eq!(
            events.recv_timeout(4 * QUIET),
            Err(RecvTimeoutError::Timeout)
        );
    }

    #[test]
    fn what_a_link_leads_to_is_watched() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("target.mlir");
        fs::write(&target, "first").expect("it is written");
        let links = tempfile::tempdir().expect("a folder");
        let link = links.path().join("k.mlir");
        std::os::unix::fs::symlink(&target, &link).expect("a link");
        let events = events(&link);
        fs::write(&target, "second").expect("it is written");
        assert_eq!(next(&events), Event::Saved("second".into()));
    }
}
