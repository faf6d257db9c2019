//! What was selected in this process, as a page for a browser that loads no other files: for each
//! body its sizes as bars, the forms of its ops with their costs, and the terms that took the
//! place of others, with the rules that led there.
//!
//! A tool that is asked for the page says [`begin`] before it compiles and [`finish`] after it.
//! Bodies may be compiled on several threads: the page has them in the order of their names.

use super::{
    cost::{Cost, PIPES},
    explain::{Explanation, LEFT_ALONE, OfOp},
    price::Candidate,
    rules,
};
use crate::emit::draw::escape;
use std::{
    fmt::Write,
    fs,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

const STYLE: &str = include_str!("page.css");

/// What was said since a page was asked for; none if none was.
static SAID: Mutex<Option<Vec<Explanation>>> = Mutex::new(None);

fn said() -> MutexGuard<'static, Option<Vec<Explanation>>> {
    // What a thread said before it failed is right.
    SAID.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a page may be written to a file, by a tool that reads and writes others besides.
///
/// # Errors
///
/// It may not: a message that says why.
pub fn check(file: &Path, others: &[&Path]) -> Result<(), String> {
    let whole = fs::canonicalize(file).ok();
    let is_other = |other: &&&Path| {
        **other == file || whole.is_some() && fs::canonicalize(other).ok() == whole
    };
    if file == Path::new("-") {
        return Err("a page goes to a file".into());
    }
    match others.iter().find(is_other) {
        Some(other) => Err(format!("'{}' is read or written besides", other.display())),
        None => Ok(()),
    }
}

/// Keeps what is selected from now on.
pub fn begin() {
    said().get_or_insert_default();
}

/// Whether a page was asked for.
pub(super) fn is_wanted() -> bool {
    said().is_some()
}

/// Keeps what is said of a body, if a page was asked for.
pub(super) fn add(explanation: Explanation) {
    if let Some(said) = said().as_mut() {
        said.push(explanation);
    }
}

/// The page of all that was selected since [`begin`].
///
/// # Errors
///
/// Nothing was selected: a message that says what to do.
pub fn finish() -> Result<String, String> {
    let all = said().take().unwrap_or_default();
    match all.is_empty() {
        true => Err(
            "nothing was selected: what is explained is compiled for a target with costs, without the option 'fixed', \
             and has a body whose threads fill subgroups"
                .into(),
        ),
        false => Ok(page(all)),
    }
}

fn page(all: Vec<Explanation>) -> String {
    let mut bodies: Vec<(String, Explanation)> = Vec::new();
    for body in all {
        // Kernels that are compiled by themselves may have a body each that is the same.
        let key = format!("{} {} {}", body.name, body.target, body.text());
        if !bodies.iter().any(|(known, _)| *known == key) {
            bodies.push((key, body));
        }
    }
    bodies.sort_by(|a, b| a.0.cmp(&b.0));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Selected lowerings</title>\n<style>\n{STYLE}</style>\n\
         <h1>Selected lowerings</h1>\n<p>What the search estimates that each body takes, in cycles of \
         a lane. Estimates, not measurements: the figures are those of the costs, whose sources are \
         below each body.</p>\n<nav><ul>\n"
    );
    // Writing to a string does not fail.
    for (number, (_, body)) in bodies.iter().enumerate() {
        let name = escape(&body.name);
        let _ = writeln!(page, "<li><a href=\"#body-{number}\">{name}</a></li>");
    }
    page += "</ul></nav>\n";
    for (number, (_, body)) in bodies.iter().enumerate() {
        let _ = writeln!(page, "<section id=\"body-{number}\">");
        page += &section(body);
        page += "</section>\n";
    }
    page += "<h2>Rules</h2>\n<p>Those that led to the terms above. Each is proved on every input of four \
             lanes with integers of a few bits, by Z3 at four and eight lanes, and by the interpreter at 4 to 64.</p>\n\
             <table class=\"rules\">\n";
    for rule in rules::all() {
        let mut replaced = bodies.iter().flat_map(|(_, body)| &body.replaced);
        if replaced.any(|replaced| replaced.rules.contains(&rule.name)) {
            let arrow = if rule.both_ways { "⇔" } else { "⇒" };
            let _ = writeln!(
                page,
                "<tr id=\"rule-{}\"><th>{}</th><td><code>{} {arrow} {}</code></td><td>{}</td></tr>",
                escape(rule.name),
                escape(rule.name),
                escape(rule.left),
                escape(rule.right),
                escape(rule.reason)
            );
        }
    }
    page + "</table>\n</html>\n"
}

