//! A module's requirements of a device: the capabilities that SPIR-V makes it
//! declare, each with the first op that needs it.

use melior::ir::{Location, Type, TypeLike, ValueLike};
use qd_dialects::{
    attributes,
    ir::{self, Op, OpExt},
    melior,
};
use std::collections::{BTreeMap, BTreeSet};

/// The capabilities of every module of ours.
pub const ALWAYS: &[&str] = &[
    "Shader",
    "PhysicalStorageBufferAddresses",
    "VulkanMemoryModel",
    "VulkanMemoryModelDeviceScope",
];

/// What ops of a subgroup need, by what their names begin with after
/// `spirv.GroupNonUniform`; the first that fits.
const SUBGROUP: &[(&str, &str)] = &[
    ("Elect", "GroupNonUniform"),
    ("All", "GroupNonUniformVote"),
    ("Any", "GroupNonUniformVote"),
    ("Ballot", "GroupNonUniformBallot"),
    ("Broadcast", "GroupNonUniformBallot"),
    ("ShuffleUp", "GroupNonUniformShuffleRelative"),
    ("ShuffleDown", "GroupNonUniformShuffleRelative"),
    ("Shuffle", "GroupNonUniformShuffle"),
    ("", "GroupNonUniformArithmetic"),
];

/// What reductions of clusters need, which not every device has.
pub const CLUSTERED: &str = "GroupNonUniformClustered";

/// What atomics of 64 bits need, which not every device has.
pub const LONG_ATOMICS: &str = "Int64Atomics";

/// Everything that a module of ours may declare for its subgroups on every device.
pub fn of_subgroups() -> impl Iterator<Item = &'static str> {
    SUBGROUP.iter().map(|(_, capability)| *capability)
}

/// The requirements of a module.
#[derive(Default)]
pub struct Needed {
    /// The first op that needs each capability, and where it is.
    pub capabilities: BTreeMap<&'static str, String>,
    /// The widths of the floats it computes with.
    pub float_bits: BTreeSet<u32>,
}

impl Needed {
    /// The requirements of the ops of these functions and variables.
    pub fn by<'c>(ops: impl Iterator<Item = Op<'c>>) -> Self {
        let mut needed = Self::default();
        for op in ops {
            needed.op(op);
        }
        needed
    }

    fn add(&mut self, capability: &'static str, op: Op<'_>) {
        self.capabilities
            .entry(capability)
            .or_insert_with(|| format!("{} at {}", op.full_name(), place(op.location())));
    }

    fn op(&mut self, op: Op<'_>) {
        let name = op.full_name();
        if let Some(what) = name.strip_prefix("spirv.GroupNonUniform") {
            let operation = op
                .attr("group_operation")
                .map(|operation| operation.to_string());
            let row = SUBGROUP.iter().find(|(prefix, _)| what.starts_with(prefix));
            self.add(
                match operation.is_some_and(|operation| operation.contains("Clustered")) {
                    true => CLUSTERED,
                    false => row.expect("the last fits all").1,
                },
                op,
            );
        }
        if name.starts_with("spirv.Atomic") && ir::bit_width(op.first_result().r#type()) == 64 {
            self.add(LONG_ATOMICS, op);
        }
        if name == "spirv.GlobalVariable" {
            if op.attr("built_in").is_some_and(|what| {
                attributes::text(what).is_some_and(|what| what.contains("Subgroup"))
            }) {
                self.add("GroupNonUniform", op);
            }
            if let Some(r#type) = op.attr("type") {
                self.pointer(&r#type.to_string(), op);
            }
        }
        for value in op.result_values() {
            self.r#type(value.r#type(), op);
        }
    }

    fn r#type(&mut self, r#type: Type<'_>, op: Op<'_>) {
        if r#type.is_integer() || ir::is_float(r#type) {
            self.scalar(ir::is_float(r#type), ir::bit_width(r#type), op);
        } else {
            self.pointer(&r#type.to_string(), op);
        }
    }

    fn scalar(&mut self, is_float: bool, bits: u32, op: Op<'_>) {
        if is_float {
            self.float_bits.insert(bits);
        }
        match (is_float, bits) {
            (false, 8) => self.add("Int8", op),
            (false, 16) => self.add("Int16", op),
            (false, 64) => self.add("Int64", op),
            (true, 16) => self.add("Float16", op),
            (true, 64) => self.add("Float64", op),
            _ => {}
        }
    }

    /// Any other type, by the scalars that its text names.
    fn pointer(&mut self, text: &str, op: Op<'_>) {
        let is_buffer = text.contains("PhysicalStorageBuffer");
        for word in text.split(|c: char| !c.is_ascii_alphanumeric()) {
            let bits = match word.split_at_checked(1) {
                Some(("i" | "f", bits)) => bits.parse().unwrap_or(0),
                _ => 0,
            };
            self.scalar(word.starts_with('f'), bits, op);
            match bits {
                8 if is_buffer => self.add("StorageBuffer8BitAccess", op),
                16 if is_buffer => self.add("StorageBuffer16BitAccess", op),
                _ => {}
            }
        }
    }
}

/// A location as diagnostics begin with it.
fn place(location: Location<'_>) -> String {
    let text = location.to_string();
    let text = text.trim_start_matches("loc(").trim_end_matches(')');
    text.replace('"', "")
}
