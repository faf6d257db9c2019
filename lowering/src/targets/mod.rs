//! Targets as rows of capabilities: passes query the row, never the name.
//!
//! A row is a function in a file or folder of the target's own. Its [`Kind`]
//! selects the conversion and the backend, in `emit`.

pub mod amdgpu;
mod cpu;
pub mod isa;
pub mod nvptx;
pub mod tuning;
pub mod vulkan;

use crate::select::cost::has_costs;
use isa::{Form, Primitive};
use qd_artifact::{TargetError, TargetSpec};
use qd_dialects::{
    attributes::{self, names},
    ir::{Op, OpExt},
};

/// Forward progress: what a block that waits may assume about the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForwardProgress {
    /// None: a block that waits for another may wait forever.
    None,
    /// Unknown: no block waits for another unless the op's strategy requires
    /// it.
    Unknown,
    /// Blocks that took an earlier ticket from an atomic counter finish.
    TicketOrdered,
    /// Every block that has started finishes.
    Full,
}

impl ForwardProgress {
    /// Whether a block may wait for those before it.
    pub fn is_promised(self) -> bool {
        matches!(self, Self::TicketOrdered | Self::Full)
    }
}

/// Where a condition in device memory is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conditions {
    /// On the host, which waits for all work before it.
    OnHost,
    /// On the device, at the cost of an empty launch.
    OnDevice,
}

/// The orientation of a target's cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orientation {
    /// Latency-oriented: tens of threads run at a time, and each should do much
    /// work, in order.
    Latency,
    /// Throughput-oriented: thousands of threads run at a time, and each should
    /// do little work, next to its neighbours'.
    Throughput,
}

/// Which conversion and which emitter a target has, and what they need to know
/// of it beyond capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// AMD's instruction sets.
    Amdgpu(&'static amdgpu::Architecture),
    /// The machine the compiler runs on.
    Host,
    /// NVIDIA's virtual instruction set.
    Nvptx(&'static nvptx::Architecture),
    /// SPIR-V.
    Spirv(&'static vulkan::Environment),
}

impl Kind {
    /// The option for the subgroup size: `wave=N`, or the name in the target's
    /// own documentation.
    fn wave_option(self) -> &'static str {
        match self {
            Kind::Amdgpu(_) | Kind::Host | Kind::Nvptx(_) => "wave",
            Kind::Spirv(_) => "subgroup",
        }
    }
}

/// The capabilities of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The target's name, for messages alone.
    pub name: String,
    /// Which conversion and emitter it has. Only they may ask.
    pub kind: Kind,
    /// Subgroup sizes it can run, ascending.
    pub waves: Vec<u32>,
    /// What blocks may assume about each other.
    pub forward_progress: ForwardProgress,
    /// Bytes of shared memory a block may have.
    pub max_shared_bytes: u32,
    /// Its forms of collectives and functions. Every target has shuffles, broadcasts, ballots and
    /// barriers.
    pub forms: Vec<&'static Form>,
    /// Whether there is a math library, with the functions of `math`.
    pub has_math_library: bool,
    /// The orientation of its cores.
    pub orientation: Orientation,
    /// Where the condition of a `qd.grid.if` is evaluated.
    pub conditions: Conditions,
    /// Its own tunings of algorithms, measured or assumed; other algorithms use their folders'.
    pub tunings: &'static [tuning::Row],
    /// Whether they were measured on it, or on a device with the same compiler.
    /// Otherwise strategies that demand less of a compiler are preferred.
    pub is_measured: bool,
    /// Whether 64-bit floats exist.
    pub has_f64: bool,
}

impl Capabilities {
    /// What every target can do: the least of each capability.
    pub fn portable() -> Self {
        Self {
            name: "any".into(),
            // To be emitted for anything it has to be emitted for something.
            kind: Kind::Host,
            waves: vec![4, 8, 16, 32, 64],
            forward_progress: ForwardProgress::Unknown,
            max_shared_bytes: 16 << 10,
            forms: Vec::new(),
            has_math_library: false,
            orientation: Orientation::Throughput,
            conditions: Conditions::OnHost,
            is_measured: false,
            tunings: &[],
            has_f64: true,
        }
    }
}

