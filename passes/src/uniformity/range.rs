//! Which values an integer may have, where they are few and not negative.

/// Bounds of a value, both inclusive, within `0 … 2^31 − 1`: signed and unsigned
/// readings agree there, for every type that an index may have.
pub type Range = Option<(i64, i64)>;

const LIMIT: i64 = i32::MAX as i64;

/// A range, unless it leaves what is kept.
pub fn range(low: i64, high: i64) -> Range {
    (0 <= low && low <= high && high <= LIMIT).then_some((low, high))
}

/// The bounds of a value that is one or the other.
pub fn join(a: Range, b: Range) -> Range {
    let (a, b) = a.zip(b)?;
    range(a.0.min(b.0), a.1.max(b.1))
}

/// The only value there is.
pub fn single(a: Range) -> Option<i64> {
    a.filter(|(low, high)| low == high).map(|(low, _)| low)
}

/// The bounds of a result, by the operation's name and its operands' bounds.
pub fn of(name: &str, operands: impl IntoIterator<Item = Range>) -> Range {
    let mut operands = operands.into_iter();
    let a = operands.next().flatten();
    let b = operands.next().flatten();
    let both = a.zip(b);
    match name {
        "arith.addi" => both.and_then(|(a, b)| range(a.0 + b.0, a.1 + b.1)),
        "arith.subi" => both.and_then(|(a, b)| range(a.0 - b.1, a.1 - b.0)),
        "arith.muli" => both.and_then(|(a, b)| range(a.0.checked_mul(b.0)?, a.1.checked_mul(b.1)?)),
        "arith.divui" | "arith.divsi" | "arith.floordivsi" => both
            .filter(|(_, b)| b.0 > 0)
            .and_then(|(a, b)| range(a.0 / b.1, a.1 / b.0)),
        "arith.ceildivui" | "arith.ceildivsi" => both
            .filter(|(_, b)| b.0 > 0)
            .and_then(|(a, b)| range((a.0 + b.1 - 1) / b.1, (a.1 + b.0 - 1) / b.0)),
        "arith.remui" => {
            let b = b.filter(|b| b.0 > 0)?;
            match a {
                Some(a) if a.1 < b.0 => Some(a),
                Some(a) => range(0, a.1.min(b.1 - 1)),
                None => range(0, b.1 - 1),
            }
        }
        "arith.remsi" => {
            let (a, b) = both.filter(|(_, b)| b.0 > 0)?;
            if a.1 < b.0 {
                Some(a)
            } else {
                range(0, a.1.min(b.1 - 1))
            }
        }
        // A mask that is not negative bounds what it is applied to.
        "arith.andi" => match (a, b) {
            (Some(a), Some(b)) => range(0, a.1.min(b.1)),
            (Some(a), None) | (None, Some(a)) => range(0, a.1),
            (None, None) => None,
        },
        "arith.ori" => both.and_then(|(a, b)| range(a.0.max(b.0), ones(a.1 | b.1))),
        "arith.xori" => both.and_then(|(a, b)| range(0, ones(a.1 | b.1))),
        "arith.shrui" | "arith.shrsi" => both
            .filter(|(_, b)| b.1 < 32)
            .and_then(|(a, b)| range(a.0 >> b.1, a.1 >> b.0)),
        "arith.shli" => both
            .filter(|(_, b)| b.1 < 31)
            .and_then(|(a, b)| range(a.0 << b.0, a.1 << b.1)),
        "arith.minui" => match (a, b) {
            (Some(a), Some(b)) => range(a.0.min(b.0), a.1.min(b.1)),
            (Some(a), None) | (None, Some(a)) => range(0, a.1),
            (None, None) => None,
        },
        "arith.minsi" => both.and_then(|(a, b)| range(a.0.min(b.0), a.1.min(b.1))),
        "arith.maxui" | "arith.maxsi" => both.and_then(|(a, b)| range(a.0.max(b.0), a.1.max(b.1))),
        "arith.select" => {
            let c = operands.next().flatten();
            match single(a) {
                Some(0) => c,
                Some(_) => b,
                None => join(b, c),
            }
        }
        _ => None,
    }
}

/// A comparison by the bounds alone: 1 or 0 where they decide it. `predicate` is
/// `arith.cmpi`'s number.
pub fn decide(predicate: i64, a: Range, b: Range) -> Option<bool> {
    let (a, b) = a.zip(b)?;
    let below = |a: (i64, i64), b: (i64, i64)| {
        if a.1 < b.0 {
            Some(true)
        } else if a.0 >= b.1 {
            Some(false)
        } else {
            None
        }
    };
    let equal = if a == b && a.0 == a.1 {
        Some(true)
    } else if a.1 < b.0 || b.1 < a.0 {
        Some(false)
    } else {
        None
    };
    match predicate {
        0 => equal,
        1 => equal.map(|e| !e),
        2 | 6 => below(a, b),
        3 | 7 => below(b, a).map(|r| !r),
        4 | 8 => below(b, a),
        5 | 9 => below(a, b).map(|r| !r),
        _ => None,
    }
}

/// All bits set that a value up to `high` may have.
fn ones(high: i64) -> i64 {
    (1 << (64 - high.leading_zeros())) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_holds_over_small_ranges() {
        type Rule = (&'static str, fn(i64, i64) -> Option<i64>);
        let rules: [Rule; 14] = [
            ("arith.addi", |a, b| Some(a + b)),
            ("arith.subi", |a, b| Some(a - b)),
            ("arith.muli", |a, b| Some(a * b)),
            ("arith.divui", |a, b| a.checked_div(b)),
            ("arith.ceildivui", |a, b| (b != 0).then(|| (a + b - 1) / b)),
            ("arith.remui", |a, b| a.checked_rem(b)),
            ("arith.remsi", |a, b| a.checked_rem(b)),
            ("arith.andi", |a, b| Some(a & b)),
            ("arith.ori", |a, b| Some(a | b)),
            ("arith.xori", |a, b| Some(a ^ b)),
            ("arith.shrui", |a, b| Some(a >> b)),
            ("arith.shli", |a, b| Some(a << b)),
            ("arith.minui", |a, b| Some(a.min(b))),
            ("arith.maxui", |a, b| Some(a.max(b))),
        ];
        for (low, high, other, last) in (0..6).flat_map(|a| {
            (a..8).flat_map(move |b| (0..6).flat_map(move |c| (c..8).map(move |d| (a, b, c, d))))
        }) {
            for (name, rule) in rules {
                let Some(bounds) = of(name, [range(low, high), range(other, last)]) else {
                    continue;
                };
                for (a, b) in (low..=high).flat_map(|a| (other..=last).map(move |b| (a, b))) {
                    if let Some(v) = rule(a, b) {
                        assert!(
                            bounds.0 <= v && v <= bounds.1,
                            "{name} {a} {b}: {v} not in {bounds:?}"
                        );
                    }
                }
            }
            for predicate in 0..10 {
                let Some(known) = decide(predicate, range(low, high), range(other, last)) else {
                    continue;
                };
                for (a, b) in (low..=high).flat_map(|a| (other..=last).map(move |b| (a, b))) {
                    let is = match predicate {
                        0 => a == b,
                        1 => a != b,
                        2 | 6 => a < b,
                        3 | 7 => a <= b,
                        4 | 8 => a > b,
                        _ => a >= b,
                    };
                    assert_eq!(is, known, "predicate {predicate} on {a}, {b}");
                }
            }
        }
    }
}
