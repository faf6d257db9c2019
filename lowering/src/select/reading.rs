//! What the search has of a body before anything is priced: read from the IR and from nothing else, so that bodies are
//! read at once.

use super::{
    allowed, asked_form,
    control::deciding,
    extract::{Problem, Setting},
    import::Body,
    occupancy::Needs,
    price::Pricer,
    saturate::{saturated, without_clock},
};
use crate::targets::Target;
use qd_dialects::{
    attributes,
    diagnostic::{Diagnostic, Result},
    interfaces::Collective,
    ir::{Op, OpExt},
};
use qd_passes::{
    uniformity::Uniformity,
    verify_convergence::{self, Calls},
};

/// A body, with what rules add, and what it needs.
pub struct Reading<'c> {
    pub op: Op<'c>,
    pub threads: i64,
    pub body: Body<'c>,
    pub problem: Problem,
    /// The sizes that it may have.
    pub waves: Vec<u32>,
    /// Those that it may not have, each with the reason.
    pub refused: Vec<(u32, String)>,
    /// Ops that are to be done by a form.
    asked: Vec<Op<'c>>,
    needs: Needs,
}

impl<'c> Reading<'c> {
    /// Of a body of blocks of `threads`.
    ///
    /// # Errors
    ///
    /// It may have no size, or a rule is wrong.
    pub fn of(op: Op<'c>, threads: i64, target: &Target, calls: &Calls<'c>) -> Result<'c, Self> {
        let _span = tracing::info_span!("read", body = name_of(op)).entered();
        let allowed = allowed(op, target)?;
        // Where there is one size, the maker of the plan has verified it.
        let is_chosen = target.capabilities.waves.len() > 1;
        let (diverging, uniformity) = match is_chosen {
            true => verify_convergence::refused(op, threads, &allowed, calls),
            false => (Vec::new(), None),
        };
        let (mut asked, mut largest) = (Vec::new(), 1);
        for inner in op.nested() {
            if asked_form(inner).is_some() {
                asked.push(inner);
            }
            let log2 = Collective::of(inner).and_then(|op| op.log2_cluster_size);
            largest = largest.max(log2.map_or(1, |log2| 1 << log2));
        }
        let (mut waves, mut refused) = (Vec::new(), Vec::new());
        for wave in allowed {
            let diverges = diverging.iter().find(|(at, _)| *at == wave);
            if threads % i64::from(wave) != 0 {
                let reason =
                    format!("a block of {threads} threads does not fill its last subgroup");
                refused.push((wave, reason));
            } else if largest > wave {
                refused.push((wave, format!("a cluster has {largest} lanes")));
            } else if let Some((_, reason)) = diverges {
                refused.push((wave, reason.clone()));
            } else {
                waves.push(wave);
            }
        }
        let (Some(block), Some(widest)) = (op.body(), waves.iter().copied().max()) else {
            return Err(no_size(op, &refused));
        };
        let uniformity = uniformity.filter(|uniformity| uniformity.wave() == widest);
        let uniformity = uniformity.unwrap_or_else(|| Uniformity::analyse(block, threads, widest));
        let needs = Needs::of(op, block, &uniformity, target);
        let deciding = deciding(op);
        let body = without_clock(|| {
            let mut body = Body::read(block, &uniformity);
            if body.graph.number_of_classes() > 0 {
                body.graph = saturated(op, body.graph, body.sites.len())?;
            }
            Ok(body)
        })?;
        Ok(Self {
            op,
            threads,
            problem: Problem::new(&body, &deciding),
            body,
            waves,
            refused,
            asked,
            needs,
        })
    }

    /// Leaves the sizes at which each op can be done as it asks.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn meet_forms(&mut self, pricer: &mut Pricer<'_, 'c>) -> Result<'c, ()> {
        let mut unmet = None;
        for wave in std::mem::take(&mut self.waves) {
            match unmet_form(&self.asked, self.threads, wave, pricer)? {
                Some((op, reason)) => {
                    self.refused.push((wave, reason.clone()));
                    unmet.get_or_insert((op, reason));
                }
                None => self.waves.push(wave),
            }
        }
        match unmet {
            Some((op, reason)) if self.waves.is_empty() => Err(Diagnostic::at(op, reason)),
            _ => Ok(()),
        }
    }

    /// Leaves one size of those that it may have.
    pub fn keep(&mut self, wave: u32) {
        let others = self.waves.extract_if(.., |other| *other != wave);
        let reason = "subgroups are used, so that results may show the size: 'select' or \
                      'qd.wave = \"any\"' allows it";
        self.refused
            .extend(others.map(|other| (other, reason.into())));
    }

    /// Of what a choice is made at each size.
    pub fn settings(&self, target: &Target, costs: &super::Costs) -> Vec<Setting> {
        let (threads, needs) = (self.threads, &self.needs);
        let of = |wave: &u32| Setting {
            threads,
            wave: *wave,
            resident: needs.resident(costs, threads, *wave).unwrap_or(1.0),
            live: needs.live,
            shared: i64::from(target.capabilities.max_shared_bytes) - needs.shared as i64,
        };
        self.waves.iter().map(of).collect()
    }
}

fn name_of(op: Op<'_>) -> String {
    let name = op.attr("sym_name").and_then(attributes::text);
    name.unwrap_or_else(|| op.full_name().to_owned())
}

fn no_size<'c>(op: Op<'c>, refused: &[(u32, String)]) -> Diagnostic<'c> {
    let reasons = refused.iter().map(|(wave, why)| format!("{wave}: {why}"));
    let reasons: Vec<_> = reasons.collect();
    let message = format!("can have no subgroup size: {}", reasons.join("; "));
    Diagnostic::at(op, message)
}

/// The first op that is to be done by a form which it does not have in subgroups of this size, and what
/// there is instead.
fn unmet_form<'c>(
    asked: &[Op<'c>],
    threads: i64,
    wave: u32,
    pricer: &mut Pricer<'_, 'c>,
) -> Result<'c, Option<(Op<'c>, String)>> {
    for op in asked.iter().copied() {
        let form = asked_form(op).and_then(attributes::text);
        let Some(form) = form else {
            return Err(Diagnostic::at(op, "'qd.form' is not the name of a form"));
        };
        let all = pricer.op(op, threads, wave)?;
        if all.iter().any(|candidate| candidate.form == form) {
            continue;
        }
        let forms = all.iter().filter(|candidate| !candidate.form.is_empty());
        let forms: Vec<_> = forms
            .map(|candidate| format!("'{}'", candidate.form))
            .collect();
        let instead = match forms.as_slice() {
            [] => "it is done in one way alone".into(),
            forms => format!("there is {}", forms.join(", ")),
        };
        let reason = format!("cannot be done by '{form}' in subgroups of {wave}: {instead}");
        return Ok(Some((op, reason)));
    }
    Ok(None)
}
