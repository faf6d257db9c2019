//! Launch plans as a page: the graph of each kernel's steps, with their dependencies and the
//! reasons. The page is one file that loads no others.

mod layout;
mod words;

use super::waits::{Memory, Reason, Waits};
use layout::{Node, layout};
use qd_artifact::{Access, Artifact, Kernel, Plan, Role, Step, StepKind};
use qd_passes::plan::access::Effect;
use std::{collections::HashMap, fmt::Write};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Of a character of the graphs, in pixels.
const ADVANCE: f64 = 7.3;
const LINE: f64 = 17.0;
const PADDING: f64 = 9.0;
/// Characters of a line in a graph; what is below it has all.
const MOST_CHARACTERS: usize = 46;
/// Lines in a box that say what its step waits for.
const MOST_REASONS: usize = 4;

/// The page of an artifact. `waits` has the reasons for the kernels' dependencies, in their
/// order; without it, the page shows dependencies without reasons.
pub fn page(artifact: &Artifact, waits: Option<&[Waits]>) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Launch plans</title>\n<style>\n{STYLE}</style>\n<h1>Launch plans</h1>\n\
         <p>A box is a step, and is below all that it waits for. A step of a loop or an \
         <code>if</code> is in its box. Point at a step for all of its text, or follow it to \
         its row below the graph.</p>\n<nav><ul>\n"
    );
    // Writing to a string does not fail.
    for kernel in &artifact.kernels {
        let name = escape(&kernel.name);
        let _ = writeln!(page, "<li><a href=\"#{name}\">{name}</a></li>");
    }
    page += "</ul></nav>\n";
    for (i, kernel) in artifact.kernels.iter().enumerate() {
        let name = escape(&kernel.name);
        let _ = writeln!(page, "<section>\n<h2 id=\"{name}\">{name}</h2>");
        page += &arguments(kernel);
        for (target, plan) in artifact.targets.iter().zip(&kernel.plans) {
            let _ = writeln!(page, "<h3>{}</h3>", escape(target));
            match plan {
                None => page += "<p>It cannot be run there.</p>\n",
                Some(plan) => {
                    let drawing = Drawing {
                        kernel,
                        prefix: format!("{}-{}", kernel.name, escape(target)),
                        waits: waits.map(|waits| &waits[i]),
                        names: names(&plan.steps),
                    };
                    page += &drawing.plan(plan);
                }
            }
        }
        page += "</section>\n";
    }
    let _ = writeln!(page, "<script>\n{SCRIPT}</script>\n</html>");
    page
}

/// Text as a page has it.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            _ => escaped.push(c),
        }
    }
    escaped
}

fn arguments(kernel: &Kernel) -> String {
    let row = |argument: &qd_artifact::Argument| {
        let access = match argument.access {
            Access::Read => "read",
            Access::Write => "written",
            Access::ReadWrite => "read and written",
        };
        let role = match argument.role {
            Role::Data => "data",
            Role::Scratch => "scratch",
            Role::Count => "count",
        };
        let least = argument.minimum.as_ref().map_or(String::new(), |minimum| {
            format!("at least {} rows", words::bare(minimum, kernel))
        });
        format!(
            "<tr><td><code>{}</code></td><td>{}</td><td>{access}</td><td>{role}</td><td>{}</td></tr>\n",
            escape(&argument.name),
            escape(&argument.kind.to_string()),
            escape(&least),
        )
    };
    let rows: String = kernel.arguments.iter().map(row).collect();
    format!("<details><summary>arguments</summary>\n<table>{rows}</table></details>\n")
}

/// What each step is called, by its number.
fn names(steps: &[Step]) -> HashMap<u64, String> {
    let mut names = HashMap::new();
    each(steps, &mut |step| {
        let name = match &step.kind {
            StepKind::Launch { name, .. } => name.as_str(),
            other => words::kind(other),
        };
        names.insert(step.id, name.into());
    });
    names
}

/// Steps, and those in them, in the order of the text.
fn each<'a>(steps: &'a [Step], visit: &mut impl FnMut(&'a Step)) {
    for step in steps {
        visit(step);
        if let StepKind::DoWhile { steps, .. } | StepKind::If { steps, .. } = &step.kind {
            each(steps, visit);
        }
    }
}

/// One plan.
struct Drawing<'a> {
    kernel: &'a Kernel,
    /// Of the names of places on the page.
    prefix: String,
    waits: Option<&'a Waits>,
    names: HashMap<u64, String>,
}

/// A part of a graph.
struct Drawn {
    width: f64,
    height: f64,
    svg: String,
}

