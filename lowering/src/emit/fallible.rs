//! Which steps of a plan may have no value when the host evaluates them: those have places in the source.
//! A step that cannot fail but is said to costs a line of the artifact, so what is hard to tell may fail.

use qd_artifact::{Expr, Operand, Operation, StepKind};

/// Whether a step may be an error of the launch, apart from the steps within it.
pub fn may_fail(step: &StepKind) -> bool {
    match step {
        StepKind::Launch {
            blocks, arguments, ..
        } => most(blocks).is_none_or(|most| most > i64::MAX as u64) || any_may_fail(arguments),
        StepKind::Fill { .. } => true,
        // A buffer of no elements has no word to test.
        StepKind::DoWhile { flag: operand, .. }
        | StepKind::If {
            condition: operand, ..
        } => matches!(operand, Operand::Buffer(_)),
        StepKind::Dispatch {
            variants,
            arguments,
        } => {
            let predicates = variants.iter().map(|variant| variant.predicate.as_ref());
            let is_total = predicates.clone().any(|predicate| predicate.is_none());
            let has_values = predicates.flatten().all(|expr| most(expr).is_some());
            !is_total || !has_values || any_may_fail(arguments)
        }
    }
}

fn any_may_fail(operands: &[Operand]) -> bool {
    operands.iter().any(|operand| match operand {
        Operand::Buffer(buffer) => buffer.view.is_some(),
        Operand::Scalar(value) => most(value).is_none(),
        Operand::Control { .. } | Operand::Faults | Operand::Prints | Operand::Site(_) => false,
    })
}

/// A bound of an expression's value, taken for unsigned. None if it may have no value.
fn most(expr: &Expr) -> Option<u64> {
    let all = |width: u32| u64::MAX >> (64 - width.clamp(1, 64));
    Some(match expr {
        Expr::Constant(value) => *value,
        Expr::Scalar(_) | Expr::Address(_) => u64::MAX,
        Expr::Length(..) => i64::MAX as u64,
        Expr::Binary {
            operation,
            width,
            left,
            right,
        } => {
            let divisor = match &**right {
                Expr::Constant(value) => Some(value & all(*width)).filter(|value| *value != 0),
                _ => None,
            };
            let (left, right) = (most(left)?, most(right)?);
            match operation {
                Operation::DivUnsigned => left / divisor?,
                Operation::CeilDivUnsigned => left.div_ceil(divisor?),
                Operation::RemUnsigned => divisor? - 1,
                Operation::DivSigned
                | Operation::RemSigned
                | Operation::CeilDivSigned
                | Operation::FloorDivSigned => divisor.map(|_| all(*width))?,
                Operation::MinUnsigned | Operation::And => left.min(right),
                Operation::MaxUnsigned => left.max(right),
                Operation::Add => left.saturating_add(right).min(all(*width)),
                Operation::Mul => left.saturating_mul(right).min(all(*width)),
                _ => all(*width),
            }
        }
        Expr::Compare { left, right, .. } => most(left).and(most(right)).map(|_| 1)?,
        Expr::Select {
            condition,
            then,
            otherwise,
        } => most(condition).and(Some(most(then)?.max(most(otherwise)?)))?,
        Expr::Resize { to, signed, value } => match (most(value)?, signed) {
            (most, false) => most.min(all(*to)),
            (_, true) => u64::MAX,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::{super::lengths::binary, *};
    use qd_artifact::{BufferRef, View};

    fn launch(blocks: Expr, argument: Operand) -> bool {
        may_fail(&StepKind::Launch {
            body: "b".into(),
            name: "p".into(),
            blocks,
            threads: 64,
            dynamic_shared_bytes: 0,
            arguments: vec![argument],
        })
    }

    #[test]
    fn launches_fail_by_their_number_of_blocks_views_and_divisions() {
        use Operation::*;
        let (length, scalar) = (Expr::Length(0, 0), Expr::Scalar(1));
        let whole = Operand::Buffer(BufferRef {
            argument: 0,
            view: None,
        });
        let number = Expr::constant;
        let enough = binary(CeilDivUnsigned, length.clone(), number(256));
        assert!(!launch(enough.clone(), whole.clone()));
        assert!(!launch(
            binary(MinUnsigned, scalar.clone(), number(396)),
            whole.clone()
        ));
        for blocks in [
            scalar.clone(),
            binary(Sub, length.clone(), number(1)),
            binary(CeilDivSigned, length.clone(), number(256)),
            binary(CeilDivUnsigned, length.clone(), scalar.clone()),
            binary(CeilDivUnsigned, number(6), number(0)),
            binary(MinUnsigned, binary(DivUnsigned, length, scalar), number(2)),
        ] {
            assert!(launch(blocks.clone(), whole.clone()), "{blocks:?}");
        }
        let view = View {
            offset_bytes: number(0),
            length: None,
            row: None,
            dtype: "i32".parse().expect("a type"),
        };
        let part = BufferRef {
            argument: 0,
            view: Some(view),
        };
        assert!(launch(enough, part.into()));
    }
}