impl Capabilities {
    /// Its forms of the op of this full name, the better first.
    pub fn forms_of(&self, op: &str) -> impl Iterator<Item = &'static Form> {
        self.forms.iter().copied().filter(move |form| form.op == op)
    }

    /// The forms that an op may take in a body for subgroups of `wave` lanes, the better first.
    pub fn fitting(&self, op: Op<'_>, wave: i64) -> Vec<&'static Form> {
        let mut forms = self.forms_of(op.full_name()).peekable();
        if forms.peek().is_none() {
            return Vec::new();
        }
        let primitive = Primitive::of(op, wave as u32);
        forms.filter(|form| form.does(&primitive)).collect()
    }

    /// The form that an op takes: the one that its `qd.form` names, or else the first.
    pub fn form(&self, op: Op<'_>, wave: i64) -> Option<&'static Form> {
        let fitting = self.fitting(op, wave);
        let first = fitting.first().copied()?;
        let asked = op.attr(names::FORM).and_then(attributes::text);
        let named = asked.and_then(|asked| fitting.into_iter().find(|form| form.name == asked));
        Some(named.unwrap_or(first))
    }

    /// The entry of a conversion's table for the form that an op takes.
    pub fn find<'t, T>(&self, table: &'t [(Form, T)], op: Op<'_>, wave: i64) -> Option<&'t T> {
        let taken = self.form(op, wave)?;
        let mut rows = table.iter();
        rows.find_map(|(form, row)| (form == taken).then_some(row))
    }
}

/// What `qd-select-lowering` chooses for a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// Nothing: every body has the default size, and every op its usual lowering. `fixed` says so, and it is
    /// the default of targets without costs.
    Fixed,
    /// Lowerings, and the sizes of bodies that do not use subgroups by themselves. The default.
    Unseen,
    /// And those of bodies whose results may show the size: `select`.
    All,
}

/// A target and the choices made for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// What it can do.
    pub capabilities: Capabilities,
    /// The subgroup size asked for, one of the capabilities' `waves`.
    pub wave: Option<u32>,
    /// What is [searched for](mod@crate::select); sizes only where none is asked for.
    pub search: Search,
    /// Whether what is undefined where it goes wrong is checked (`qd-add-checks`).
    pub checks: bool,
}

