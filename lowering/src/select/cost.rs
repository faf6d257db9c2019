//! What a target's forms cost: rows of data, ours or of a file.
//!
//! A figure is what one subgroup takes of a pipe, in cycles in which that issues, and the
//! cycles until the result is there. `costs.json` beside this has ours, each with its source. A
//! file given by `costs=` has rows of the same shape, which go before ours.

use super::language::Operator;
use crate::targets::Capabilities;
use qd_dialects::{
    attributes::Kind,
    diagnostic::{Diagnostic, Result},
    ir::Context,
    melior::ir::Location,
    ops::simt,
};
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor, value::MapAccessDeserializer},
};
use std::{
    collections::BTreeMap,
    fmt, fs,
    ops::{Add, Mul},
    sync::LazyLock,
};

/// What issues instructions side by side with the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pipe {
    /// Arithmetic of lanes.
    Alu,
    /// Arithmetic of subgroups.
    Scalar,
    /// Shared memory.
    Shared,
    /// Device memory.
    Memory,
}

/// Every pipe, with its name.
pub const PIPES: [(Pipe, &str); 4] = [
    (Pipe::Alu, "alu"),
    (Pipe::Scalar, "scalar"),
    (Pipe::Shared, "shared"),
    (Pipe::Memory, "memory"),
];

/// What ops that are no collectives cost as, and the subgroups that a scheduler has resident. `uniform` are integers that
/// are the same in a subgroup, `mask` those of 64 bits that are made of masks of lanes, `minmax` minima and maxima of
/// floats of 32 bits, and `popc` counts of the set bits of a mask.
pub const CLASSES: [&str; 17] = [
    "int",
    "int64",
    "mask",
    "uniform",
    "float",
    "minmax",
    "popc",
    "double",
    "math",
    "load",
    "store",
    "shared",
    "atomic",
    "shared atomic",
    "barrier",
    "branch",
    "resident",
];

/// What limits the subgroups that a scheduler has resident, besides its slots (`resident`): schedulers
/// of a core; registers of 32 bits that the subgroups of a scheduler share, in each lane; of how
/// many at a time they are given out; and the bytes of shared memory of a core.
pub const LIMITS: [&str; 4] = ["schedulers", "registers", "granule", "bytes"];

/// Of what a figure is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Per {
    /// A subgroup.
    #[default]
    Wave,
    /// A subgroup's values of 32 bits: those of 64 take it twice.
    Word,
    /// A lane.
    Lane,
    /// A bit of its value that counts.
    Bit,
}

/// One figure.
#[derive(Clone, Debug)]
pub struct Row {
    targets: Vec<String>,
    wave: Option<u32>,
    form: String,
    op: Option<String>,
    kind: Option<Kind>,
    masks: Option<Vec<i64>>,
    pipe: Pipe,
    r#use: f64,
    also: BTreeMap<Pipe, f64>,
    latency: f64,
    per: Per,
    is_operand: bool,
    source: String,
}

/// A row as a file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    /// The targets that it is of.
    targets: Vec<String>,
    /// Lanes in a subgroup; any.
    wave: Option<u32>,
    /// A form as the target's table names it, or one of [`CLASSES`] or [`LIMITS`].
    form: String,
    /// The op, where a form is of several that differ.
    op: Option<String>,
    /// What the op combines by, where that makes a difference.
    kind: Option<String>,
    /// Of a shuffle by xor: the constant masks for which it is so.
    masks: Option<Vec<i64>>,
    pipe: Pipe,
    r#use: f64,
    /// What it takes of other pipes.
    #[serde(default)]
    also: BTreeMap<Pipe, f64>,
    latency: f64,
    #[serde(default)]
    per: Per,
    /// Of a move: whether an instruction of 32 bits takes it as an operand, where it alone uses it.
    #[serde(default, rename = "operand")]
    is_operand: bool,
    /// Who says so.
    source: String,
}

impl TryFrom<Written> for Row {
    type Error = String;

