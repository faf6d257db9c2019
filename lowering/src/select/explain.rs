//! What was chosen of what, and why, in words.

use super::{
    Candidates,
    cost::PIPES,
    extract::{Choice, shape_of},
    materialise::Outcome,
    price::{Candidate, Pricer},
};
use qd_dialects::{
    attributes,
    diagnostic::Result,
    interfaces::Collective,
    ir::{Op, OpExt},
};
use std::fmt::Write;

/// What is said of one body.
pub struct Explanation {
    text: String,
}

impl Explanation {
    /// Of a body for which this was chosen, before it is rewritten.
    pub fn of<'c>(
        body: &Candidates<'c>,
        choice: &Choice,
        group: usize,
        pricer: &mut Pricer<'_, 'c>,
    ) -> Result<'c, Self> {
        let mut text = String::new();
        let name = body.op.attr("sym_name").and_then(attributes::text);
        let name = name.map_or_else(|| body.op.full_name().to_owned(), |name| format!("@{name}"));
        let _ = write!(
            text,
            "{name} threads {}, group {group}: wave {}",
            body.threads, choice.wave
        );
        let others: Vec<String> = (body.choices.iter())
            .filter(|other| other.wave != choice.wave)
            .map(|other| {
                let more = 100.0 * (other.whole.time / choice.whole.time - 1.0);
                format!("{}: {more:+.1} %", other.wave)
            })
            .collect();
        if !others.is_empty() {
            let _ = write!(text, " ({})", others.join(", "));
        }
        text.push('\n');
        let names: Vec<_> = PIPES.iter().map(|(_, name)| format!("{name:>9}")).collect();
        let _ = writeln!(text, "  wave      time{}  latency", names.concat());
        for one in &body.choices {
            let mark = if one.wave == choice.wave { '*' } else { ' ' };
            let _ = write!(text, "  {mark}{:<4}{:9.2}", one.wave, one.whole.time);
            one.whole
                .issue
                .iter()
                .for_each(|issue| _ = write!(text, "{issue:9.2}"));
            let _ = writeln!(text, "{:9.2}", one.whole.latency);
        }
        for (wave, why) in &body.refused {
            let _ = writeln!(text, "   {wave:<4} not: {why}");
        }
        if choice.before.time != choice.whole.time {
            let (before, after) = (choice.before.time, choice.whole.time);
            let _ = writeln!(text, "  as it was: {before:.2}, now {after:.2}");
        }
        let mut sources: Vec<(&str, String)> = Vec::new();
        for (at, site) in body.body.sites.iter().enumerate() {
            let (taken, all) = match &site.term {
                None if Collective::of(site.op).is_some() => {
                    let all = pricer.op(site.op, body.threads, choice.wave)?;
                    (choice.forms[at].clone(), all)
                }
                Some((class, node)) if Collective::of(site.op).is_some() => {
                    let class = body.body.graph.find(*class);
                    let kept = choice.terms.get(&class);
                    let kept = kept.filter(|(chosen, _)| chosen.head == node.head);
                    let Some((_, taken)) = kept else { continue };
                    let shape = shape_of(&body.body, node);
                    let all = match shape {
                        Some(shape) => pricer.term(&shape, choice.wave)?,
                        None => continue,
                    };
                    (Some(taken.clone()), all)
                }
                _ => continue,
            };
            if let Some(taken) = taken {
                forms(&mut text, site.op, &taken, &all);
                let source = pricer.source(taken.form, site.op.full_name(), choice.wave);
                let source = source.map(|source| (taken.form, source.to_owned()));
                if let Some(source) = source.filter(|known| !sources.contains(known)) {
                    sources.push(source);
                }
            }
        }
        for (form, source) in sources {
            let _ = writeln!(text, "  cost of {form}: {source}");
        }
        Ok(Self { text })
    }

    /// With what became of the body.
    pub fn text(mut self, outcome: &Outcome<'_>) -> String {
        for replaced in &outcome.replaced {
            let _ = writeln!(
                self.text,
                "  {} -> {} by {}",
                replaced.op,
                replaced.term,
                replaced.rules.join(", ")
            );
        }
        if outcome.kept > 0 {
            let kept = outcome.kept;
            let _ = writeln!(
                self.text,
                "  {kept} kept: what was chosen cannot stand there"
            );
        }
        self.text
    }
}

/// What an op is done by, and what else there is.
fn forms(text: &mut String, op: Op<'_>, taken: &Candidate, all: &[Candidate]) {
    let sum = |one: &Candidate| one.cost.uses.iter().sum::<f64>();
    let _ = write!(
        text,
        "  {} ({}) -> {} {:.1}, latency {:.1}",
        op.full_name(),
        op.location(),
        taken.form,
        sum(taken),
        taken.cost.latency
    );
    for other in all.iter().filter(|other| other.form != taken.form) {
        let _ = write!(
            text,
            "; {} {:.1}, latency {:.1}",
            other.form,
            sum(other),
            other.cost.latency
        );
    }
    text.push('\n');
}
