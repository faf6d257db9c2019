//! What was chosen of what, and why: as facts, as text and as attributes of the IR. The
//! [page](super::page) is made of the same facts.

use super::{
    Candidates,
    cost::PIPES,
    extract::{Choice, shape_of},
    judge::Whole,
    materialise::{Outcome, Replaced},
    price::{Candidate, Pricer},
};
use qd_dialects::{
    attributes::{self, names},
    diagnostic::Result,
    interfaces::Collective,
    ir::{Op, OpExt, context_of},
    melior::ir::Attribute,
};
use std::{collections::BTreeSet, fmt::Write};

/// What is said of one body.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The target that it is for.
    pub target: String,
    /// What the body is called.
    pub name: String,
    /// Threads of a block.
    pub threads: i64,
    /// The number of its group.
    pub group: usize,
    /// The chosen size.
    pub wave: u32,
    /// What the body takes at each size that it may have.
    pub waves: Vec<(u32, Whole)>,
    /// The sizes that it may not have, each with the reason.
    pub refused: Vec<(u32, String)>,
    /// The time as it was, at the chosen size.
    pub before: f64,
    /// Whether no choice has a lesser sum of costs.
    pub is_optimal: bool,
    /// What each collective is done by.
    pub ops: Vec<OfOp>,
    /// Ops whose place a term took.
    pub replaced: Vec<Replaced>,
    /// Ops that stay although another term was chosen.
    pub kept: usize,
}

/// What an op is done by, and what else there is.
#[derive(Clone, Debug)]
pub struct OfOp {
    /// Its name.
    pub op: String,
    /// Where it stands.
    pub location: String,
    /// What was taken.
    pub taken: Candidate,
    /// What was not.
    pub others: Vec<Candidate>,
    /// Why the taken form does what the op says, where the target's table or that of expansions says it.
    pub reason: Option<&'static str>,
    /// Who says what the taken form costs.
    pub source: Option<String>,
}

/// Why a body has the ops that it had.
pub const LEFT_ALONE: &str =
    "Left as it is: its threads do not fill their last subgroup, and terms are of full ones.";

impl Explanation {
    /// Of a body for which nothing was to be chosen, as its threads do not fill subgroups of this size.
    pub fn of_left_alone(op: Op<'_>, threads: i64, group: usize, target: &str, wave: u32) -> Self {
        Self {
            target: target.to_owned(),
            name: name_of(op),
            threads,
            group,
            wave,
            waves: Vec::new(),
            refused: Vec::new(),
            before: 0.0,
            is_optimal: true,
            ops: Vec::new(),
            replaced: Vec::new(),
            kept: 0,
        }
    }

    /// Whether nothing was to be chosen.
    pub fn is_left_alone(&self) -> bool {
        self.waves.is_empty()
    }

