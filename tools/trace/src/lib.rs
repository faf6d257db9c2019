//! Logging and tracing, the same in every tool: `QD_LOG=debug` for text on
//! standard error, `--trace=FILE` for a Chrome trace, which has rows for the streams of devices
//! where a tool adds them.

mod rows;

pub use rows::Slice;

use rows::{File, Rows};
use std::{io::IsTerminal, path::Path, time::Instant};
use tracing::{
    field::{Field, Visit},
    span,
};
use tracing_chrome::{ChromeLayerBuilder, EventOrSpan, FlushGuard};
use tracing_subscriber::{
    EnvFilter, Layer,
    layer::{Context, SubscriberExt},
    registry::LookupSpan,
    util::SubscriberInitExt,
};

/// Writes out the trace when dropped.
#[must_use = "the trace is written when this is dropped"]
pub struct Guard {
    chrome: Option<(FlushGuard, Rows)>,
}

impl Guard {
    /// Whether there is a trace to add to.
    pub fn is_tracing(&self) -> bool {
        self.chrome.is_some()
    }

    /// Adds to a row of a device, such as one of its streams. Rows are made when they are first
    /// named. What is in one row has to be beside each other, or in each other.
    pub fn add(&self, device: &str, row: &str, slices: impl IntoIterator<Item = Slice>) {
        if let Some((_, rows)) = &self.chrome {
            rows.add(device, row, slices);
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some((layer, rows)) = self.chrome.take() {
            // It writes its last event first.
            drop(layer);
            if let Err(error) = rows.finish() {
                eprintln!("the trace: {error}");
            }
        }
    }
}

/// Starts logging as `QD_LOG` says and, with `trace`, a Chrome trace
/// (`chrome://tracing`, Perfetto) of every span.
pub fn init(trace: Option<&Path>) -> Guard {
    let text = std::env::var("QD_LOG").ok().map(|filter| {
        tracing_subscriber::fmt::layer()
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal())
            .with_span_events(tracing_subscriber::fmt::format::FmtSpan::CLOSE)
            .with_filter(EnvFilter::new(filter))
    });
    let (layer, chrome) = match trace {
        Some(path) => {
            let file = std::fs::File::create(path);
            let file = File::new(file.expect("the trace's file can be made"));
            let (layer, guard) = ChromeLayerBuilder::new()
                .writer(file.clone())
                .include_args(true)
                .name_fn(Box::new(|what| match what {
                    EventOrSpan::Event(event) => event.metadata().name().into(),
                    EventOrSpan::Span(span) => span
                        .extensions()
                        .get::<Label>()
                        .map_or_else(|| span.name().into(), |label| label.0.clone()),
                }))
                .build();
            (Some(layer), Some((guard, Rows::new(Instant::now(), file))))
        }
        None => (None, None),
    };
    tracing_subscriber::registry()
        .with(text)
        .with(layer.is_some().then_some(Labels))
        .with(layer)
        .init();
    Guard { chrome }
}

/// What a viewer calls a span: its field `name`, such as the pass that a span
/// `pass` is of.
struct Label(String);

/// Keeps the labels; before the layer that asks for them.
struct Labels;

impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Labels {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &span::Id, of: Context<'_, S>) {
        let mut name = None;
        attributes.record(&mut NameField(&mut name));
        if let (Some(name), Some(span)) = (name, of.span(id)) {
            span.extensions_mut().insert(Label(name));
        }
    }
}

struct NameField<'a>(&'a mut Option<String>);

impl Visit for NameField<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "name" {
            *self.0 = Some(value.into());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}