impl Drawing<'_> {
    fn plan(&self, plan: &Plan) -> String {
        let count = self.names.len();
        let mut text = format!("<p>{count} step{}", if count == 1 { "" } else { "s" });
        if plan.control > 0 {
            let _ = write!(text, ", {} control words", plan.control);
        }
        text += ".</p>\n";
        if plan.steps.is_empty() {
            return text;
        }
        let drawn = self.list(&plan.steps);
        let (width, height) = (drawn.width + 4.0, drawn.height + 4.0);
        let _ = write!(
            text,
            "<div class=\"graph\"><svg width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"-2 -2 {width:.0} {height:.0}\" role=\"img\">\n\
             <defs><marker id=\"{}-tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" \
             markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path class=\"tip\" \
             d=\"M0 0L8 4L0 8z\"/></marker></defs>\n{}</svg></div>\n<div class=\"steps\">\n",
            escape(&self.prefix),
            drawn.svg
        );
        each(&plan.steps, &mut |step| text += &self.row(step));
        text + "</div>\n"
    }

    fn place(&self, step: u64) -> String {
        format!("{}-{step}", escape(&self.prefix))
    }

    fn called(&self, step: u64) -> String {
        format!(
            "{step} {}",
            self.names.get(&step).map_or("", String::as_str)
        )
    }

    /// Steps of one list.
    fn list(&self, steps: &[Step]) -> Drawn {
        let places: HashMap<u64, usize> =
            steps.iter().enumerate().map(|(i, s)| (s.id, i)).collect();
        let drawn: Vec<Drawn> = steps.iter().map(|step| self.step(step)).collect();
        let nodes: Vec<Node> = steps
            .iter()
            .zip(&drawn)
            .map(|(step, drawn)| Node {
                width: drawn.width,
                height: drawn.height,
                after: step.after.iter().map(|id| places[id]).collect(),
            })
            .collect();
        let placed = layout(&nodes);
        let mut svg = String::new();
        for (step, lines) in steps.iter().zip(&placed.lines) {
            for (line, from) in lines.iter().zip(&step.after) {
                let _ = writeln!(
                    svg,
                    "<path class=\"wait\" data-from=\"{}\" data-to=\"{}\" marker-end=\"url(#{}-tip)\" d=\"{}\"><title>{}</title></path>",
                    self.place(*from),
                    self.place(step.id),
                    escape(&self.prefix),
                    curve(line),
                    escape(&format!(
                        "{} waits for {}\n{}",
                        self.called(step.id),
                        self.called(*from),
                        self.reasons(step, *from).join("\n")
                    )),
                );
            }
        }
        for (drawn, (x, y)) in drawn.iter().zip(&placed.places) {
            let _ = writeln!(
                svg,
                "<g transform=\"translate({x:.1} {y:.1})\">{}</g>",
                drawn.svg
            );
        }
        Drawn {
            width: placed.width,
            height: placed.height,
            svg,
        }
    }

    /// A step's box, with what is in it.
    fn step(&self, step: &Step) -> Drawn {
        let inner = match &step.kind {
            StepKind::DoWhile { steps, .. } | StepKind::If { steps, .. } => Some(self.list(steps)),
            _ => None,
        };
        let waits: Vec<String> = step
            .after
            .iter()
            .flat_map(|from| {
                let reasons = self.reasons(step, *from);
                reasons
                    .into_iter()
                    .map(move |why| match why.contains(" what it ") {
                        true => why.replace(" what it ", &format!(" what {from} ")),
                        false => format!("after {from}: {why}"),
                    })
            })
            .collect();
        let mut lines: Vec<(&str, String)> = vec![("name", self.called(step.id))];
        lines.extend(self.about(step).into_iter().map(|line| ("what", line)));
        let shown = match waits.len() {
            ..=MOST_REASONS => waits.len(),
            _ => MOST_REASONS - 1,
        };
        lines.extend(waits[..shown].iter().map(|line| ("why", line.clone())));
        if waits.len() > shown {
            lines.push(("why", format!("… and {} more", waits.len() - shown)));
        }
        let long = |(_, line): &(&str, String)| line.chars().count().min(MOST_CHARACTERS);
        let characters = lines.iter().map(long).max().unwrap_or(0);
        let head = lines.len() as f64 * LINE + 2.0 * PADDING;
        let mut width = characters as f64 * ADVANCE + 2.0 * PADDING;
        let mut height = head;
        if let Some(inner) = &inner {
            width = width.max(inner.width + 4.0 * PADDING);
            height += inner.height + 2.0 * PADDING;
        }
        let class = words::kind(&step.kind);
        let place = self.place(step.id);
        let mut svg = format!(
            "<g class=\"step {class}\" data-step=\"{place}\"><rect width=\"{width:.1}\" height=\"{height:.1}\" rx=\"6\"/>\
             <a href=\"#{place}\"><title>{}</title><rect class=\"head\" width=\"{width:.1}\" height=\"{head:.1}\" rx=\"6\"/>",
            escape(&self.all(step).join("\n"))
        );
        for (i, (class, line)) in lines.iter().enumerate() {
            let y = PADDING + i as f64 * LINE + 12.5;
            let _ = write!(
                svg,
                "<text class=\"{class}\" x=\"{PADDING}\" y=\"{y:.1}\">{}</text>",
                escape(&short(line))
            );
        }
        svg += "</a>";
        if let Some(inner) = inner {
            let x = (width - inner.width) / 2.0;
            let _ = write!(
                svg,
                "\n<g transform=\"translate({x:.1} {head:.1})\">\n{}</g>",
                inner.svg
            );
        }
        svg += "</g>";
        Drawn { width, height, svg }
    }

    /// What a step is, besides its name.
    fn about(&self, step: &Step) -> Vec<String> {
        let kernel = self.kernel;
        let given = || words::memories(step, kernel).join("");
        match &step.kind {
            StepKind::Launch {
                body,
                blocks,
                threads,
                dynamic_shared_bytes,
                ..
            } => {
                let blocks = words::bare(blocks, kernel);
                let mut lines = vec![format!("{threads} threads × {blocks} blocks")];
                if *dynamic_shared_bytes > 0 {
                    lines.push(format!("{dynamic_shared_bytes} bytes of shared memory"));
                }
                lines.push(format!("body {body}"));
                lines
            }
            StepKind::Fill { value, .. } => {
                vec![format!("{} = {}", given(), words::bare(value, kernel))]
            }
            StepKind::DoWhile { .. } => vec![format!("again while {} ≠ 0", given())],
            StepKind::If { .. } => vec![format!("if {} ≠ 0", given())],
            StepKind::Dispatch { variants, .. } => variants
                .iter()
                .map(|variant| match &variant.predicate {
                    Some(when) => format!("{} if {}", variant.kernel, words::bare(when, kernel)),
                    None => format!("{} otherwise", variant.kernel),
                })
                .collect(),
        }
    }

    /// Why a step waits for another.
    fn reasons(&self, step: &Step, from: u64) -> Vec<String> {
        let Some(waits) = self.waits else {
            return vec!["as the plan has it".into()];
        };
        let given = words::memories(step, self.kernel);
        let uses = &waits.uses[&step.id];
        let say = |reason: &Reason| {
            let memory = words::used(uses, reason.place, &given, self.kernel);
            format!("{}: {memory}", reason.what)
        };
        let mut reasons: Vec<String> = waits.reasons[&(step.id, from)].iter().map(say).collect();
        let mut seen = Vec::new();
        reasons.retain(|reason| {
            let is_new = !seen.contains(reason);
            seen.extend(is_new.then(|| reason.clone()));
            is_new
        });
        if reasons.is_empty() {
            let kind = words::kind(&step.kind);
            reasons.push(match &step.kind {
                StepKind::Launch { .. } => format!(
                    "what is behind the {} waits for it",
                    self.names.get(&from).map_or("step", String::as_str)
                ),
                _ => format!("the {kind} waits for all before it"),
            });
        }
        reasons
    }

    /// What a step does with memory.
    fn uses(&self, step: &Step) -> Vec<String> {
        let given = words::memories(step, self.kernel);
        let Some(waits) = self.waits else {
            return given
                .iter()
                .map(|memory| format!("is given {memory}"))
                .collect();
        };
        let uses = &waits.uses[&step.id];
        let mut lines = Vec::new();
        for (place, used) in uses.iter().enumerate() {
            let Effect { reads, writes } = used.effect;
            let what = match (reads, writes) {
                (true, true) => "reads and writes",
                (true, false) => "reads",
                (false, true) => "writes",
                (false, false) if used.memory == Memory::Unknown => continue,
                (false, false) => "is given",
            };
            let line = format!("{what} {}", words::used(uses, place, &given, self.kernel));
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    /// All that is known of a step, a line each.
    fn all(&self, step: &Step) -> Vec<String> {
        let mut lines = vec![self.called(step.id)];
        lines.extend(self.about(step));
        lines.extend(self.uses(step));
        for from in &step.after {
            for why in self.reasons(step, *from) {
                lines.push(format!("waits for {}: {why}", self.called(*from)));
            }
        }
        lines
    }

    /// A step's row below the graph.
    fn row(&self, step: &Step) -> String {
        let mut lines = self.all(step).into_iter();
        let name = lines.next().unwrap_or_default();
        let mut row = format!(
            "<details id=\"{}\"><summary><b>{}</b>{}</summary><ul>\n",
            self.place(step.id),
            escape(&name),
            match &step.kind {
                StepKind::Launch { .. } => " launch",
                // Called so.
                _ => "",
            },
        );
        for line in lines {
            let _ = writeln!(row, "<li>{}</li>", escape(&line));
        }
        row + "</ul></details>\n"
    }
}

fn short(line: &str) -> String {
    match line.chars().count() > MOST_CHARACTERS {
        false => line.into(),
        true => {
            let start: String = line.chars().take(MOST_CHARACTERS - 1).collect();
            start + "…"
        }
    }
}

/// A line through points from top to bottom that is upright at each.
fn curve(points: &[(f64, f64)]) -> String {
    let (x, y) = points[0];
    let mut path = format!("M{x:.1} {y:.1}");
    for pair in points.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let middle = (y0 + y1) / 2.0;
        let _ = match (x0 - x1).abs() < 0.05 {
            true => write!(path, "V{y1:.1}"),
            false => write!(
                path,
                "C{x0:.1} {middle:.1} {x1:.1} {middle:.1} {x1:.1} {y1:.1}"
            ),
        };
    }
    path
}
