//! The levels between phases and targets, each a readable list of passes.

use crate::{
    emit,
    targets::{Search, Target},
};
use qd_dialects::{
    options,
    pass::{self, Pipeline},
};

/// A level of the IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Level {
    /// As `--to=` spells it.
    pub name: &'static str,
    /// What leads to it; nothing for the level of the source.
    pub pipeline: &'static str,
}

/// The levels of the IR, top to bottom.
pub const LEVELS: [Level; 5] = [
    Level::new("algo", ""),
    Level::new("grid", crate::algorithms::ToGrid::NAME),
    Level::new("plan", ToPlan::NAME),
    Level::new("subgroup", ToSubgroup::NAME),
    Level::new("target", ToTarget::NAME),
];

impl Level {
    const fn new(name: &'static str, pipeline: &'static str) -> Self {
        Self { name, pipeline }
    }

    /// Of that name.
    pub fn of(name: &str) -> Option<Self> {
        LEVELS.into_iter().find(|level| level.name == name)
    }

    /// The pipeline for a target, as text; empty for the level of the source.
    pub fn passes(self, target: &str) -> String {
        match self.pipeline {
            "" => String::new(),
            pipeline => format!("{pipeline}{{target={target}}}"),
        }
    }
}

/// Makes the pipelines reachable by name. Once a process.
pub fn register() {
    pass::register_pipeline::<ToPlan>();
    pass::register_pipeline::<ToSubgroup>();
    pass::register_pipeline::<ToTarget>();
}

options! {
    /// Options of every pipeline here.
    pub struct TargetOptions {
        /// the target that the kernels are for, such as cpu or cpu,wave=32
        target: String = "cpu",
        /// write each kernel's plan of launches to standard error
        print_plan: bool = false,
    }
}

impl TargetOptions {
    /// As a pipeline's text has them.
    fn text(&self) -> String {
        format!("{{target={} print-plan={}}}", self.target, self.print_plan)
    }
}

/// Bodies and kernels, side by side.
pub(crate) const CLEAN: &str = "any(qd-clean{max-iterations=1 simplify-regions=false})";

/// `qd-to-plan`: kernels as launches of outlined bodies, for any wave.
pub struct ToPlan;

impl Pipeline for ToPlan {
    type Options = TargetOptions;
    const NAME: &'static str = "qd-to-plan";
    const SUMMARY: &'static str = "Lower algorithms and phases to a plan of launches";

    fn passes(options: &TargetOptions) -> Result<String, String> {
        let target = Target::parse(&options.target)?;
        let wave = match (target.wave, target.capabilities.waves.as_slice()) {
            (Some(wave), _) | (None, &[wave]) => wave,
            // Every size there is.
            _ => 0,
        };
        Ok([
            &format!("qd-to-grid{}", options.text()),
            "qd-expand-narrow",
            "qd-verify-level{level=grid}",
            &format!("qd-verify-convergence{{wave={wave}}}"),
            &format!("qd-plan-launches{{print-plan={}}}", options.print_plan),
            "qd-mark-noalias",
            "qd-verify-level{level=plan}",
        ]
        .join(","))
    }
}

/// `qd-to-subgroup`: bodies for subgroups of one size.
pub struct ToSubgroup;

impl Pipeline for ToSubgroup {
    type Options = TargetOptions;
    const NAME: &'static str = "qd-to-subgroup";
    const FORMER_NAME: Option<&'static str> = Some("qd-to-tiled");
    const SUMMARY: &'static str = "Lower to launches of bodies for one subgroup size";

    fn passes(options: &TargetOptions) -> Result<String, String> {
        let target = Target::parse(&options.target)?;
        let select = match target.search {
            Search::Fixed => format!("qd-select-subgroup-size{{wave={}}}", default_wave(&target)),
            Search::Unseen => format!(
                "qd-select-lowering{{target={} unseen=true}}",
                options.target
            ),
            Search::All => format!("qd-select-lowering{{target={}}}", options.target),
        };
        Ok([
            &format!("qd-to-plan{}", options.text()),
            &select,
            "qd-fill-subgroups",
            CLEAN,
            "qd-merge-collectives",
            &format!("qd-expand-collectives{{target={}}}", options.target),
            &format!("qd-expand-math{{target={}}}", options.target),
            CLEAN,
            "qd-verify-level{level=subgroup}",
        ]
        .join(","))
    }
}

/// `qd-to-target`: what is handed to the emitter.
pub struct ToTarget;

impl Pipeline for ToTarget {
    type Options = TargetOptions;
    const NAME: &'static str = "qd-to-target";
    const SUMMARY: &'static str = "Lower all the way to the target's own dialects";

    fn passes(options: &TargetOptions) -> Result<String, String> {
        let target = Target::parse(&options.target)?;
        let conversion = emit::conversion(&target);
        Ok(format!(
            "qd-to-subgroup{},{},{conversion}",
            options.text(),
            emit::NAMED
        ))
    }
}

/// The wave a target gets unless it is asked for another: 32 if it has that,
/// and else its largest.
pub(crate) fn default_wave(target: &Target) -> u32 {
    let waves = &target.capabilities.waves;
    match target.wave {
        Some(wave) => wave,
        None if waves.contains(&32) => 32,
        None => waves.iter().copied().max().unwrap_or(32),
    }
}
