//! Rows of a trace for what is not this process's threads: streams of devices.

use serde_json::{Value, json};
use std::{
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Something that took its time.
#[derive(Clone, Debug)]
pub struct Slice {
    /// What a viewer calls it.
    pub name: String,
    /// When it began.
    pub start: Instant,
    /// How long it took.
    pub duration: Duration,
    /// What else a viewer shows, by name.
    pub details: Vec<(&'static str, String)>,
}

/// What is written between the tracing layer's events and the end of the file.
pub(crate) struct Rows {
    /// What the layer counts times from.
    start: Instant,
    /// Devices, and the rows of each, in the order of the first time they came.
    devices: Mutex<Vec<(String, Vec<String>)>>,
    file: File,
}

/// A file whose last bytes are not written yet. They close the list of events.
#[derive(Clone)]
pub(crate) struct File(Arc<Mutex<Held>>);

struct Held {
    to: std::fs::File,
    last: Vec<u8>,
    events: Vec<Value>,
    /// Whether the layer has written an event.
    is_begun: bool,
}

/// What a list of events begins and ends with, as the layer writes them.
const BEGIN: usize = "[\n".len();
const END: usize = "\n]".len();

impl File {
    pub fn new(to: std::fs::File) -> Self {
        Self(Arc::new(Mutex::new(Held {
            to,
            last: Vec::new(),
            events: Vec::new(),
            is_begun: false,
        })))
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.last.extend(bytes);
        let ready = held.last.len().saturating_sub(END);
        let ready: Vec<u8> = held.last.drain(..ready).collect();
        held.is_begun |= ready.len() > BEGIN;
        held.to.write_all(&ready)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.to.flush()
    }
}

impl Rows {
    pub fn new(start: Instant, file: File) -> Self {
        Self {
            start,
            devices: Mutex::default(),
            file,
        }
    }

    /// Adds to a device's row.
    pub fn add(&self, device: &str, row: &str, slices: impl IntoIterator<Item = Slice>) {
        let mut events = Vec::new();
        let mut devices = self.devices.lock().unwrap_or_else(PoisonError::into_inner);
        let mut name = |what: &str, pid: usize, tid: usize, name: &str| {
            events.push(json!({
                "ph": "M", "ts": 0, "pid": pid, "tid": tid, "name": what, "args": {"name": name},
            }));
        };
        let is_device = |(known, _): &(String, Vec<String>)| known == device;
        let place = devices.iter().position(is_device).unwrap_or_else(|| {
            devices.push((device.into(), Vec::new()));
            devices.len() - 1
        });
        // The first process is this one.
        let pid = place + 2;
        let rows = &mut devices[place].1;
        if rows.is_empty() {
            name("process_name", pid, 0, device);
        }
        let tid = rows.iter().position(|known| known == row);
        let tid = tid.unwrap_or_else(|| {
            name("thread_name", pid, rows.len(), row);
            rows.push(row.into());
            rows.len() - 1
        });
        let micros = |time: Duration| time.as_nanos() as f64 / 1e3;
        events.extend(slices.into_iter().map(|slice| {
            let details = slice.details.into_iter();
            let details: serde_json::Map<_, _> = details
                .map(|(name, value)| (name.to_string(), Value::String(value)))
                .collect();
            json!({
                "ph": "X",
                // Nothing began before the trace did.
                "ts": micros(slice.start.saturating_duration_since(self.start)),
                "dur": micros(slice.duration),
                "pid": pid,
                "tid": tid,
                "name": slice.name,
                "cat": "device",
                "args": details,
            })
        }));
        let mut held = self.file.0.lock();
        held.as_mut()
            .unwrap_or_else(|poisoned| poisoned.get_mut())
            .events
            .extend(events);
    }

    /// Writes what was added and the end, after the layer's last event.
    pub fn finish(&self) -> io::Result<()> {
        let mut held = self.file.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Held {
            to,
            last,
            events,
            is_begun,
        } = &mut *held;
        let mut text = Vec::new();
        for event in events.drain(..) {
            if *is_begun {
                text.extend(b",\n");
            }
            *is_begun = true;
            serde_json::to_writer(&mut text, &event)?;
        }
        text.append(last);
        to.write_all(&text)?;
        to.flush()
    }
}