    fn try_from(row: Written) -> std::result::Result<Self, String> {
        let also = row.also.values().map(|r#use| ("also", *r#use));
        for (name, figure) in [("use", row.r#use), ("latency", row.latency)]
            .into_iter()
            .chain(also)
        {
            if !(figure.is_finite() && figure >= 0.0) {
                return Err(format!("'{name}' of '{}' is negative: {figure}", row.form));
            }
        }
        let kind = row.kind.as_deref().map(str::parse).transpose()?;
        if row.source.trim().is_empty() {
            return Err(format!("'{}' has no source", row.form));
        }
        if row.targets.is_empty() {
            return Err(format!("'{}' has no targets", row.form));
        }
        if row.masks.as_ref().is_some_and(Vec::is_empty) {
            return Err(format!("'masks' of '{}' are none", row.form));
        }
        let is_own = CLASSES.contains(&&*row.form) || LIMITS.contains(&&*row.form);
        for name in &row.targets {
            let capabilities = Capabilities::of(name)?;
            let forms = capabilities.forms.iter();
            let mut forms = forms.filter(|form| {
                form.name == row.form && row.op.as_deref().is_none_or(|op| form.op == op)
            });
            let first = forms.next();
            if first.is_none() && (row.op.is_some() || !is_own) {
                let of = row.op.map(|op| format!(" of '{op}'")).unwrap_or_default();
                return Err(format!("target '{name}' has no form '{}'{of}", row.form));
            }
            let ops: Vec<_> = first.into_iter().chain(forms).map(|form| form.op).collect();
            if kind.is_some() && !ops.iter().any(|op| combines(op)) {
                return Err(format!(
                    "'kind' of '{}': what combines values has one alone",
                    row.form
                ));
            }
            if row.masks.is_some() && !ops.contains(&simt::Shuffle::NAME) {
                return Err(format!(
                    "'masks' of '{}': a shuffle has them alone",
                    row.form
                ));
            }
            let lanes = capabilities
                .waves
                .iter()
                .copied()
                .max()
                .map_or(0, i64::from);
            let mut masks = row.masks.iter().flatten();
            if let Some(mask) = masks.find(|mask| !(1..lanes).contains(*mask)) {
                return Err(format!(
                    "'masks' of '{}': {mask} is not from 1 to {}, the lanes of target '{name}'",
                    row.form,
                    lanes - 1
                ));
            }
            if row
                .wave
                .is_some_and(|wave| !capabilities.waves.contains(&wave))
            {
                let wave = row.wave.unwrap_or_default();
                return Err(format!("target '{name}' has no wave of {wave}"));
            }
        }
        Ok(Self {
            targets: row.targets,
            wave: row.wave,
            form: row.form,
            op: row.op,
            kind,
            masks: row.masks,
            pipe: row.pipe,
            r#use: row.r#use,
            also: row.also,
            latency: row.latency,
            per: row.per,
            is_operand: row.is_operand,
            source: row.source,
        })
    }
}

/// Whether an op of this full name combines values by a kind.
fn combines(op: &str) -> bool {
    let name = op.strip_prefix(simt::PREFIX).unwrap_or(op);
    let of_name = |row: &&(Operator, &str, usize)| row.1 == name;
    Operator::ALL
        .iter()
        .find(of_name)
        .is_some_and(|row| row.0.combines())
}

/// Checked while the row is read, so that an error has its place.
impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct OfRow;
        impl<'de> Visitor<'de> for OfRow {
            type Value = Row;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a row of costs")
            }

            fn visit_map<M: MapAccess<'de>>(self, row: M) -> std::result::Result<Row, M::Error> {
                let row = Written::deserialize(MapAccessDeserializer::new(row))?;
                Row::try_from(row).map_err(M::Error::custom)
            }
        }
        from.deserialize_map(OfRow)
    }
}

/// What something takes: of each pipe, and until its result is there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// By [`PIPES`].
    pub uses: [f64; PIPES.len()],
    /// Cycles.
    pub latency: f64,
}

impl Add for Cost {
    type Output = Self;

    /// One after the other.
    fn add(self, other: Self) -> Self {
        Self {
            uses: std::array::from_fn(|pipe| self.uses[pipe] + other.uses[pipe]),
            latency: self.latency + other.latency,
        }
    }
}

impl Mul<f64> for Cost {
    type Output = Self;

