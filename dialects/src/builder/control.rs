//! Loops, branches and phases, with closures for bodies.

use super::{Builder, V};
use crate::{
    attributes,
    ir::{Block, Op, OpExt, Value, build, new_block},
    ops::grid,
};
use melior::ir::{BlockLike, RegionLike, Type};

/// Loop-carried values, or the arguments of a kernel or an algorithm: a value, an array of
/// values where the number is known, a vector where it is not.
pub trait Values<'b, 'c>: Sized {
    /// As a vector.
    fn to_vec(self) -> Vec<V<'b, 'c>>;
    /// From as many values as `self` has.
    fn from_vec(values: Vec<V<'b, 'c>>) -> Self;
}

impl<'b, 'c> Values<'b, 'c> for Vec<V<'b, 'c>> {
    fn to_vec(self) -> Vec<V<'b, 'c>> {
        self
    }
    fn from_vec(values: Vec<V<'b, 'c>>) -> Self {
        values
    }
}

impl<'b, 'c> Values<'b, 'c> for V<'b, 'c> {
    fn to_vec(self) -> Vec<V<'b, 'c>> {
        vec![self]
    }
    fn from_vec(values: Vec<V<'b, 'c>>) -> Self {
        let [value] = Values::from_vec(values);
        value
    }
}

impl<'b, 'c, const N: usize> Values<'b, 'c> for [V<'b, 'c>; N] {
    fn to_vec(self) -> Vec<V<'b, 'c>> {
        self.into_iter().collect()
    }
    fn from_vec(values: Vec<V<'b, 'c>>) -> Self {
        let count = values.len();
        values
            .try_into()
            .unwrap_or_else(|_| panic!("{count} values where {N} are carried"))
    }
}

fn raw<'c>(values: &[V<'_, 'c>]) -> Vec<Value<'c>> {
    values.iter().map(|v| v.value()).collect()
}

fn types<'c>(values: &[V<'_, 'c>]) -> Vec<Type<'c>> {
    values.iter().map(|v| v.ty()).collect()
}

