//! Writes a record, node by node, as the tracer says, and knows the type of each: the rules of types are here
//! alone.

use super::{
    dtype::DType::{self, *},
    record::{
        Argument, Atomic, Binary, Block, NONE, Node, Op, Record, SHARED, Step, Subgroup, Unary,
        VERSION,
    },
};
use half::f16;
use pyo3::{
    create_exception,
    exceptions::{PyException, PyValueError},
    prelude::*,
};
use qd_frontend::builder::Algorithm;
use qd_lowering::algorithms::scratch;

create_exception!(
    _core,
    Rejected,
    PyException,
    "Operands of types that an operator does not take."
);

fn rejected<T>(message: String) -> PyResult<T> {
    Err(Rejected::new_err(message))
}

fn dtype_named(name: &str) -> PyResult<DType> {
    match DType::named(name) {
        Some(dtype) => Ok(dtype),
        None => rejected(format!("'{name}' isn't there yet as a type in kernels")),
    }
}

/// An algorithm that kernels have.
fn algorithm_named(name: &str) -> PyResult<Algorithm> {
    use Algorithm::{ExclusiveScan, Reduce, ReduceByKey, Select, Sort};
    let mut all = [Reduce, ExclusiveScan, Select, Sort, ReduceByKey].into_iter();
    match all.find(|algorithm| algorithm.name() == name) {
        Some(algorithm) => Ok(algorithm),
        None => rejected(format!(
            "'{name}' isn't there yet as an algorithm in kernels"
        )),
    }
}

