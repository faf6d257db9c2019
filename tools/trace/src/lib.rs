//! Logging and tracing, the same in every tool: `QD_LOG=debug` for text on
//! standard error, `--trace=FILE` for a Chrome trace.

use std::path::Path;
use tracing_chrome::{ChromeLayerBuilder, FlushGuard};
use tracing_subscriber::{EnvFilter, Layer, layer::SubscriberExt, util::SubscriberInitExt};

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
            .with_span_events(tracing_subscriber::fmt::format::FmtSpan::CLOSE)
            .with_filter(EnvFilter::new(filter))
    });
    let (chrome, guard) = match trace {
        Some(path) => {
            let (layer, guard) = ChromeLayerBuilder::new()
                .file(path)
                .include_args(true)
                .build();
            (Some(layer), Some(guard))
        }
        None => (None, None),
    };
    tracing_subscriber::registry()
        .with(text)
        .with(chrome)
        .init();
    Guard { _chrome: guard }
}
