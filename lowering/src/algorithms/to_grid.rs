//! `qd-to-grid`: from device-wide algorithms to phases.

use crate::{pipelines::CLEAN, targets::Target};
use qd_dialects::{options, pass::Pipeline};

options! {
    /// Options of `qd-to-grid`.
    pub struct ToGridOptions {
        /// the target that the phases are for, such as cpu or cpu,wave=32
        target: String = "cpu",
        /// write for each elementwise phase whether it is fused, and why, to standard error
        print_plan: bool = false,
    }
}

/// `qd-to-grid`.
pub struct ToGrid;

impl Pipeline for ToGrid {
    type Options = ToGridOptions;
    const NAME: &'static str = "qd-to-grid";
    const SUMMARY: &'static str = "Lower device-wide algorithms to phases";

    fn passes(options: &ToGridOptions) -> Result<String, String> {
        let target = Target::parse(&options.target)?;
        let expand = format!("qd-expand-algorithms{{target={}}}", options.target);
        let fuse = format!("qd-fuse-producers{{print-plan={}}}", options.print_plan);
        // Of the source alone, not of what algorithms become.
        let begin = match target.checks {
            true => "qd-inline-functions,qd-verify-level{level=algo},qd-add-checks",
            false => "qd-inline-functions,qd-verify-level{level=algo}",
        };
        Ok([
            // Before anything that folds.
            "qd-guard-atan2",
            begin,
            "qd-split-aliases",
            "qd-expand-scratch",
            "qd-expand-swaps",
            "qd-expand-dims",
            "qd-expand-views",
            &expand,
            &fuse,
            "qd-expand-for-each",
            CLEAN,
        ]
        .join(","))
    }
}
