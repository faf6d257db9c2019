//! `--devices`: what devices there are, before anything is compiled.

use crate::cli::DevicesFormat;
use qd_runtime::objects::{DeviceInfo, Devices};
use serde_json::json;

/// The devices of this machine, as text.
pub fn list(format: DevicesFormat) -> String {
    let devices = Devices::list();
    match format {
        DevicesFormat::Table => table(&devices),
        DevicesFormat::Json => {
            let found: Vec<_> = devices.found.iter().map(described).collect();
            let refusals = devices.refusals.iter();
            let without: Vec<_> = refusals
                .map(|(what, why)| json!({ is_of(what): what, "reason": why.to_string() }))
                .collect();
            format!("{:#}\n", json!({ "devices": found, "without": without }))
        }
    }
}

fn described(info: &DeviceInfo) -> serde_json::Value {
    let limits = &info.limits;
    json!({
        "id": info.id.to_string(),
        "name": info.name,
        "target": info.target.to_string(),
        "subgroup_sizes": limits.subgroup_sizes,
        "threads": limits.threads,
        "shared_bytes": limits.shared_bytes,
        "memory_bytes": limits.memory_bytes,
        "decides": info.decides,
    })
}

const TITLES: [&str; 7] = [
    "device",
    "target",
    "subgroups",
    "threads",
    "shared",
    "memory",
    "name",
];

fn table(devices: &Devices) -> String {
    let mut rows = vec![TITLES.map(String::from)];
    rows.extend(devices.found.iter().map(row));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: [usize; 7] = std::array::from_fn(|column| width(column).unwrap_or(0));
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(widths);
        let cells: Vec<_> = cells
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        text += cells.join("  ").trim_end();
        text.push('\n');
    }
    for (what, why) in &devices.refusals {
        text += &match is_of(what) {
            "driver" => format!("no device of {what}: {why}\n"),
            _ => format!("{what} cannot be used: {why}\n"),
        };
    }
    text
}

/// Whether a refusal is of a driver or of one of its devices.
fn is_of(what: &str) -> &'static str {
    if what.contains(':') {
        "device"
    } else {
        "driver"
    }
}

fn row(info: &DeviceInfo) -> [String; 7] {
    let limits = &info.limits;
    let sizes: Vec<_> = limits.subgroup_sizes.iter().map(u32::to_string).collect();
    let bytes = |bytes: Option<u64>, unit: u64, name: &str| match bytes {
        Some(bytes) => format!("{} {name}", bytes / unit),
        None => "-".into(),
    };
    [
        info.id.to_string(),
        info.target.to_string(),
        sizes.join(", "),
        limits.threads.to_string(),
        bytes(limits.shared_bytes, 1 << 10, "KiB"),
        bytes(limits.memory_bytes, 1 << 20, "MiB"),
        info.name.clone(),
    ]
}
