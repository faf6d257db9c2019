//! Collectives, from their definitions: moves, votes, reductions and scans of a subgroup,
//! its tiles, or a block.

use super::{Generator, family};
use crate::{
    ods::OpDef,
    program::{Block, Node, Value},
    types::{Class, Level, Ty},
};
use qd_dialects::{
    interfaces::collectives,
    ops::{Yield, simt},
};
use std::sync::LazyLock;

/// Ops of a subgroup or a block whose operands are scalars; what an op needs
/// beyond that is asked of MLIR.
static COLLECTIVE: LazyLock<Vec<&'static OpDef>> = LazyLock::new(|| {
    let mut ops = family(&[simt::PREFIX]);
    ops.retain(|op| op.results > 0 && op.name != simt::Lanemask::NAME);
    ops
});

/// Those that threads come to together.
static COLLECTIVES: LazyLock<Vec<String>> =
    LazyLock::new(|| collectives(&qd_frontend::lazy_context()));

/// A combiner by a region, over one or two values: its identities and its body, as
/// ops on the left values and then the right ones.
struct Combiner {
    types: &'static [Ty],
    identities: &'static str,
    /// Op, properties, operands: the arguments, and behind them the results so far.
    ops: &'static [(&'static str, &'static str, &'static [usize], Ty)],
    yields: &'static [usize],
}

const COMBINERS: &[Combiner] = &[
    // Affine maps: associative, and not commutative.
    Combiner {
        types: &[Ty::I32, Ty::I32],
        identities: "1 : i32, 0 : i32",
        ops: &[
            ("arith.muli", "", &[0, 2], Ty::I32),
            ("arith.muli", "", &[1, 2], Ty::I32),
            ("arith.addi", "", &[5, 3], Ty::I32),
        ],
        yields: &[4, 6],
    },
    // The least key, and what belongs to it; the left one of equals.
    Combiner {
        types: &[Ty::F32, Ty::I64],
        identities: "0x7F800000 : f32, -1 : i64",
        ops: &[
            ("arith.cmpf", "predicate = 4 : i64", &[2, 0], Ty::I1),
            ("arith.select", "", &[4, 2, 0], Ty::F32),
            ("arith.select", "", &[4, 3, 1], Ty::I64),
        ],
        yields: &[5, 6],
    },
    // The last that is not 0, and how many are not.
    Combiner {
        types: &[Ty::I64, Ty::I32],
        identities: "0 : i64, 0 : i32",
        ops: &[
            ("arith.addi", "", &[1, 3], Ty::I32),
            ("arith.constant", "value = 0 : i64", &[], Ty::I64),
            ("arith.cmpi", "predicate = 1 : i64", &[2, 5], Ty::I1),
            ("arith.select", "", &[6, 2, 0], Ty::I64),
        ],
        yields: &[7, 4],
    },
    // The same of narrow types: the last that is not 0, and how many are not, of the least bits.
    Combiner {
        types: &[Ty::I8, Ty::I16],
        identities: "0 : i8, 0 : i16",
        ops: &[
            ("arith.addi", "", &[1, 3], Ty::I16),
            ("arith.constant", "value = 0 : i8", &[], Ty::I8),
            ("arith.cmpi", "predicate = 1 : i64", &[2, 5], Ty::I1),
            ("arith.select", "", &[6, 2, 0], Ty::I8),
        ],
        yields: &[7, 4],
    },
    // The last that is not 0, times its quotient by itself: a division by what is never 0.
    Combiner {
        types: &[Ty::I16],
        identities: "0 : i16",
        ops: &[
            ("arith.constant", "value = 0 : i16", &[], Ty::I16),
            ("arith.constant", "value = 1 : i16", &[], Ty::I16),
            ("arith.cmpi", "predicate = 1 : i64", &[1, 2], Ty::I1),
            ("arith.select", "", &[4, 1, 3], Ty::I16),
            ("arith.divui", "", &[5, 5], Ty::I16),
            ("arith.muli", "", &[6, 5], Ty::I16),
            ("arith.select", "", &[4, 7, 0], Ty::I16),
        ],
        yields: &[8],
    },
    // Affine maps in the halves of a word.
    Combiner {
        types: &[Ty::I32],
        identities: "1 : i32",
        ops: &[
            ("arith.constant", "value = 16 : i32", &[], Ty::I32),
            ("arith.constant", "value = 65535 : i32", &[], Ty::I32),
            ("arith.muli", "", &[0, 1], Ty::I32),
            ("arith.andi", "", &[4, 3], Ty::I32),
            ("arith.shrui", "", &[0, 2], Ty::I32),
            ("arith.muli", "", &[6, 1], Ty::I32),
            ("arith.shrui", "", &[1, 2], Ty::I32),
            ("arith.addi", "", &[7, 8], Ty::I32),
            ("arith.shli", "", &[9, 2], Ty::I32),
            ("arith.ori", "", &[5, 10], Ty::I32),
        ],
        yields: &[11],
    },
    // The last that is not 0.
    Combiner {
        types: &[Ty::I64],
        identities: "0 : i64",
        ops: &[
            ("arith.constant", "value = 0 : i64", &[], Ty::I64),
            ("arith.cmpi", "predicate = 1 : i64", &[1, 2], Ty::I1),
            ("arith.select", "", &[3, 1, 0], Ty::I64),
        ],
        yields: &[4],
    },
    // The largest; the left one of equals.
    Combiner {
        types: &[Ty::F32],
        identities: "0xFF800000 : f32",
        ops: &[
            ("arith.cmpf", "predicate = 2 : i64", &[1, 0], Ty::I1),
            ("arith.select", "", &[2, 1, 0], Ty::F32),
        ],
        yields: &[3],
    },
];

