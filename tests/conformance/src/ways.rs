//! Which of its ways a collective is done by.

use crate::parse;
use qd_dialects::{
    attributes::{self, names},
    ir::{Op, OpExt},
};
use qd_lowering::targets::Target;
use qd_passes::{
    expand_collectives::{expansions_of, keeps_bits},
    select_subgroup_size::{threads_of, wave_of},
};
use std::{borrow::Cow, env, sync::LazyLock};

/// `QD_WAY`: each collective that can be done in several ways is done by that one of them, from 0: the forms of the
/// target, then the expansions. Where there are fewer, it begins at the first again.
static WAY: LazyLock<Option<usize>> = LazyLock::new(|| {
    let value = env::var("QD_WAY").ok()?;
    let way = value.parse();
    Some(way.unwrap_or_else(|why| panic!("QD_WAY={value}: {why}")))
});

/// A text whose collectives say so.
pub(crate) fn of<'t>(source: &'t str, target: &str) -> Cow<'t, str> {
    let Some(way) = *WAY else {
        return source.into();
    };
    let target = Target::parse(target).expect("a device has been opened");
    let context = qd_frontend::lazy_context();
    let parsed = parse(&context, source);
    // Safety: the module outlives what is done with its ops here.
    let module = unsafe { Op::from_raw(parsed.module().as_operation().to_raw()) };
    for op in module.nested() {
        // What has a size of its own says it above.
        let wave = wave_of(op).or(target.wave.map(i64::from));
        let (Some(wave), Some(threads), None) = (wave, threads_around(op), op.attr(names::FORM))
        else {
            continue;
        };
        let fitting = target.capabilities.fitting(op, wave).into_iter();
        let all = fitting.map(|form| form.name);
        let all = all.chain(expansions_of(op.full_name()));
        let all: Vec<_> = all
            .filter(|form| keeps_bits(op, form, threads, wave))
            .collect();
        if all.len() > 1 {
            let form = attributes::string(&context, all[way % all.len()]);
            op.set_attr(names::FORM, form);
        }
    }
    parsed.module().as_operation().to_string().into()
}

/// The threads of the block that an op is in.
fn threads_around(op: Op<'_>) -> Option<i64> {
    let mut around = Some(op);
    while let Some(at) = around {
        if let Some(threads) = threads_of(at) {
            return Some(threads);
        }
        around = at.parent();
    }
    None
}
