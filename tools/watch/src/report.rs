//! What an edit redid, and why, for people.

use qd_frontend::session::{Change, FileId, Ran, Session, Symbols};
use std::{collections::HashSet, time::Duration};

/// What was redone of a file, as lines: what was edited, then each kernel that was compiled, lowered or
/// found, why, and how long each stage took. `before` is what the file held before the edit.
pub fn redone(
    name: &str,
    session: &Session,
    file: FileId,
    before: &Symbols,
    ran: &[Ran],
) -> Vec<String> {
    let changes = before.changes(&session.symbols(file));
    let cut = ran
        .iter()
        .filter(|ran| ["words", "cut"].contains(&ran.query));
    let cut = format!("; read in {}", time(cut.map(|ran| ran.took).sum()));
    let is_first = *before == Symbols::default();
    let what = match &changes[..] {
        [] if is_first => "it is no list of symbols, and is taken as a whole".into(),
        [] => "comments or whitespace: nothing is compiled".into(),
        [_] if is_first => "1 symbol".into(),
        changes if is_first => format!("{} symbols", changes.len()),
        changes => list(changes.iter().map(said)),
    };
    let mut lines = vec![format!("{name}: {what}{cut}")];
    let edited: HashSet<&str> = changes.iter().map(Change::name).collect();
    for ran in ran {
        let did = match ran.query {
            "found" => "found in the cache",
            query @ ("compiled" | "lowered" | "failed") => query,
            _ => continue,
        };
        let follows = ran
            .kernel()
            .map(|kernel| session.follows_from(file, kernel));
        let causes: Vec<String> = follows
            .into_iter()
            .flatten()
            .filter(|name| edited.contains(&**name))
            .collect();
        let why = match &causes[..] {
            _ if is_first => String::new(),
            [] => String::new(),
            causes => format!(", because of {}", list(causes.iter().cloned())),
        };
        let stages = ran.stages.iter();
        let stages: Vec<_> = stages
            .map(|(stage, took)| format!("{stage} {}", time(*took)))
            .collect();
        let stages = match stages.is_empty() {
            true => String::new(),
            false => format!(": {}", stages.join(", ")),
        };
        lines.push(format!(
            "  {}: {did} in {}{why}{stages}",
            ran.of,
            time(ran.took)
        ));
    }
    lines
}

fn said(change: &Change) -> String {
    match change {
        Change::Added(name) => format!("{name} added"),
        Change::Removed(name) => format!("{name} removed"),
        Change::Edited(name) => format!("{name} edited"),
    }
}

/// Of many the first.
fn list(all: impl ExactSizeIterator<Item = String>) -> String {
    const SHOWN: usize = 4;
    let more = all.len().saturating_sub(SHOWN);
    let shown: Vec<_> = all.take(SHOWN).collect();
    match more {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn time(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}