    /// Of a body for which this was chosen, before it is rewritten.
    pub fn of<'c>(
        body: &Candidates<'c>,
        choice: &Choice,
        group: usize,
        target: &str,
        pricer: &mut Pricer<'_, 'c>,
    ) -> Result<'c, Self> {
        let mut ops = Vec::new();
        for (at, site) in body.body.sites.iter().enumerate() {
            if Collective::of(site.op).is_none() {
                continue;
            }
            let (taken, all) = match &site.term {
                None => {
                    let all = pricer.op(site.op, body.threads, choice.wave)?;
                    (choice.forms[at].clone(), all)
                }
                Some((class, node)) => {
                    let class = body.body.graph.find(*class);
                    let kept = choice.terms.get(&class);
                    let kept = kept.filter(|(chosen, _)| chosen.head == node.head);
                    let shape = shape_of(&body.body, node);
                    match (kept, shape) {
                        (Some((_, taken)), Some(shape)) => {
                            (Some(taken.clone()), pricer.term(&shape, choice.wave)?)
                        }
                        _ => continue,
                    }
                }
            };
            let Some(taken) = taken else { continue };
            let source = pricer.source(taken.form, site.op.full_name(), choice.wave);
            let reason = pricer.reason(taken.form, site.op.full_name());
            ops.push(OfOp {
                op: site.op.full_name().to_owned(),
                location: site.op.location().to_string(),
                others: (all.into_iter())
                    .filter(|other| other.form != taken.form)
                    .collect(),
                reason,
                source: source.map(str::to_owned),
                taken,
            });
        }
        Ok(Self {
            target: target.to_owned(),
            name: name_of(body.op),
            threads: body.threads,
            group,
            wave: choice.wave,
            waves: (body.choices.iter())
                .map(|choice| (choice.wave, choice.whole))
                .collect(),
            refused: body.refused.clone(),
            before: choice.before.time,
            is_optimal: choice.is_optimal,
            ops,
            replaced: Vec::new(),
            kept: 0,
        })
    }

    /// With what became of the body.
    pub fn with(mut self, outcome: Outcome<'_>) -> Self {
        (self.replaced, self.kept) = (outcome.replaced, outcome.kept);
        self
    }

    /// The time at a size, if it may have that.
    pub fn time(&self, wave: u32) -> Option<f64> {
        let mut waves = self.waves.iter();
        waves.find_map(|(known, whole)| (*known == wave).then_some(whole.time))
    }

    /// How much more than at the chosen size it takes at each other one, in words.
    pub fn others(&self) -> Vec<String> {
        let chosen = self.time(self.wave).unwrap_or_default();
        let others = self.waves.iter().filter(|(wave, _)| *wave != self.wave);
        let others = others.map(|(wave, whole)| {
            let more = 100.0 * (whole.time / chosen - 1.0);
            format!("{wave}: {more:+.1} %")
        });
        others.collect()
    }

    /// In words.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{} threads {}, group {}: wave {}",
            self.name, self.threads, self.group, self.wave
        );
        let others = self.others();
        if !others.is_empty() {
            let _ = write!(text, " ({})", others.join(", "));
        }
        text.push('\n');
        if self.is_left_alone() {
            let _ = writeln!(text, "  {LEFT_ALONE}");
            return text;
        }
        let names: Vec<_> = PIPES.iter().map(|(_, name)| format!("{name:>9}")).collect();
        let _ = writeln!(
            text,
            "  wave      time{}  latency   values resident",
            names.concat()
        );
        for (wave, whole) in &self.waves {
            let mark = if *wave == self.wave { '*' } else { ' ' };
            let _ = write!(text, "  {mark}{wave:<4}{:9.2}", whole.time);
            let issue = whole.issue.iter();
            issue.for_each(|issue| _ = write!(text, "{issue:9.2}"));
            let _ = writeln!(
                text,
                "{:9.2}{:9}{:9.0}",
                whole.latency, whole.live, whole.resident
            );
        }
        for (wave, why) in &self.refused {
            let _ = writeln!(text, "   {wave:<4} not: {why}");
        }
        let time = self.time(self.wave).unwrap_or_default();
        if self.before != time {
            let _ = writeln!(text, "  as it was: {:.2}, now {time:.2}", self.before);
        }
        if !self.is_optimal {
            text += "  too large to be searched exactly: another choice may be cheaper\n";
        }
        for of in &self.ops {
            let _ = write!(
                text,
                "  {} ({}) -> {}",
                of.op,
                of.location,
                worded(&of.taken)
            );
            let others = of.others.iter();
            others.for_each(|other| _ = write!(text, "; {}", worded(other)));
            text.push('\n');
        }
        let mut said: Vec<&str> = Vec::new();
        for of in &self.ops {
            if let Some(source) = &of.source
                && !said.contains(&of.taken.form)
            {
                let _ = writeln!(text, "  cost of {}: {source}", of.taken.form);
                said.push(of.taken.form);
            }
        }
        for replaced in &self.replaced {
            let rules = replaced.rules.join(", ");
            let Replaced {
                op, location, term, ..
            } = replaced;
            let _ = writeln!(text, "  {op} ({location}) -> {term} by {rules}");
        }
        if self.kept > 0 {
            let kept = self.kept;
            let _ = writeln!(text, "  {kept} kept: what was chosen cannot stand there");
        }
        text
    }
}

/// What a body is called.
fn name_of(op: Op<'_>) -> String {
    let name = op.attr("sym_name").and_then(attributes::text);
    name.map_or_else(|| op.full_name().to_owned(), |name| format!("@{name}"))
}

fn worded(one: &Candidate) -> String {
    let uses: f64 = one.cost.uses.iter().sum();
    format!("{} {uses:.1}, latency {:.1}", one.form, one.cost.latency)
}

/// Says on a body what was chosen: its time, that of each size that it may have, in cycles a lane, and the rules by which
/// terms took the place of others.
pub fn annotate(op: Op<'_>, waves: &[(u32, Whole)], choice: &Choice, rules: &BTreeSet<&str>) {
    let context = context_of(op);
    let hundredths = |time: f64| format!("{time:.2} : f64");
    let mut text = format!(
        "{{cost = {}, before = {}, optimal = {}",
        hundredths(choice.whole.time),
        hundredths(choice.before.time),
        choice.is_optimal
    );
    let others = waves.iter().filter(|(wave, _)| *wave != choice.wave);
    if let Some((wave, whole)) = others.min_by(|a, b| a.1.time.total_cmp(&b.1.time)) {
        let sizes = waves.iter().map(|(wave, _)| wave.to_string());
        let times = waves.iter().map(|(_, whole)| format!("{:.2}", whole.time));
        let _ = write!(
            text,
            ", runner_up = {wave} : i64, runner_up_cost = {}, waves = array<i64: {}>, costs = array<f64: {}>",
            hundredths(whole.time),
            sizes.collect::<Vec<_>>().join(", "),
            times.collect::<Vec<_>>().join(", ")
        );
    }
    if !rules.is_empty() {
        let rules: Vec<_> = rules.iter().map(|rule| format!("\"{rule}\"")).collect();
        let _ = write!(text, ", rules = [{}]", rules.join(", "));
    }
    text.push('}');
    if let Some(said) = Attribute::parse(context, &text) {
        op.set_attr(names::SELECT, said);
    }
}