    fn mul(self, times: f64) -> Self {
        Self {
            uses: self.uses.map(|r#use| r#use * times),
            latency: self.latency * times,
        }
    }
}

/// Of what a cost is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// A form's name, or one of [`CLASSES`].
    pub form: &'a str,
    /// The op's full name.
    pub op: &'a str,
    /// Lanes in a subgroup.
    pub wave: u32,
    /// What it combines by.
    pub kind: Option<Kind>,
    /// The constant mask of a shuffle by xor.
    pub mask: Option<i64>,
    /// Values of 32 bits that one of its values is.
    pub words: u32,
    /// Bits of its value that count.
    pub bits: u32,
}

impl<'a> Question<'a> {
    /// Of one word, all of whose bits count, of any kind and mask.
    pub fn new(form: &'a str, op: &'a str, wave: u32) -> Self {
        Self {
            form,
            op,
            wave,
            kind: None,
            mask: None,
            words: 1,
            bits: 32,
        }
    }
}

/// The costs of one target.
#[derive(Clone, Debug)]
pub struct Costs {
    /// Ours, and behind them those of a file.
    rows: Vec<Row>,
    ours: usize,
}

impl Costs {
    /// Ours, and those of a file if there is one.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or a row of it is not right: at its place in the file.
    pub fn of<'c>(
        context: &'c Context,
        target: &Capabilities,
        file: Option<&str>,
    ) -> Result<'c, Self> {
        let mut costs = Self::ours(target);
        if let Some(path) = file {
            // Lines and columns begin at 1; what is about the whole file is at its start.
            let at = |line: usize, column: usize| {
                Location::new(context, path, line.max(1), column.max(1))
            };
            let text = fs::read_to_string(path).map_err(|error| {
                let message = format!("the file that 'costs' names cannot be read: {error}");
                Diagnostic::new(at(1, 1), message)
            })?;
            let given: Vec<Row> = serde_json::from_str(&text).map_err(|error| {
                let text = error.to_string();
                // The place is the diagnostic's.
                let message = text
                    .rsplit_once(" at line ")
                    .map_or(&*text, |(said, _)| said);
                Diagnostic::new(at(error.line(), error.column()), message)
            })?;
            let of_target = |row: &Row| row.targets.contains(&target.name);
            costs.rows.extend(given.into_iter().filter(of_target));
        }
        Ok(costs)
    }

    fn ours(target: &Capabilities) -> Self {
        let of_target = OURS.iter().filter(|row| row.targets.contains(&target.name));
        let rows: Vec<Row> = of_target.cloned().collect();
        Self {
            ours: rows.len(),
            rows,
        }
    }

    /// Whether none are of a file.
    pub fn are_ours(&self) -> bool {
        self.rows.len() == self.ours
    }

    /// What limits residency, as the row `resident` or one of [`LIMITS`] has it.
    pub fn limit(&self, name: &str, wave: u32) -> Option<f64> {
        let row = self.row(&Question::new(name, "", wave))?;
        Some(row.r#use.max(1.0))
    }

    /// What a form takes; none if there is no figure.
    pub fn cost(&self, question: &Question<'_>) -> Option<Cost> {
        let row = self.row(question)?;
        let times = match row.per {
            Per::Wave => 1.0,
            Per::Word => f64::from(question.words),
            Per::Lane => f64::from(question.wave),
            Per::Bit => f64::from(question.bits),
        };
        let of_pipe = |(pipe, _): &(Pipe, &str)| {
            let own = if *pipe == row.pipe { row.r#use } else { 0.0 };
            (own + row.also.get(pipe).copied().unwrap_or(0.0)) * times
        };
        Some(Cost {
            uses: std::array::from_fn(|at| of_pipe(&PIPES[at])),
            latency: row.latency,
        })
    }

    /// Who says what a form takes.
    pub fn source(&self, question: &Question<'_>) -> Option<&str> {
        self.row(question).map(|row| row.source.as_str())
    }

    /// Whether an instruction takes it as an operand.
    pub fn is_operand(&self, question: &Question<'_>) -> bool {
        self.row(question).is_some_and(|row| row.is_operand)
    }

    /// A row of a file before one of ours; of these the one that says most about it, and of equal ones the last.
    fn row(&self, question: &Question<'_>) -> Option<&Row> {
        let rows = self.rows.iter().enumerate().filter(|(_, row)| {
            let masks = |masks: &Vec<i64>| question.mask.is_some_and(|mask| masks.contains(&mask));
            row.form == question.form
                && row.op.as_deref().is_none_or(|op| op == question.op)
                && row.wave.is_none_or(|wave| wave == question.wave)
                && row.kind.is_none_or(|kind| Some(kind) == question.kind)
                && row.masks.as_ref().is_none_or(masks)
        });
        let says = |row: &Row| {
            let of_op = (row.op.is_some(), row.kind.is_some());
            (row.masks.is_some(), of_op, row.wave.is_some())
        };
        let most = rows.max_by_key(|(at, row)| (*at >= self.ours, says(row), *at));
        most.map(|(_, row)| row)
    }
}

/// What our table says of a form in subgroups of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The pipe's name, as in the table.
    pub pipe: &'static str,
    /// Cycles of it, of a subgroup or of a lane, as the row says.
    pub r#use: f64,
    /// Cycles until the result is there.
    pub latency: f64,
}

