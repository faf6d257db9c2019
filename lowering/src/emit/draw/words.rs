//! Expressions, memory and steps of a plan as text.

use super::super::waits::{Memory, Use};
use qd_artifact::{BufferRef, Comparison, Expr, Kernel, Operand, Operation, Step, StepKind, View};

/// A number that the host computes.
pub fn expr(expr: &Expr, kernel: &Kernel) -> String {
    let of = |inner: &Expr| self::expr(inner, kernel);
    let name = |argument: usize| kernel.arguments[argument].name.as_str();
    match expr {
        // Bits of a number that may be negative.
        Expr::Constant(value) => (*value as i64).to_string(),
        Expr::Scalar(argument) => name(*argument).into(),
        Expr::Length(argument, 0) => format!("rows({})", name(*argument)),
        Expr::Length(argument, dimension) => format!("extent({}, {dimension})", name(*argument)),
        Expr::Address(argument) => format!("address({})", name(*argument)),
        Expr::Binary {
            operation,
            left,
            right,
            ..
        } => binary(*operation, of(left), of(right)),
        Expr::Compare {
            comparison,
            left,
            right,
            ..
        } => format!("({} {} {})", of(left), sign(*comparison), of(right)),
        Expr::Select {
            condition,
            then,
            otherwise,
        } => format!(
            "(if {} then {} else {})",
            of(condition),
            of(then),
            of(otherwise)
        ),
        Expr::Resize { value, .. } => of(value),
    }
}

fn binary(operation: Operation, left: String, right: String) -> String {
    use Operation::*;
    let infix = match operation {
        Add => "+",
        Sub => "−",
        Mul => "×",
        DivUnsigned | DivSigned => "/",
        RemUnsigned | RemSigned => "mod",
        And => "and",
        Or => "or",
        Xor => "xor",
        ShiftLeft => "<<",
        ShiftRightUnsigned | ShiftRightSigned => ">>",
        CeilDivUnsigned | CeilDivSigned => return format!("⌈{left} / {right}⌉"),
        FloorDivSigned => return format!("⌊{left} / {right}⌋"),
        MinUnsigned | MinSigned => return format!("min({left}, {right})"),
        MaxUnsigned | MaxSigned => return format!("max({left}, {right})"),
    };
    format!("({left} {infix} {right})")
}

fn sign(comparison: Comparison) -> &'static str {
    use Comparison::*;
    match comparison {
        Eq => "=",
        Ne => "≠",
        LtSigned | LtUnsigned => "<",
        LeSigned | LeUnsigned => "≤",
        GtSigned | GtUnsigned => ">",
        GeSigned | GeUnsigned => "≥",
    }
}

/// As [`expr`], without brackets around all of it.
pub fn bare(expr: &Expr, kernel: &Kernel) -> String {
    let text = self::expr(expr, kernel);
    let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
    match inner {
        // Those brackets are of each other.
        Some(inner) if is_balanced(inner) => inner.into(),
        _ => text,
    }
}

fn is_balanced(text: &str) -> bool {
    let mut depth = 0i32;
    text.chars().all(|c| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth >= 0
    })
}

/// A buffer, and which part of it.
pub fn buffer(buffer: &BufferRef, kernel: &Kernel) -> String {
    let name = &kernel.arguments[buffer.argument].name;
    match &buffer.view {
        None => name.clone(),
        Some(view) => format!("{name}[{}]", part(view, kernel)),
    }
}

fn part(view: &View, kernel: &Kernel) -> String {
    // Of rank 0 it is one element.
    let length = view.length.as_ref();
    let length = length.map_or("1".into(), |length| bare(length, kernel));
    let dtype = view.dtype;
    if let Expr::Binary {
        operation: Operation::Mul,
        left,
        right,
        ..
    } = &view.offset_bytes
        && **right == Expr::Constant(dtype.size() as u64)
    {
        return format!("{length} {dtype} from {}", bare(left, kernel));
    }
    let bytes = bare(&view.offset_bytes, kernel);
    format!("{length} {dtype} from byte {bytes}")
}

/// What a step is given that is memory, in the order of its uses.
pub fn memories(step: &Step, kernel: &Kernel) -> Vec<String> {
    let memory = |operand: &Operand| match operand {
        Operand::Buffer(of) => Some(buffer(of, kernel)),
        Operand::Control { first, words } => Some(format!("control[{words} from {first}]")),
        Operand::Faults => Some("the fault record".into()),
        Operand::Prints => Some("the ring of prints".into()),
        Operand::Scalar(_) | Operand::Site(_) => None,
    };
    match &step.kind {
        StepKind::Launch { arguments, .. } | StepKind::Dispatch { arguments, .. } => {
            arguments.iter().filter_map(memory).collect()
        }
        StepKind::Fill {
            buffer: of,
            lower,
            upper,
            ..
        } => vec![format!(
            "{}[{} to {}]",
            buffer(of, kernel),
            bare(lower, kernel),
            bare(upper, kernel)
        )],
        StepKind::DoWhile { flag, .. } => memory(flag).into_iter().collect(),
        StepKind::If { condition, .. } => memory(condition).into_iter().collect(),
    }
}

/// A use by its place: as the step is given the memory, or, of what is in a loop, its name.
pub fn used(uses: &[Use], place: usize, given: &[String], kernel: &Kernel) -> String {
    match (given.get(place), uses[place].memory) {
        (Some(given), memory) if memory != Memory::Unknown => given.clone(),
        (_, Memory::Argument(index)) => kernel.arguments[index].name.clone(),
        (_, Memory::Control) => "control".into(),
        (_, Memory::Unknown) => "memory that is no argument".into(),
    }
}

/// What a step is.
pub fn kind(kind: &StepKind) -> &'static str {
    match kind {
        StepKind::Launch { .. } => "launch",
        StepKind::Fill { .. } => "fill",
        StepKind::DoWhile { .. } => "do_while",
        StepKind::If { .. } => "if",
        StepKind::Dispatch { .. } => "dispatch",
    }
}
