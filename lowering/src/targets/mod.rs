//! Targets as rows of capabilities: passes ask the row, never the name.

/// What one block may assume about the others while it waits for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForwardProgress {
    /// Nothing: a block that waits for another may wait for ever.
    None,
    /// Blocks that took an earlier ticket from an atomic counter finish.
    TicketOrdered,
    /// Every block that has started finishes.
    Full,
}

/// How many threads run at the same time, in orders of magnitude.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cores {
    /// Tens: a thread should do much work, in order.
    Few,
    /// Thousands: a thread should do little work, next to its neighbours'.
    Many,
}

/// What a target can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// How the target is called, in messages alone.
    pub name: String,
    /// Subgroup sizes it can run, ascending.
    pub waves: Vec<u32>,
    /// What blocks may assume about each other.
    pub forward_progress: ForwardProgress,
    /// Bytes of shared memory a block may have.
    pub max_shared_bytes: u32,
    /// How many threads run at the same time.
    pub cores: Cores,
    /// Whether 64-bit integers exist.
    pub has_i64: bool,
    /// Whether 64-bit floats exist.
    pub has_f64: bool,
}

impl Capabilities {
    /// What every target can do: the least of each capability.
    pub fn portable() -> Self {
        Self {
            name: "any".into(),
            waves: vec![4, 8, 16, 32, 64],
            forward_progress: ForwardProgress::None,
            max_shared_bytes: 16 << 10,
            cores: Cores::Many,
            has_i64: true,
            has_f64: true,
        }
    }
}

/// A target and the choices made for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// What it can do.
    pub capabilities: Capabilities,
    /// The subgroup size asked for, one of the capabilities' `waves`.
    pub wave: Option<u32>,
}

/// One row of the table: name, capabilities.
type Row = (&'static str, fn() -> Capabilities);

/// Every target. `any` is no device: IR made for it runs on each.
const TARGETS: &[Row] = &[("any", Capabilities::portable), ("cpu", cpu)];

fn cpu() -> Capabilities {
    Capabilities {
        name: "cpu".into(),
        waves: vec![4, 8, 16, 32, 64],
        forward_progress: ForwardProgress::TicketOrdered,
        max_shared_bytes: 256 << 10,
        cores: Cores::Few,
        has_i64: true,
        has_f64: true,
    }
}

impl Target {
    /// Reads `cpu` or `cpu,wave=N`.
    ///
    /// # Errors
    ///
    /// An unknown target or option, or a wave the target does not have: a
    /// message that lists what there is.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = text.split(',').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let Some((_, row)) = TARGETS.iter().find(|(known, _)| *known == name) else {
            return Err(format!(
                "unknown target '{name}': expected one of {}",
                list(TARGETS.iter().map(|(known, _)| known))
            ));
        };
        let mut target = Self {
            capabilities: row(),
            wave: None,
        };
        for option in parts {
            match option.split_once('=') {
                Some(("wave", wave)) => target.wave = Some(read_wave(&target.capabilities, wave)?),
                _ => {
                    return Err(format!(
                        "unknown option '{option}' of target '{name}': expected wave=N"
                    ));
                }
            }
        }
        Ok(target)
    }
}

fn read_wave(capabilities: &Capabilities, text: &str) -> Result<u32, String> {
    text.parse()
        .ok()
        .filter(|wave| capabilities.waves.contains(wave))
        .ok_or_else(|| {
            format!(
                "target '{}' has no wave of '{text}': expected one of {}",
                capabilities.name,
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

    #[test]
    fn a_target_and_its_wave() {
        let target = Target::parse("cpu,wave=16").unwrap();
        assert_eq!(target.capabilities.cores, Cores::Few);
        assert_eq!(target.wave, Some(16));
        assert_eq!(Target::parse("cpu").unwrap().wave, None);
    }

    #[test]
    fn what_is_unknown_is_answered_by_what_is_known() {
        let message = |text: &str| Target::parse(text).unwrap_err();
        assert_eq!(
            message("gpu"),
            "unknown target 'gpu': expected one of any, cpu"
        );
        assert_eq!(
            message("cpu,wave=5"),
            "target 'cpu' has no wave of '5': expected one of 4, 8, 16, 32, 64"
        );
        assert_eq!(
            message("cpu,threads=2"),
            "unknown option 'threads=2' of target 'cpu': expected wave=N"
        );
    }
}