fn section(body: &Explanation) -> String {
    let mut text = format!(
        "<h2>{}</h2>\n<p>{}, {} threads, group {}: <b>wave {}</b>",
        escape(&body.name),
        escape(&body.target),
        body.threads,
        body.group,
        body.wave
    );
    let others = body.others();
    if !others.is_empty() {
        let _ = write!(text, " ({})", escape(&others.join(", ")));
    }
    text += ".";
    let time = body.time(body.wave).unwrap_or_default();
    if body.before != time {
        let _ = write!(
            text,
            " As it was it would take {:.2}, now {time:.2}.",
            body.before
        );
    }
    if !body.is_optimal {
        text += " It is too large to be searched exactly: another choice may be cheaper.";
    }
    if body.is_left_alone() {
        let _ = write!(text, " {}", LEFT_ALONE);
    }
    text += "</p>\n";
    text += &bars(body);
    for (wave, why) in &body.refused {
        let _ = writeln!(text, "<p>Not {wave}: {}.</p>", escape(why));
    }
    if !body.ops.is_empty() {
        text +=
            "<h3>Forms</h3>\n<table>\n<tr><th>op</th><th>at</th><th>by</th><th>or by</th></tr>\n";
        for of in &body.ops {
            text += &row(of);
        }
        text += "</table>\n";
    }
    if !body.replaced.is_empty() {
        text += "<h3>Terms</h3>\n<table>\n<tr><th>op</th><th>at</th><th>now</th><th>by the rules</th></tr>\n";
        for replaced in &body.replaced {
            let rules = replaced.rules.iter().map(|rule| {
                let rule = escape(rule);
                format!("<a href=\"#rule-{rule}\">{rule}</a>")
            });
            let _ = writeln!(
                text,
                "<tr><td>{}</td><td><small>{}</small></td><td><code>{}</code></td><td>{}</td></tr>",
                escape(&replaced.op),
                escape(&replaced.location),
                escape(&replaced.term),
                rules.collect::<Vec<_>>().join(", ")
            );
        }
        text += "</table>\n";
    }
    text
}

/// A row of bars for each size: its time, and what makes it up.
fn bars(body: &Explanation) -> String {
    let mut text = String::from("<table class=\"bars\">\n");
    let times = body.waves.iter().map(|(_, whole)| {
        let issue = whole.issue.iter().copied().fold(0.0, f64::max);
        whole.time.max(issue).max(whole.latency)
    });
    let most = times.fold(f64::MIN_POSITIVE, f64::max);
    for (wave, whole) in &body.waves {
        let class = if *wave == body.wave {
            " class=\"chosen\""
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "<tr{class}><th>wave {wave}</th><td colspan=\"2\">{} values live, {:.0} subgroups \
             resident</td></tr>",
            whole.live, whole.resident
        );
        let pipes = PIPES.iter().zip(whole.issue);
        let pipes = pipes.map(|((_, name), issue)| (*name, issue, "issue"));
        let bars = [("time", whole.time, "time")].into_iter().chain(pipes);
        for (name, value, class) in bars.chain([("latency", whole.latency, "latency")]) {
            let width = 100.0 * value / most;
            let _ = writeln!(
                text,
                "<tr><td>{name}</td><td class=\"figure\">{value:.2}</td><td class=\"bar\">\
                 <div class=\"{class}\" style=\"width: {width:.2}%\"></div></td></tr>"
            );
        }
    }
    text + "</table>\n"
}

fn row(of: &OfOp) -> String {
    let others: Vec<String> = of.others.iter().map(candidate).collect();
    let notes = [of.reason, of.source.as_deref()].into_iter().flatten();
    let notes: String = notes
        .map(|note| format!("<br><small>{}</small>", escape(note)))
        .collect();
    format!(
        "<tr><td><code>{}</code></td><td><small>{}</small></td><td>{}{}</td><td>{}</td></tr>\n",
        escape(&of.op),
        escape(&of.location),
        candidate(&of.taken),
        notes,
        others.join("<br>")
    )
}

fn candidate(one: &Candidate) -> String {
    let Cost { uses, latency } = &one.cost;
    let uses = PIPES.iter().zip(uses).filter(|(_, r#use)| **r#use > 0.0);
    let uses: Vec<_> = uses
        .map(|((_, name), r#use)| format!("{name} {use:.1}"))
        .collect();
    let figures = format!("{}, latency {latency:.1}", uses.join(", "));
    let form = if one.form.is_empty() {
        "itself"
    } else {
        one.form
    };
    format!(
        "<b>{}</b> {}",
        escape(form),
        escape(figures.trim_start_matches(", "))
    )
}