impl<'c> Builder<'c> {
    /// A region of one block with these arguments.
    pub(super) fn region(&self, arguments: &[Type<'c>]) -> melior::ir::Region<'c> {
        let region = melior::ir::Region::new();
        region.append_block(new_block(arguments, self.location()));
        region
    }

    /// Fills the first block of a region of `op`.
    pub(super) fn fill<'b, R>(
        &'b self,
        op: Op<'c>,
        region: usize,
        body: impl FnOnce(Vec<V<'b, 'c>>) -> R,
    ) -> R {
        let block = op.region_block(region).expect("a region with a block");
        let arguments = self.vs(&crate::ir::arguments(block));
        self.within(block, || body(arguments))
    }

    fn terminate(&self, name: &str, values: &[V<'_, 'c>]) {
        self.op(name, &raw(values), &[], &[]);
    }

    /// What has to hold in every thread that comes here: where it does not is a fault, with this text (`cf.assert`).
    #[track_caller]
    pub fn assert(&self, condition: V<'_, 'c>, text: &str) {
        let text = attributes::string(self.context(), text);
        self.op("cf.assert", &raw(&[condition]), &[], &[("msg", text)]);
    }

    /// Prints values in this thread, by a format of C's `printf` (`gpu.printf`).
    #[track_caller]
    pub fn print(&self, format: &str, values: &[V<'_, 'c>]) {
        let format = attributes::string(self.context(), format);
        self.op("gpu.printf", &raw(values), &[], &[("format", format)]);
    }

    /// Runs `body` where `condition` holds.
    pub fn if_(&self, condition: V<'_, 'c>, body: impl FnOnce()) {
        let regions = vec![self.region(&[]), melior::ir::Region::new()];
        let op = self.insert(build(
            "scf.if",
            self.location(),
            &[condition.value()],
            &[],
            &[],
            regions,
        ));
        self.fill(op, 0, |_| {
            body();
            self.terminate("scf.yield", &[]);
        });
    }

    /// Runs one of two bodies.
    pub fn either(&self, condition: V<'_, 'c>, then: impl FnOnce(), otherwise: impl FnOnce()) {
        let regions = vec![self.region(&[]), self.region(&[])];
        let op = self.insert(build(
            "scf.if",
            self.location(),
            &[condition.value()],
            &[],
            &[],
            regions,
        ));
        self.fill(op, 0, |_| {
            then();
            self.terminate("scf.yield", &[]);
        });
        self.fill(op, 1, |_| {
            otherwise();
            self.terminate("scf.yield", &[]);
        });
    }

    /// One of two bodies' values.
    pub fn if_else<'b, T: Values<'b, 'c>>(
        &'b self,
        condition: V<'b, 'c>,
        then: impl FnOnce() -> T,
        otherwise: impl FnOnce() -> T,
    ) -> T {
        // Bodies are built before the op, whose types they decide.
        let branch = |body: Box<dyn FnOnce() -> T + '_>| {
            let region = self.region(&[]);
            let block = region.first_block().expect("just made");
            // Safety: the block lives in the region, which the op will own.
            let block = unsafe { Block::from_raw(block.to_raw()) };
            let values = self.within(block, || {
                let values = body().to_vec();
                self.terminate("scf.yield", &values);
                values
            });
            (region, values)
        };
        let (then_region, values) = branch(Box::new(then));
        let (else_region, _) = branch(Box::new(otherwise));
        let op = self.insert(build(
            "scf.if",
            self.location(),
            &[condition.value()],
            &types(&values),
            &[],
            vec![then_region, else_region],
        ));
        T::from_vec(self.vs(&op.result_values()))
    }

    /// `for i in lower..upper step step`, carrying values from one iteration to
    /// the next.
    pub fn for_<'b, T: Values<'b, 'c>>(
        &'b self,
        lower: V<'b, 'c>,
        upper: V<'b, 'c>,
        step: V<'b, 'c>,
        initial: T,
        body: impl FnOnce(V<'b, 'c>, T) -> T,
    ) -> T {
        let initial = initial.to_vec();
        let carried = types(&initial);
        let mut operands = raw(&[lower, upper, step]);
        operands.extend(raw(&initial));
        let mut arguments = vec![lower.ty()];
        arguments.extend(&carried);
        let op = self.insert(build(
            "scf.for",
            self.location(),
            &operands,
            &carried,
            &[],
            vec![self.region(&arguments)],
        ));
        self.fill(op, 0, |arguments| {
            let values = body(arguments[0], T::from_vec(arguments[1..].to_vec())).to_vec();
            self.terminate("scf.yield", &values);
        });
        T::from_vec(self.vs(&op.result_values()))
    }

    /// `while condition(state) { state = body(state) }`; yields the last state.
    pub fn while_<'b, T: Values<'b, 'c>>(
        &'b self,
        initial: T,
        condition: impl FnOnce(&T) -> V<'b, 'c>,
        body: impl FnOnce(T) -> T,
    ) -> T {
        let initial = initial.to_vec();
        let carried = types(&initial);
        let op = self.insert(build(
            "scf.while",
            self.location(),
            &raw(&initial),
            &carried,
            &[],
            vec![self.region(&carried), self.region(&carried)],
        ));
        self.fill(op, 0, |arguments| {
            let state = T::from_vec(arguments.clone());
            let mut operands = vec![condition(&state)];
            operands.extend(arguments);
            self.terminate("scf.condition", &operands);
        });
        self.fill(op, 1, |arguments| {
            let values = body(T::from_vec(arguments)).to_vec();
            self.terminate("scf.yield", &values);
        });
        T::from_vec(self.vs(&op.result_values()))
    }

    /// A phase: `body` runs in every thread of `blocks` blocks of `threads`.
    pub fn phase(
        &self,
        name: &str,
        blocks: V<'_, 'c>,
        threads: i64,
        body: impl FnOnce(),
    ) -> Op<'c> {
        let op = self.insert(build(
            grid::Phase::NAME,
            self.location(),
            &[blocks.value()],
            &[],
            &[
                ("name", attributes::string(self.context(), name)),
                ("threads", attributes::i64(self.context(), threads)),
            ],
            vec![self.region(&[])],
        ));
        self.fill(op, 0, |_| body());
        op
    }

    /// Repeats the phases of `body` while the flag that `flag` holds is set.
    pub fn do_while(&self, flag: V<'_, 'c>, body: impl FnOnce()) -> Op<'c> {
        let op = self.insert(build(
            grid::DoWhile::NAME,
            self.location(),
            &[flag.value()],
            &[],
            &[],
            vec![self.region(&[])],
        ));
        self.fill(op, 0, |_| body());
        op
    }

    /// Runs the phases of `body` if the word that `condition` holds is not 0.
    pub fn run_if(&self, condition: V<'_, 'c>, body: impl FnOnce()) -> Op<'c> {
        let op = self.insert(build(
            grid::If::NAME,
            self.location(),
            &[condition.value()],
            &[],
            &[],
            vec![self.region(&[])],
        ));
        self.fill(op, 0, |_| body());
        op
    }
}
