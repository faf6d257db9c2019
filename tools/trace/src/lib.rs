//! Logging and tracing, the same in every tool: `QD_LOG=debug` for text on
//! standard error, `--trace=FILE` for a Chrome trace.

use std::{io::IsTerminal, path::Path};
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
    _chrome: Option<FlushGuard>,
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
    let (chrome, guard) = match trace {
        Some(path) => {
            let (layer, guard) = ChromeLayerBuilder::new()
                .file(path)
                .include_args(true)
                .name_fn(Box::new(|what| match what {
                    EventOrSpan::Event(event) => event.metadata().name().into(),
                    EventOrSpan::Span(span) => span
                        .extensions()
                        .get::<Label>()
                        .map_or_else(|| span.name().into(), |label| label.0.clone()),
                }))
                .build();
            (Some(layer), Some(guard))
        }
        None => (None, None),
    };
    tracing_subscriber::registry()
        .with(text)
        .with(chrome.is_some().then_some(Labels))
        .with(chrome)
        .init();
    Guard { _chrome: guard }
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