/// What our table says of a form, or of a class of ops, of a target.
pub fn figure(target: &Capabilities, form: &str, op: &str, wave: u32) -> Option<Figure> {
    let costs = Costs::ours(target);
    let row = costs.row(&Question::new(form, op, wave))?;
    let (_, pipe) = PIPES.iter().find(|(pipe, _)| *pipe == row.pipe)?;
    Some(Figure {
        pipe,
        r#use: row.r#use,
        latency: row.latency,
    })
}

/// Whether we have costs of a target.
pub fn has_costs(target: &str) -> bool {
    OURS.iter()
        .any(|row| row.targets.iter().any(|known| known == target))
}

/// The rows of `costs.json`.
static OURS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let rows = serde_json::from_str(include_str!("costs.json"));
    rows.expect("the tests read our own table")
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets::Target;

    /// Targets whose lowering can be selected.
    const PRICED: [&str; 10] = [
        "cpu",
        "vulkan:1.3",
        "metal",
        "nvptx:sm_80",
        "nvptx:sm_90",
        "nvptx:sm_100",
        "amdgpu:gfx90a",
        "amdgpu:gfx942",
        "amdgpu:gfx1100",
        "amdgpu:gfx1201",
    ];

    #[test]
    fn every_form_of_a_target_has_a_cost_at_each_wave() {
        let context = qd_dialects::context();
        for name in PRICED {
            let target = Target::parse(name).unwrap().capabilities;
            let costs = Costs::of(&context, &target, None).unwrap();
            for wave in target.waves.iter().copied() {
                assert!(costs.limit("resident", wave).is_some(), "{name} {wave}");
                // All of the limits, or none.
                let limits = LIMITS.map(|name| costs.limit(name, wave).is_some());
                let is_known = !["cpu", "vulkan:1.3", "metal"].contains(&name);
                assert_eq!(limits, [is_known; 4], "{name} {wave}");
                let ops = target.forms.iter().map(|form| (form.name, form.op));
                let ops = ops.filter(|(_, op)| op.starts_with("qd."));
                for (form, op) in ops.chain(CLASSES.map(|class| (class, ""))) {
                    let question = Question::new(form, op, wave);
                    assert!(costs.cost(&question).is_some(), "{name} {wave} {form} {op}");
                }
            }
        }
    }

    #[test]
    fn a_maximum_of_floats_takes_two_instructions_of_amds() {
        // `v_max_f32` of the operand with itself, which makes a signalling NaN a quiet one, and that of both: see
        // tests/filecheck/emit/amdgpu/maxima.mlir.
        let context = qd_dialects::context();
        for (name, wave) in [
            ("amdgpu:gfx1100", 64),
            ("amdgpu:gfx1201", 64),
            ("amdgpu:gfx942", 64),
        ] {
            let target = Target::parse(name).unwrap().capabilities;
            let costs = Costs::of(&context, &target, None).unwrap();
            let of = |form| {
                let question = Question::new(form, "", wave);
                costs.cost(&question).unwrap().uses
            };
            assert_eq!(of("minmax"), of("float").map(|one| 2.0 * one), "{name}");
        }
    }

    #[test]
    fn a_row_takes_of_several_pipes() {
        let context = qd_dialects::context();
        let target = Target::parse("amdgpu:gfx1100").unwrap().capabilities;
        let mut costs = Costs::of(&context, &target, None).unwrap();
        let question = Question {
            words: 2,
            ..Question::new("ds_bpermute_b32 or DPP", "qd.simt.shuffle", 32)
        };
        let found = |costs: &Costs| costs.cost(&question).unwrap().uses;
        // An address beside each word that is read.
        assert_eq!(found(&costs), [2.0, 0.0, 2.0, 0.0]);
        // What is of the row's own pipe adds up.
        let row = r#"{"targets": ["amdgpu:gfx1100"], "form": "ds_bpermute_b32 or DPP", "pipe": "shared",
            "use": 3, "also": {"shared": 1, "scalar": 5}, "latency": 0, "per": "word", "wave": 32, "source": "a test"}"#;
        costs.rows.push(serde_json::from_str(row).unwrap());
        assert_eq!(found(&costs), [0.0, 10.0, 8.0, 0.0]);
        let wrong = row.replace("\"scalar\": 5", "\"scalar\": -5");
        let error = serde_json::from_str::<Row>(&wrong).unwrap_err().to_string();
        assert!(
            error.starts_with("'also' of 'ds_bpermute_b32 or DPP' is negative: -5"),
            "{error}"
        );
        let unknown = row.replace("\"scalar\": 5", "\"texture\": 5");
        let error = serde_json::from_str::<Row>(&unknown)
            .unwrap_err()
            .to_string();
        assert!(error.contains("unknown variant `texture`"), "{error}");
    }

    #[test]
    fn a_row_that_says_more_goes_first() {
        let context = qd_dialects::context();
        let target = Target::parse("amdgpu:gfx1100").unwrap().capabilities;
        let costs = Costs::of(&context, &target, None).unwrap();
        let of = |wave, mask| {
            let question = Question {
                mask,
                words: 2,
                ..Question::new("ds_bpermute_b32 or DPP", "qd.simt.shuffle", wave)
            };
            costs.cost(&question).unwrap().latency
        };
        assert!(of(32, Some(1)) < of(32, None));
        assert!(of(32, None) < of(64, None));
    }

    #[test]
    fn a_row_takes_as_much_as_bits_count() {
        let context = qd_dialects::context();
        let target = Target::parse("nvptx:sm_90").unwrap().capabilities;
        let costs = Costs::of(&context, &target, None).unwrap();
        let of = |bits| {
            let question = Question {
                bits,
                ..Question::new("vote.sync.ballot of each bit", "qd.simt.match_any", 32)
            };
            costs.cost(&question).unwrap().uses
        };
        assert_eq!(of(8), of(4).map(|r#use| 2.0 * r#use));
    }

    #[test]
    fn a_row_of_a_kind_is_of_that_alone() {
        let context = qd_dialects::context();
        let target = Target::parse("cpu").unwrap().capabilities;
        let mut costs = Costs::of(&context, &target, None).unwrap();
        let row = r#"{"targets": ["cpu"], "form": "a loop over threads", "op": "qd.simt.reduce", "kind": "xor",
            "wave": 8, "pipe": "alu", "use": 1000, "latency": 0, "source": "a test"}"#;
        costs.rows.push(serde_json::from_str(row).unwrap());
        let of = |kind| {
            let question = Question {
                kind,
                ..Question::new("a loop over threads", "qd.simt.reduce", 8)
            };
            costs.cost(&question).unwrap().uses[0]
        };
        assert_eq!(of(Some(Kind::Xor)), 1000.0);
        assert!(of(Some(Kind::Or)) < 1000.0);
        assert!(of(None) < 1000.0);
        let unknown = row.replace("xor", "nor");
        let error = serde_json::from_str::<Row>(&unknown)
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("unknown combining kind 'nor'"), "{error}");
    }

    /// Whatever ours say besides, such as the size.
    #[test]
    fn rows_of_a_file_go_before_ours() {
        let target = Capabilities::of("amdgpu:gfx1100").unwrap();
        let mut costs = Costs::ours(&target);
        let question = Question::new("load", "", 64);
        assert!(costs.row(&question).unwrap().wave.is_some());
        let row = r#"{"targets": ["amdgpu:gfx1100"], "form": "load", "pipe": "memory", "use": 999, "latency": 1, "source": "a test"}"#;
        costs.rows.push(serde_json::from_str(row).unwrap());
        assert_eq!(costs.row(&question).unwrap().r#use, 999.0);
    }
}