impl Generator<'_> {
    /// One more thread id op, or a collective.
    pub(super) fn collective_op(&mut self, control: Level) {
        for _ in 0..12 {
            let again = self.last_collective.clone().filter(|_| self.one_in(4));
            let op = match &again {
                Some((op, ..)) => *op,
                None => COLLECTIVE[self.random.usize(0..COLLECTIVE.len())],
            };
            // Thread ids are rarely interesting.
            if op.operands.is_empty() && !self.one_in(4) {
                continue;
            }
            let is_block = op.name.starts_with("qd.simt.block.");
            let shows_blocks = is_block
                || op.name.starts_with("qd.simt.grid.")
                || [simt::SubgroupId::NAME, simt::NumSubgroups::NAME].contains(&op.name.as_str());
            if self.phase.is_for_each && shows_blocks {
                continue;
            }
            if COLLECTIVES.contains(&op.name)
                && (control < Level::Subgroup || is_block && control < Level::Block)
            {
                continue;
            }
            let again = again.map(|(_, properties, operands)| (properties, operands));
            // Not all attributes and operands that are drawn go together.
            let done = (0..4).any(|_| match op.regions > 0 && self.one_in(4) {
                true => self.by_region(op),
                false => self.try_collective(op, again.clone()),
            });
            if done {
                return;
            }
        }
    }

    /// On values at hand, or on those that another such op had if they still are; with
    /// attributes at random, or with those of the other op but the tile.
    fn try_collective(&mut self, op: &'static OpDef, again: Option<(String, Vec<Value>)>) -> bool {
        let Some(mut properties) = self.properties(op) else {
            return false;
        };
        if let Some((others, _)) = &again
            && self.random.bool()
        {
            properties = with_tile_of(others, &properties);
        }
        let again = again.map(|(_, operands)| operands);
        if properties.contains("identities") || !self.tile_fits(&properties) {
            return false;
        }
        let again = again.filter(|values| values.iter().all(|v| self.scope.contains(v)));
        let Some((types, possible)) = self.form(op, again.as_deref(), &properties) else {
            return false;
        };
        let results = possible[self.random.usize(0..possible.len())].clone();
        let (mut operands, mut class, mut level) = (Vec::new(), Class::Integer, Level::Block);
        for (i, ty) in types.iter().enumerate() {
            let value = match &again {
                Some(values) => values[i],
                None => self.find(*ty, Level::Varying),
            };
            if ty.is_float() {
                class = self.of(value).class;
            }
            level = level.min(self.level(value));
            operands.push(value);
        }
        let short = op.name.strip_prefix(simt::PREFIX).unwrap_or_default();
        let Some(class) = self.combined(short, &properties, class, types.first().copied()) else {
            return false;
        };
        self.last_collective = Some((op, properties.clone(), operands.clone()));
        let Some(after) = self.lanes(short, &properties, &mut operands) else {
            return false;
        };
        let has_tile = properties.contains("tile");
        let level = match short {
            "block.id" | "block.dim" | "grid.dim" | "subgroup_size" | "log2_subgroup_size"
            | "num_subgroups" => Level::Block,
            "subgroup_id" => Level::Subgroup,
            "block.reduce_all" => Level::Block,
            "all" | "any" | "all_equal" | "reduce_all" if !has_tile => level.max(Level::Subgroup),
            "broadcast" | "broadcast_first" | "ballot" | "ballot_first_n" => {
                level.max(Level::Subgroup)
            }
            _ => Level::Varying,
        };
        // Block-wide only by arithmetic on what is the same in a block, which is
        // not what the compiler sees in a collective of a subgroup.
        let level = match short {
            "block.reduce_all" => Level::Block,
            _ if !op.operands.is_empty() => level.min(Level::Subgroup),
            _ => level,
        };
        let mut made = Vec::new();
        for ty in &results {
            let class = if ty.is_float() { class } else { Class::Integer };
            made.push(self.scalar(*ty, level, class));
        }
        let regions = vec![Block::default(); op.regions];
        self.push_with(&op.name, &properties, &operands, &made, regions);
        for result in made {
            let kept = self.defined(result, operands.first().copied(), &after);
            self.scope.push(kept);
        }
        true
    }

    /// Types of operands that the op takes, or those of these values, and what its results
    /// may be.
    fn form(
        &mut self,
        op: &'static OpDef,
        values: Option<&[Value]>,
        properties: &str,
    ) -> Option<(Vec<Ty>, Vec<Vec<Ty>>)> {
        for _ in 0..8 {
            let types: Vec<Ty> = match values {
                Some(values) => values.iter().map(|v| self.ty(*v)).collect(),
                None => op.operands.iter().map(|_| self.any_type()).collect(),
            };
            let possible = self.forms_of(op, &types, properties);
            if !possible.is_empty() {
                return Some((types, possible));
            }
        }
        None
    }

    /// Whether a tile is no larger than the least subgroup.
    fn tile_fits(&self, properties: &str) -> bool {
        tile(properties).is_none_or(|log| log <= self.least_wave.ilog2())
    }

    /// The class of what is combined; none if its bits depend on the order.
    fn combined(
        &self,
        short: &str,
        properties: &str,
        class: Class,
        ty: Option<Ty>,
    ) -> Option<Class> {
        let ty = ty.filter(|ty| ty.is_float());
        let Some(ty) = ty else {
            return Some(class);
        };
        if properties.contains("#qd.kind<mul>") {
            return match class {
                Class::Exact { mag: ..=0, frac: 0 } => Some(class),
                _ => None,
            };
        }
        if properties.contains("#qd.kind<add>") {
            return match class.summed(self.log_length()).fitted(ty) {
                Class::Rounded => None,
                exact => Some(exact),
            };
        }
        // An identity is infinite.
        match short {
            _ if short.ends_with("exclusive_scan") => Some(Class::Rounded),
            // NaNs are in the order of their signs, which arithmetic leaves to targets.
            "bitonic_sort_kv" if class == Class::Rounded => None,
            _ => Some(class),
        }
    }

    /// Of how many lanes each subgroup has the first. A lane that is absent is no one's to broadcast.
    fn surely_present_lanes(&self) -> i64 {
        // Of a function it is not known.
        match self.phase.threads {
            threads if threads > 0 && threads % 64 == 0 => self.least_wave.into(),
            _ => 1,
        }
    }

    /// Makes operands that name lanes name lanes that are there; says which lanes
    /// have a result.
    fn lanes(&mut self, short: &str, properties: &str, operands: &mut [Value]) -> Option<Defined> {
        let lanes = i64::from(self.least_wave);
        let mode = |case: &str| properties.contains(&format!("#qd.shuffle_mode<{case}>"));
        match short {
            "shuffle" if mode("idx") || mode("xor") => {
                operands[1] = self.masked(operands[1], lanes - 1);
            }
            "shuffle" => {
                operands[1] = match self.random.bool() {
                    true => {
                        let distance = self.random.i64(0..lanes + 2);
                        self.constant(Ty::I32, distance)
                    }
                    false => self.find(Ty::I32, Level::Varying),
                };
            }
            "broadcast" => {
                let lane = self.find(Ty::I32, Level::Subgroup);
                operands[1] = self.masked(lane, self.surely_present_lanes() - 1);
            }
            "rotate" => {
                let delta = self.find(Ty::I32, Level::Subgroup);
                operands[1] = self.masked(delta, 31);
            }
            "reduce" => return Some(Defined::FirstLane(tile(properties))),
            "block.reduce" => return Some(Defined::FirstThread),
            _ => {}
        }
        Some(Defined::Everywhere)
    }

    /// The result where it is defined, and else an operand.
    fn defined(&mut self, result: Value, other: Option<Value>, after: &Defined) -> Value {
        let ty = self.ty(result);
        let Some(other) = other.filter(|v| self.of(*v).ty == Some(ty)) else {
            return result;
        };
        let eq = "predicate = 0 : i64";
        let condition = match after {
            Defined::Everywhere => return result,
            Defined::FirstThread => {
                let thread = self.varying(simt::BlockThreadId::NAME, Ty::Index);
                let zero = self.constant(Ty::Index, 0);
                self.op("arith.cmpi", eq, &[thread, zero], Ty::I1)
            }
            Defined::FirstLane(log) => {
                let mut lane = self.varying(simt::LaneId::NAME, Ty::I32);
                if let Some(log) = log {
                    lane = self.masked(lane, (1 << log) - 1);
                }
                let zero = self.constant(Ty::I32, 0);
                self.op("arith.cmpi", eq, &[lane, zero], Ty::I1)
            }
        };
        let class = self.of(result).class.join(self.of(other).class);
        let kept = self.op("arith.select", "", &[condition, result, other], ty);
        self.info[kept as usize].class = class;
        self.info[kept as usize].level = Level::Varying;
        kept
    }

    /// An op that differs between lanes.
    pub(super) fn varying(&mut self, op: &str, ty: Ty) -> Value {
        let value = self.op(op, "", &[], ty);
        self.info[value as usize].level = Level::Varying;
        value
    }

    /// A reduction or scan of pairs by a region.
    fn by_region(&mut self, op: &'static OpDef) -> bool {
        let combiner = &COMBINERS[self.random.usize(0..COMBINERS.len())];
        let mut operands = Vec::new();
        for ty in combiner.types {
            let value = self.find(*ty, Level::Varying);
            operands.push(value);
        }
        // A NaN is less than nothing: whether it is kept depends on the order.
        if operands.iter().any(|v| self.of(*v).class == Class::Rounded) {
            return false;
        }
        let short = op.name.strip_prefix(simt::PREFIX).unwrap_or_default();
        let mut properties = format!("identities = [{}]", combiner.identities);
        if short == "segmented_reduce" {
            let head = self.find(Ty::I1, Level::Varying);
            operands.push(head);
        } else if op.operands.len() != 1 {
            return false;
        }
        if !short.starts_with("block.") && self.one_in(3) {
            let log = self.random.u32(0..=self.least_wave.ilog2());
            properties += &format!(", tile = {log} : i32");
        }
        let region = self.combiner(combiner);
        let Some(after) = self.lanes(short, &properties, &mut operands) else {
            return false;
        };
        let mut made = Vec::new();
        for ty in combiner.types {
            made.push(self.scalar(*ty, Level::Varying, Class::any(*ty)));
        }
        self.push_with(&op.name, &properties, &operands, &made, vec![region]);
        for (result, operand) in made.into_iter().zip(operands) {
            let kept = self.defined(result, Some(operand), &after);
            self.scope.push(kept);
        }
        true
    }

    fn combiner(&mut self, combiner: &Combiner) -> Block {
        let mut values: Vec<Value> = Vec::new();
        for ty in [combiner.types, combiner.types].concat() {
            let value = self.scalar(ty, Level::Varying, Class::Rounded);
            values.push(value);
        }
        let arguments = values.clone();
        let mut nodes = Vec::new();
        for (op, properties, operands, ty) in combiner.ops {
            let result = self.scalar(*ty, Level::Varying, Class::Rounded);
            nodes.push(Node {
                op: (*op).into(),
                properties: (*properties).into(),
                operands: operands.iter().map(|i| values[*i]).collect(),
                results: vec![result],
                regions: Vec::new(),
            });
            values.push(result);
        }
        nodes.push(Node {
            op: Yield::NAME.into(),
            properties: String::new(),
            operands: combiner.yields.iter().map(|i| values[*i]).collect(),
            results: Vec::new(),
            regions: Vec::new(),
        });
        Block { arguments, nodes }
    }

    /// A region that combines at most so many values, with the identities, for an algorithm.
    pub(super) fn any_combiner(&mut self, most: usize) -> (Block, &'static [Ty], &'static str) {
        let possible = COMBINERS.iter().filter(|c| c.types.len() <= most);
        let possible: Vec<&Combiner> = possible.collect();
        let combiner = possible[self.random.usize(0..possible.len())];
        (self.combiner(combiner), combiner.types, combiner.identities)
    }
}

/// The logarithm of a tile's lanes, if there are tiles.
fn tile(properties: &str) -> Option<u32> {
    let (_, rest) = properties.split_once("tile = ")?;
    rest.split_whitespace().next()?.parse().ok()
}

/// The first attributes, with the tile of the second.
fn with_tile_of(properties: &str, other: &str) -> String {
    let is_tile = |attribute: &&str| attribute.starts_with("tile = ");
    let rest = properties.split(", ").filter(|a| !is_tile(a));
    let all: Vec<&str> = rest.chain(other.split(", ").filter(is_tile)).collect();
    all.join(", ")
}

/// Which lanes have a result.
#[derive(Clone, Copy, Debug)]
enum Defined {
    Everywhere,
    /// Of the subgroup, or of each tile of so many lanes, as a logarithm.
    FirstLane(Option<u32>),
    FirstThread,
}