/// Slots of scratch that an algorithm takes for `n` elements, at a capacity of 256^`log256_max_n`, or the
/// least that fits.
#[pyfunction]
pub fn scratch_slots(algorithm: &str, n: u64, log256_max_n: Option<u32>) -> PyResult<u64> {
    let slots = match algorithm_named(algorithm)? {
        Algorithm::Reduce => scratch::reduce_scratch_slots(n, log256_max_n),
        Algorithm::ExclusiveScan => scratch::scan_scratch_slots(n, log256_max_n),
        Algorithm::Sort => scratch::sort_scratch_slots(n, log256_max_n),
        Algorithm::ReduceByKey => Ok(scratch::reduce_by_key_scratch_slots(n)),
        _ => Ok(scratch::select_scratch_slots(n)),
    };
    slots.map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A record that is being written.
#[pyclass]
pub struct Recorder {
    pub record: Record,
    default_fp: DType,
    default_ip: DType,
    at: (u32, u32),
}

impl Recorder {
    fn dtype_of(&self, value: u32) -> DType {
        self.record.nodes[value as usize].dtype
    }

    fn push(&mut self, op: Op, operands: [u32; 3], dtype: DType) -> u32 {
        let at = self.at;
        self.record.nodes.push(Node {
            op,
            operands,
            dtype,
            at,
        });
        self.record.nodes.len() as u32 - 1
    }

    fn text_number(&mut self, text: String) -> u32 {
        self.record.texts.push(text);
        self.record.texts.len() as u32 - 1
    }

    fn converted(&mut self, value: u32, to: DType) -> u32 {
        if self.dtype_of(value) == to {
            return value;
        }
        self.push(Op::Cast, [value, NONE, NONE], to)
    }

    fn element(&self, array: u32) -> DType {
        match array & SHARED {
            0 => self.record.arguments[array as usize].dtype,
            _ => self.record.shared[(array & !SHARED) as usize].0,
        }
    }

    fn index(&self, index: u32) -> PyResult<()> {
        let dtype = self.dtype_of(index);
        match dtype.is_real() {
            true => rejected(format!("an index is an integer, and not '{dtype}'")),
            false => Ok(()),
        }
    }
}

#[pymethods]
impl Recorder {
    #[new]
    fn new(name: &str, file: &str, default_fp: &str, default_ip: &str) -> PyResult<Self> {
        Ok(Self {
            record: Record {
                version: VERSION,
                name: name.into(),
                file: file.into(),
                arguments: Vec::new(),
                results: Vec::new(),
                overlapping: false,
                texts: Vec::new(),
                algorithms: Vec::new(),
                names: Vec::new(),
                shared: Vec::new(),
                nodes: Vec::new(),
            },
            default_fp: dtype_named(default_fp)?,
            default_ip: dtype_named(default_ip)?,
            at: (1, 1),
        })
    }

    /// Says where later nodes come from.
    fn locate(&mut self, line: u32, column: u32) {
        self.at = (line, column);
    }

    /// The name of the type of a value.
    fn dtype(&self, value: u32) -> String {
        self.dtype_of(value).to_string()
    }

    /// The record as text.
    fn text(&self) -> String {
        self.record.to_string()
    }

    /// Lets array parameters overlap.
    fn overlap(&mut self) {
        self.record.overlapping = true;
    }

    /// Declares an array parameter.
    fn array(&mut self, name: &str, dtype: &str) -> PyResult<u32> {
        self.record.arguments.push(Argument {
            name: name.into(),
            dtype: dtype_named(dtype)?,
            is_array: true,
        });
        Ok(self.record.arguments.len() as u32 - 1)
    }

    /// Declares a scalar parameter; its value.
    fn parameter(&mut self, name: &str, dtype: &str) -> PyResult<u32> {
        let dtype = dtype_named(dtype)?;
        self.record.arguments.push(Argument {
            name: name.into(),
            dtype,
            is_array: false,
        });
        let number = self.record.arguments.len() as u32 - 1;
        Ok(self.push(Op::Parameter(number), [NONE; 3], dtype))
    }

    /// Declares a result.
    fn result(&mut self, dtype: &str) -> PyResult<u32> {
        self.record.results.push(dtype_named(dtype)?);
        Ok(self.record.results.len() as u32 - 1)
    }

    /// A boolean.
    fn boolean(&mut self, value: bool) -> u32 {
        self.push(Op::Constant(value.into()), [NONE; 3], U1)
    }

    /// An integer, of the default type if none is given.
    #[pyo3(signature = (value, dtype=None))]
    fn integer(&mut self, value: &Bound<'_, PyAny>, dtype: Option<&str>) -> PyResult<u32> {
        let (dtype, range) = match dtype {
            None => (self.default_ip, "default_ip"),
            Some(name) => (dtype_named(name)?, "specified dtype"),
        };
        let held = value.extract::<i128>().ok().filter(|v| dtype.holds(*v));
        let Some(held) = held else {
            return rejected(format!(
                "Constant {value} has exceeded the range of {range}: {dtype}"
            ));
        };
        if dtype.is_real() {
            return rejected(format!(
                "integer literals must be annotated with an integer type, and not '{dtype}'"
            ));
        }
        let mask = u64::MAX >> (64 - dtype.bits());
        Ok(self.push(Op::Constant(held as u64 & mask), [NONE; 3], dtype))
    }

    /// A real, of the default type if none is given.
    #[pyo3(signature = (value, dtype=None))]
    fn real(&mut self, value: f64, dtype: Option<&str>) -> PyResult<u32> {
        let dtype = dtype.map_or(Ok(self.default_fp), dtype_named)?;
        if !dtype.is_real() {
            return rejected(format!(
                "floating-point literals must be annotated with a floating-point type, and not '{dtype}'"
            ));
        }
        let bits = match dtype {
            F16 => f16::from_f64(value).to_bits().into(),
            F32 => (value as f32).to_bits().into(),
            _ => value.to_bits(),
        };
        Ok(self.push(Op::Constant(bits), [NONE; 3], dtype))
    }

    /// The number of elements of an array.
    fn extent(&mut self, array: u32) -> u32 {
        self.push(Op::Extent(array), [NONE; 3], I32)
    }

    fn unary(&mut self, name: &str, value: u32) -> PyResult<u32> {
        let Some(unary) = Unary::named(name) else {
            return rejected(format!("operator '{name}' isn't there yet"));
        };
        let given = self.dtype_of(value);
        let (takes, gives) = match unary {
            Unary::Neg | Unary::Abs => (given, given),
            Unary::Not | Unary::LogicNot => {
                if given.is_real() {
                    return rejected(format!(
                        "'{name}' takes integral inputs only, however '{given}' is provided"
                    ));
                }
                let gives = match unary {
                    Unary::Not => given,
                    _ => U1,
                };
                (given, gives)
            }
            Unary::Popcnt | Unary::Clz | Unary::Ffs => {
                if given.is_real() {
                    return rejected(format!(
                        "'{name}' takes integral inputs only, however '{given}' is provided"
                    ));
                }
                if given.bits() < 32 {
                    return rejected(format!(
                        "'{name}' takes integers of 32 and 64 bits, however '{given}' is provided"
                    ));
                }
                (given, I32)
            }
            Unary::Sqrt | Unary::Exp | Unary::Log => match given.is_real() {
                true => (given, given),
                false => (self.default_fp, self.default_fp),
            },
            Unary::Sin
            | Unary::Cos
            | Unary::Tan
            | Unary::Asin
            | Unary::Acos
            | Unary::Tanh
            | Unary::Floor
            | Unary::Ceil
            | Unary::Round => {
                if !given.is_real() {
                    return rejected(format!(
                        "'{name}' takes real inputs only, however '{given}' is provided"
                    ));
                }
                (given, given)
            }
        };
        let value = self.converted(value, takes);
        Ok(self.push(Op::Unary(unary), [value, NONE, NONE], gives))
    }

    fn binary(&mut self, name: &str, a: u32, b: u32) -> PyResult<u32> {
        use Binary::*;
        let Some(binary) = Binary::named(name) else {
            return rejected(format!("operator '{name}' isn't there yet"));
        };
        let (mut a, mut b) = (a, b);
        if binary == Div {
            // Also where the other is wider: the integer is rounded to the default first.
            for value in [&mut a, &mut b] {
                if !self.dtype_of(*value).is_real() {
                    *value = self.converted(*value, self.default_fp);
                }
            }
        }
        let (left, right) = (self.dtype_of(a), self.dtype_of(b));
        let is_any_real = left.is_real() || right.is_real();
        let (takes_a, takes_b, gives) = match binary {
            And | Or | Xor | Shl | Shr | BitShr if is_any_real => {
                return rejected(format!(
                    "unsupported operand type(s) for '{name}': '{left}' and '{right}'"
                ));
            }
            Shl | Shr | BitShr => (left, left, left),
            // Squaring shifts the exponent, which one bit has no room for.
            Pow if right == U1 => (left, U8, left),
            Pow if !right.is_real() => (left, right, left),
            Atan2 => {
                let both = match left.promote(right) {
                    real if real.is_real() => real,
                    _ => F32,
                };
                (both, both, both)
            }
            Eq | Ne | Lt | Le | Gt | Ge => {
                let both = left.promote(right);
                (both, both, U1)
            }
            Add | Sub | Mul | Div | FloorDiv | Mod | RawDiv | RawMod | Pow | And | Or | Xor
            | Min | Max => {
                let both = left.promote(right);
                (both, both, both)
            }
        };
        let (a, b) = (self.converted(a, takes_a), self.converted(b, takes_b));
        Ok(self.push(Op::Binary(binary), [a, b, NONE], gives))
    }

    /// The condition of a branch: whether a value is not 0.
    fn truth(&mut self, value: u32) -> u32 {
        self.converted(value, U1)
    }

    fn cast(&mut self, value: u32, dtype: &str) -> PyResult<u32> {
        Ok(self.converted(value, dtype_named(dtype)?))
    }

    fn bit_cast(&mut self, value: u32, dtype: &str) -> PyResult<u32> {
        let (from, to) = (self.dtype_of(value), dtype_named(dtype)?);
        if from.bits() != to.bits() {
            return rejected(format!(
                "bit_cast is between types of one width, and not from '{from}' to '{to}'"
            ));
        }
        Ok(self.push(Op::BitCast, [value, NONE, NONE], to))
    }

    /// One of two values, both computed.
    fn select(&mut self, condition: u32, a: u32, b: u32) -> u32 {
        let both = self.dtype_of(a).promote(self.dtype_of(b));
        let condition = self.truth(condition);
        let (a, b) = (self.converted(a, both), self.converted(b, both));
        self.push(Op::Select, [condition, a, b], both)
    }

    fn load(&mut self, array: u32, index: u32) -> PyResult<u32> {
        self.index(index)?;
        let dtype = self.element(array);
        Ok(self.push(Op::Load(array), [index, NONE, NONE], dtype))
    }

    /// As `load`, from memory each time.
    fn volatile_load(&mut self, array: u32, index: u32) -> PyResult<u32> {
        self.index(index)?;
        let dtype = self.element(array);
        Ok(self.push(Op::VolatileLoad(array), [index, NONE, NONE], dtype))
    }

    fn store(&mut self, array: u32, index: u32, value: u32) -> PyResult<()> {
        self.index(index)?;
        let dtype = self.element(array);
        let value = self.converted(value, dtype);
        self.push(Op::Store(array), [index, value, NONE], dtype);
        Ok(())
    }

    /// Combines a value into an element; the old value.
    fn atomic(&mut self, name: &str, array: u32, index: u32, value: u32) -> PyResult<u32> {
        self.index(index)?;
        let dtype = self.element(array);
        let is_minus = name == "-";
        let Some(kind) = Atomic::named(if is_minus { "+" } else { name }) else {
            return rejected(format!("there is no atomic '{name}'"));
        };
        if dtype == U1 && matches!(kind, Atomic::Add | Atomic::Mul) {
            return rejected(format!(
                "an atomic '{name}' has no sum or product of '{dtype}': use atomic_or, atomic_xor or atomic_and"
            ));
        }
        if dtype.is_real() && matches!(kind, Atomic::And | Atomic::Or | Atomic::Xor) {
            return rejected(format!(
                "an atomic '{name}' requires integer operands, and not '{dtype}'"
            ));
        }
        let mut value = self.converted(value, dtype);
        if is_minus {
            value = self.push(Op::Unary(Unary::Neg), [value, NONE, NONE], dtype);
        }
        Ok(self.push(Op::Atomic(array, kind), [index, value, NONE], dtype))
    }

    /// Sets an element to a value if it is another; the old value.
    fn compare_exchange(
        &mut self,
        array: u32,
        index: u32,
        expected: u32,
        desired: u32,
    ) -> PyResult<u32> {
        self.index(index)?;
        let dtype = self.element(array);
        if dtype.is_real() {
            return rejected(format!(
                "an atomic compare-and-swap requires integer operands, and not '{dtype}'"
            ));
        }
        let (expected, desired) = (
            self.converted(expected, dtype),
            self.converted(desired, dtype),
        );
        let operands = [index, expected, desired];
        Ok(self.push(Op::CompareExchange(array), operands, dtype))
    }

    /// A variable that begins as a value, and has its type.
    fn declare(&mut self, value: u32) -> u32 {
        let dtype = self.dtype_of(value);
        self.push(Op::Declare, [value, NONE, NONE], dtype)
    }

    /// A variable whose type `settle` says, when it is known.
    fn declare_later(&mut self) -> u32 {
        self.push(Op::Declare, [NONE; 3], U1)
    }

    /// Gives a variable the type in which two values are combined.
    fn settle(&mut self, variable: u32, a: u32, b: u32) {
        let both = self.dtype_of(a).promote(self.dtype_of(b));
        self.record.nodes[variable as usize].dtype = both;
    }

    fn get(&mut self, variable: u32) -> u32 {
        let dtype = self.dtype_of(variable);
        self.push(Op::Get, [variable, NONE, NONE], dtype)
    }

    fn set(&mut self, variable: u32, value: u32) {
        let dtype = self.dtype_of(variable);
        self.push(Op::Set, [variable, value, NONE], dtype);
    }

    fn task(&mut self, begin: u32, end: u32) -> u32 {
        self.push(Op::Task(0, false), [begin, end, NONE], I32)
    }

    /// What a task is called.
    fn named(&mut self, task: u32, name: String) {
        self.record.names.push((task, name));
    }

    /// So many threads of a task are a block; whether it has operations of blocks.
    fn blocks(&mut self, task: u32, threads: u32, meet: bool) {
        self.record.nodes[task as usize].op = Op::Task(threads, meet);
    }

    /// An array in a block's memory; its number.
    fn shared(&mut self, dtype: &str, length: u32) -> PyResult<u32> {
        let number = self.record.shared.len() as u32;
        self.record.shared.push((dtype_named(dtype)?, length));
        self.push(Op::Shared(number), [NONE; 3], U1);
        Ok(SHARED | number)
    }

    /// An operation of a block: its value, if it has one, and else a number that is not used.
    #[pyo3(signature = (name, value=None, combine=None))]
    fn block(&mut self, name: &str, value: Option<u32>, combine: Option<&str>) -> PyResult<u32> {
        let Some(operation) = Block::named(name) else {
            return rejected(format!(
                "'{name}' isn't there yet as an operation of blocks"
            ));
        };
        let combine = combine.and_then(Atomic::named);
        let (operand, dtype) = match value {
            // Arithmetic on them is that of integers.
            Some(value) if self.dtype_of(value) == U1 => (self.converted(value, I32), I32),
            Some(value) => (value, self.dtype_of(value)),
            None => (NONE, I32),
        };
        Ok(self.push(Op::Block(operation, combine), [operand, NONE, NONE], dtype))
    }

    fn begin_for(&mut self, begin: u32, end: u32) -> u32 {
        self.push(Op::For, [begin, end, NONE], I32)
    }

    fn begin_if(&mut self, condition: u32) {
        let condition = self.truth(condition);
        self.push(Op::If, [condition, NONE, NONE], U1);
    }

    fn begin_else(&mut self) {
        self.push(Op::Else, [NONE; 3], U1);
    }

    fn begin_while(&mut self) {
        self.push(Op::While, [NONE; 3], U1);
    }

    fn begin_do(&mut self, condition: u32) {
        let condition = self.truth(condition);
        self.push(Op::Do, [condition, NONE, NONE], U1);
    }

    fn end(&mut self) {
        self.push(Op::End, [NONE; 3], U1);
    }

    /// Prints values by a format of C.
    fn print(&mut self, format: String, values: Vec<u32>) {
        for value in values {
            let dtype = self.dtype_of(value);
            self.push(Op::PrintValue, [value, NONE, NONE], dtype);
        }
        let number = self.text_number(format);
        self.push(Op::Print(number), [NONE; 3], U1);
    }

    /// Has a condition hold, or be a fault with a text.
    fn assert_holds(&mut self, condition: u32, text: String) {
        let condition = self.truth(condition);
        let number = self.text_number(text);
        self.push(Op::Assert(number), [condition, NONE, NONE], U1);
    }

    /// An operation of a subgroup: its value, if it has one, and else a number that is not used.
    #[pyo3(signature = (name, operands, combine=None, tile=None))]
    fn subgroup(
        &mut self,
        name: &str,
        operands: Vec<u32>,
        combine: Option<&str>,
        tile: Option<u32>,
    ) -> PyResult<u32> {
        let Some(operation) = Subgroup::named(name) else {
            return rejected(format!(
                "'{name}' isn't there yet as an operation of subgroups"
            ));
        };
        let combine = combine.and_then(Atomic::named);
        let mut given = [NONE; 3];
        given[..operands.len()].copy_from_slice(&operands);
        let mut value = U1;
        if let Some(first) = operands.first() {
            use Subgroup::{All, Any, Ballot};
            given[0] = match operation {
                All | Any | Ballot => self.truth(*first),
                // Arithmetic on them is that of integers.
                _ if self.dtype_of(*first) == U1 => self.converted(*first, I32),
                _ => *first,
            };
            value = self.dtype_of(given[0]);
        }
        if let Some(second) = operands.get(1) {
            given[1] = match operation {
                Subgroup::SegmentedReduce => self.truth(*second),
                _ => {
                    self.index(*second)?;
                    self.converted(*second, I32)
                }
            };
        }
        let is_bitwise = matches!(combine, Some(Atomic::And | Atomic::Or | Atomic::Xor));
        if is_bitwise && value.is_real() {
            return rejected(format!(
                "it takes integral inputs only, however '{value}' is provided"
            ));
        }
        let result = match operation {
            Subgroup::LaneId => I32,
            Subgroup::Ballot | Subgroup::MatchAny => U64,
            Subgroup::All | Subgroup::Any | Subgroup::AllEqual | Subgroup::Elect => U1,
            _ => value,
        };
        let op = Op::Subgroup(operation, combine, tile);
        Ok(self.push(op, given, result))
    }

    /// Slots of scratch for as many elements as a value says.
    fn scratch_slots(&mut self, algorithm: &str, n: u32, log256_max_n: u32) -> PyResult<u32> {
        let algorithm = algorithm_named(algorithm)?;
        if self.dtype_of(n).is_real() {
            let dtype = self.dtype_of(n);
            return rejected(format!(
                "a number of elements is an integer, and not '{dtype}'"
            ));
        }
        let n = self.converted(n, I32);
        let op = Op::ScratchSlots(algorithm, log256_max_n);
        Ok(self.push(op, [n, NONE, NONE], I32))
    }

    /// An algorithm, of which the tracer has checked what it is given. `count`: an array, and the index of the
    /// element that has the number of elements.
    #[expect(clippy::too_many_arguments, reason = "one for each that Python names")]
    fn algorithm(
        &mut self,
        algorithm: &str,
        combine: Option<&str>,
        inputs: Vec<u32>,
        outputs: Vec<u32>,
        scratch: u32,
        count: (u32, u32),
        log256_max_n: u32,
        end_bit: Option<u32>,
        is_deterministic: bool,
    ) -> PyResult<()> {
        let (count, index) = count;
        self.index(index)?;
        let step = Step {
            algorithm: algorithm_named(algorithm)?,
            combine: combine.and_then(Atomic::named),
            inputs: inputs.len(),
            arrays: [inputs, outputs].concat(),
            scratch,
            count,
            log256_max_n,
            end_bit,
            is_deterministic,
        };
        self.record.algorithms.push(step);
        let number = self.record.algorithms.len() as u32 - 1;
        self.push(Op::Algorithm(number), [index, NONE, NONE], U1);
        Ok(())
    }

    fn give(&mut self, result: u32, value: u32) {
        let dtype = self.record.results[result as usize];
        let value = self.converted(value, dtype);
        self.push(Op::Return(result), [value, NONE, NONE], dtype);
    }
}