/// One row of the table: name, capabilities.
type Row = (&'static str, fn() -> Capabilities);

/// Every target. `any` is not a device: IR made for it runs on each. An
/// architecture of a family follows a colon.
const TARGETS: &[Row] = &[
    ("any", Capabilities::portable),
    ("cpu", cpu::capabilities),
    ("nvptx:sm_80", || nvptx::capabilities(&nvptx::SM_80)),
    ("nvptx:sm_90", || nvptx::capabilities(&nvptx::SM_90)),
    ("nvptx:sm_100", || nvptx::capabilities(&nvptx::SM_100)),
    ("amdgpu:gfx90a", || amdgpu::capabilities(&amdgpu::GFX90A)),
    ("amdgpu:gfx942", || amdgpu::capabilities(&amdgpu::GFX942)),
    ("amdgpu:gfx1100", || amdgpu::capabilities(&amdgpu::GFX1100)),
    ("amdgpu:gfx1201", || amdgpu::capabilities(&amdgpu::GFX1201)),
    ("vulkan:1.3", vulkan::vulkan),
    ("metal", vulkan::metal),
];

impl Target {
    /// The machine the compiler runs on.
    pub fn host() -> Self {
        Self {
            capabilities: cpu::capabilities(),
            wave: None,
            search: Search::Unseen,
            checks: false,
        }
    }

    /// Reads `cpu`, `cpu,wave=N`, `cpu,select`, `cpu,fixed`, `cpu,checked`, `nvptx:sm_90` or `vulkan:1.3,subgroup=N`.
    ///
    /// # Errors
    ///
    /// As for [`Target::of`], and where the text is no target's.
    pub fn parse(text: &str) -> Result<Self, String> {
        let spec: TargetSpec = text.parse().map_err(|e: TargetError| e.to_string())?;
        Self::of(&spec)
    }

    /// The row of a target, and the choices that it names.
    ///
    /// # Errors
    ///
    /// An unknown target or option, or a wave the target does not have: a
    /// message that lists what there is.
    pub fn of(spec: &TargetSpec) -> Result<Self, String> {
        let name = spec.name();
        let mut target = Self {
            capabilities: Capabilities::of(name)?,
            wave: None,
            search: Search::Fixed,
            checks: false,
        };
        let mut search = None;
        let size = target.capabilities.kind.wave_option();
        for option in spec.options() {
            match option.split_once('=') {
                Some((key, _)) if key == size && target.wave.is_some() => {
                    return Err(format!("option '{size}' of target '{name}' is given twice"));
                }
                Some((key, wave)) if key == size => {
                    target.wave = Some(read_wave(&target.capabilities, wave)?);
                }
                None if option == "select" && search != Some(Search::Fixed) => {
                    search = Some(Search::All);
                }
                None if option == "fixed" && search != Some(Search::All) => {
                    search = Some(Search::Fixed);
                }
                None if ["fixed", "select"].contains(&option) => {
                    return Err(format!(
                        "target '{name}' is given both 'select' and 'fixed'"
                    ));
                }
                None if option == "checked" => target.checks = true,
                _ => {
                    return Err(format!(
                        "unknown option '{option}' of target '{name}': expected {size}=N, checked, select or fixed"
                    ));
                }
            }
        }
        target.search = match (has_costs(name), search) {
            (true, search) => search.unwrap_or(Search::Unseen),
            (false, Some(Search::All)) => {
                return Err(format!(
                    "target '{name}' has no option 'select': there are no costs of it"
                ));
            }
            (false, _) => Search::Fixed,
        };
        Ok(target)
    }
}

impl Capabilities {
    /// The row of a target without options.
    ///
    /// # Errors
    ///
    /// There is none of this name: a message that lists what there is.
    pub fn of(name: &str) -> Result<Self, String> {
        let row = TARGETS.iter().find(|(known, _)| *known == name);
        row.map(|(_, row)| row()).ok_or_else(|| unknown(name))
    }
}

/// What there is instead: the architectures of a family that exists, or every
/// target.
fn unknown(name: &str) -> String {
    let (family, architecture) = match name.split_once(':') {
        Some((family, architecture)) => (family, Some(architecture)),
        None => (name, None),
    };
    let known: Vec<_> = TARGETS
        .iter()
        .filter_map(|(target, _)| target.split_once(':'))
        .filter(|(other, _)| *other == family)
        .map(|(_, architecture)| architecture)
        .collect();
    match architecture {
        _ if known.is_empty() => format!(
            "unknown target '{name}': expected one of {}",
            list(TARGETS.iter().map(|(known, _)| known))
        ),
        Some(architecture) => format!(
            "target '{family}' has no architecture '{architecture}': expected one of {}",
            list(known.iter())
        ),
        None => format!(
            "target '{family}' needs an architecture, as in '{family}:{}': expected one of {}",
            known[0],
            list(known.iter())
        ),
    }
}

fn read_wave(capabilities: &Capabilities, text: &str) -> Result<u32, String> {
    // Digits alone: a number may have a sign, and a size has none.
    let digits = Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    digits
        .and_then(|text| text.parse().ok())
        .filter(|wave| capabilities.waves.contains(wave))
        .ok_or_else(|| {
            format!(
                "target '{}' has no {} of '{text}': expected one of {}",
                capabilities.name,
                capabilities.kind.wave_option(),
                list(capabilities.waves.iter())
            )
        })
}

fn list(items: impl Iterator<Item = impl ToString>) -> String {
    let items: Vec<_> = items.map(|item| item.to_string()).collect();
    items.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::backend;

    #[test]
    fn what_has_no_costs_cannot_be_selected() {
        let message = "target 'any' has no option 'select': there are no costs of it";
        assert_eq!(Target::parse("any,select").unwrap_err(), message);
        assert!(Target::parse("vulkan:1.3,select,subgroup=8").is_ok());
        assert!(Target::parse("amdgpu:gfx942,select").is_ok());
    }

    #[test]
    fn every_form_of_a_collective_and_every_expansion_of_several_says_why() {
        use qd_passes::expand_collectives::{EXPANSION, expansions_of, reason_of};
        let all = TARGETS.iter().map(|(_, capabilities)| capabilities());
        for target in all {
            let ours = |form: &&&Form| form.op.starts_with(qd_dialects::ops::PREFIX);
            for form in target.forms.iter().filter(ours) {
                assert!(!form.reason.is_empty(), "{}: {form:?}", target.name);
                for expansion in expansions_of(form.op).filter(|name| *name != EXPANSION) {
                    assert!(reason_of(expansion).is_some(), "{}: {expansion}", form.op);
                }
            }
        }
    }

    #[test]
    fn a_target_and_its_wave() {
        let target = Target::parse("cpu,wave=16").unwrap();
        assert_eq!(target.capabilities.orientation, Orientation::Latency);
        assert_eq!(target.wave, Some(16));
        assert_eq!(Target::parse("cpu").unwrap().wave, None);
    }

    #[test]
    fn what_is_searched_for() {
        let search = |text| Target::parse(text).map(|target| target.search);
        assert_eq!(search("cpu"), Ok(Search::Unseen));
        assert_eq!(search("cpu,wave=8,select"), Ok(Search::All));
        assert_eq!(search("cpu,fixed,fixed"), Ok(Search::Fixed));
        assert_eq!(search("any"), Ok(Search::Fixed));
        let both = "target 'cpu' is given both 'select' and 'fixed'";
        for text in ["cpu,select,fixed", "cpu,fixed,select"] {
            assert_eq!(search(text), Err(both.into()));
        }
    }

    #[test]
    fn a_target_that_checks() {
        assert!(!Target::parse("cpu,select").unwrap().checks);
        let checks = Target::parse("vulkan:1.3,checked,subgroup=8").unwrap();
        assert!(checks.checks && checks.wave == Some(8));
    }

    #[test]
    fn a_row_is_called_as_it_calls_itself() {
        for (name, row) in TARGETS {
            assert_eq!(row().name, *name);
        }
    }

    #[test]
    fn the_form_of_a_targets_code_is_known_without_its_row() {
        for (name, _) in TARGETS {
            let emitted = backend::of(&Target::parse(name).unwrap()).format;
            assert_eq!(TargetSpec::new(*name).format(), Some(emitted), "{name}");
        }
    }

    #[test]
    fn what_is_unknown_is_answered_by_what_is_known() {
        let message = |text: &str| Target::parse(text).unwrap_err();
        assert_eq!(
            message("gpu"),
            "unknown target 'gpu': expected one of any, cpu, nvptx:sm_80, nvptx:sm_90, nvptx:sm_100, \
             amdgpu:gfx90a, amdgpu:gfx942, amdgpu:gfx1100, amdgpu:gfx1201, vulkan:1.3, metal"
        );
        assert_eq!(
            message("nvptx:sm_75"),
            "target 'nvptx' has no architecture 'sm_75': expected one of sm_80, sm_90, sm_100"
        );
        assert_eq!(
            message("nvptx"),
            "target 'nvptx' needs an architecture, as in 'nvptx:sm_80': \
             expected one of sm_80, sm_90, sm_100"
        );
        assert_eq!(
            message("nvptx:sm_90,wave=64"),
            "target 'nvptx:sm_90' has no wave of '64': expected one of 32"
        );
        assert_eq!(
            message("cpu,wave=5"),
            "target 'cpu' has no wave of '5': expected one of 4, 8, 16, 32, 64"
        );
        assert_eq!(
            message("cpu,threads=2"),
            "unknown option 'threads=2' of target 'cpu': expected wave=N, checked, select or fixed"
        );
        assert_eq!(
            message("vulkan:1.3,subgroup=5"),
            "target 'vulkan:1.3' has no subgroup of '5': expected one of 4, 8, 16, 32, 64"
        );
        for twice in ["cpu,wave=8,wave=16", "cpu,wave=8,wave=8"] {
            assert_eq!(
                message(twice),
                "option 'wave' of target 'cpu' is given twice"
            );
        }
        assert_eq!(
            message("cpu,wave="),
            "target 'cpu' has no wave of '': expected one of 4, 8, 16, 32, 64"
        );
        for bad in [
            "cpu,wave",
            "cpu,=8",
            "cpu,wave=8=8",
            "cpu,wave=+8",
            "cpu,wave=-8",
            ",cpu",
            "cpu,",
            "",
        ] {
            assert!(Target::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(
            message("vulkan:1.3,wave=8"),
            "unknown option 'wave=8' of target 'vulkan:1.3': expected subgroup=N, checked, select or fixed"
        );
    }
}
