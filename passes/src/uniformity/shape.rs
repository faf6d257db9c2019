//! How a value differs between the threads of a group, as far as it is known.

/// A value over the threads of a group: the lanes of a subgroup, the threads of
/// a block, all threads of a grid.
///
/// `align` is a number of low bits known to be zero. Groups are powers of two,
/// so that is all the divisibility that comparisons with aligned bounds need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The same in every thread, and a multiple of `2^align`.
    Uniform {
        /// Low bits known to be zero.
        align: u32,
    },
    /// `base + rank · 2^log2_stride`, where `base` is uniform and a multiple of
    /// `2^align`, and `rank` is the thread's number in the group.
    Strided {
        /// Distance of neighbours, as a power of two.
        log2_stride: u32,
        /// Low bits of `base` known to be zero.
        align: u32,
    },
    /// Anything.
    Varying,
}

use Shape::{Strided, Uniform, Varying};

/// More zero bits than any type has: what 0 is aligned to.
const ALL: u32 = 64;

/// What is known of a predicate `left ? right`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `==` or `!=`.
    Equality,
    /// `<` or `>=`.
    Below,
    /// `<=` or `>`.
    UpTo,
}

impl Shape {
    /// Uniform, and nothing else is known.
    pub const UNIFORM: Self = Uniform { align: 0 };

    /// A constant.
    pub fn constant(value: i64) -> Self {
        let align = if value == 0 {
            ALL
        } else {
            value.trailing_zeros()
        };
        Uniform { align }
    }

    /// Whether it is the same in every thread.
    pub fn is_uniform(self) -> bool {
        matches!(self, Uniform { .. })
    }

    /// The least that is known of a value that is one or the other.
    pub fn join(self, other: Self) -> Self {
        match (self, other) {
            (Uniform { align: a }, Uniform { align: b }) => Uniform { align: a.min(b) },
            (
                Strided {
                    log2_stride: s,
                    align: a,
                },
                Strided {
                    log2_stride: t,
                    align: b,
                },
            ) if s == t => Strided {
                log2_stride: s,
                align: a.min(b),
            },
            _ => Varying,
        }
    }

    /// Forgets the alignment: what a loop does that does not settle.
    pub fn widened(self) -> Self {
        match self {
            Uniform { .. } => Self::UNIFORM,
            Strided { log2_stride, .. } => Strided {
                log2_stride,
                align: 0,
            },
            Varying => Varying,
        }
    }

    /// `self + other`.
    pub fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Uniform { align: a }, Uniform { align: b }) => Uniform { align: a.min(b) },
            (
                Strided {
                    log2_stride,
                    align: a,
                },
                Uniform { align: b },
            )
            | (
                Uniform { align: b },
                Strided {
                    log2_stride,
                    align: a,
                },
            ) => Strided {
                log2_stride,
                align: a.min(b),
            },
            (
                Strided {
                    log2_stride: s,
                    align: a,
                },
                Strided {
                    log2_stride: t,
                    align: b,
                },
            ) if s == t => Strided {
                log2_stride: s + 1,
                align: a.min(b),
            },
            _ => Varying,
        }
    }

    /// `self − other`.
    pub fn minus(self, other: Self) -> Self {
        match (self, other) {
            // Equal strides cancel: what is left are the bases.
            (
                Strided {
                    log2_stride: s,
                    align: a,
                },
                Strided {
                    log2_stride: t,
                    align: b,
                },
            ) if s == t => Uniform { align: a.min(b) },
            (_, Uniform { .. }) => self.plus(other),
            _ => Varying,
        }
    }

    /// `self · other`, where `other` may be a known constant.
    pub fn mul(self, other: Self, constant: Option<i64>) -> Self {
        match (self, other) {
            (Uniform { align: a }, Uniform { align: b }) => Uniform {
                align: (a + b).min(ALL),
            },
            (Strided { log2_stride, align }, _) => match constant {
                Some(c) if c > 0 && c.count_ones() == 1 => {
                    let by = c.trailing_zeros();
                    Strided {
                        log2_stride: log2_stride + by,
                        align: (align + by).min(ALL),
                    }
                }
                Some(0) => Self::constant(0),
                _ => Varying,
            },
            _ => Varying,
        }
    }

    /// `⌊self / other⌋`, over groups of `2^group` threads.
    pub fn div(self, other: Self, constant: Option<i64>, group: Option<u32>) -> Self {
        match (self, other) {
            (Uniform { align }, Uniform { .. }) => match constant {
                Some(c) if c > 0 && c.count_ones() == 1 => Uniform {
                    align: align.saturating_sub(c.trailing_zeros()),
                },
                _ => Self::UNIFORM,
            },
            // A group that starts at a multiple of its span does not straddle a
            // multiple of a divisor that is one as well.
            (_, Uniform { align }) if self.is_aligned(group, align) => Self::UNIFORM,
            (Strided { log2_stride, align }, _) => match constant {
                Some(c) if c > 0 && c.count_ones() == 1 => {
                    let by = c.trailing_zeros();
                    if by <= log2_stride && by <= align {
                        Strided {
                            log2_stride: log2_stride - by,
                            align: align - by,
                        }
                    } else {
                        Varying
                    }
                }
                _ => Varying,
            },
            _ => Varying,
        }
    }

    /// `self mod other`, over groups of `2^group` threads.
    pub fn rem(self, other: Self, group: Option<u32>) -> Self {
        match (self, other) {
            (Uniform { align: a }, Uniform { align: b }) => Uniform { align: a.min(b) },
            (
                Strided {
                    log2_stride,
                    align: a,
                },
                Uniform { align: b },
            ) if self.is_aligned(group, b) => Strided {
                log2_stride,
                align: a.min(b),
            },
            _ => Varying,
        }
    }

    /// `self & other`, where `other` may be a known constant.
    pub fn and(self, other: Self, constant: Option<i64>, group: Option<u32>) -> Self {
        match (self, other) {
            (Uniform { align: a }, Uniform { align: b }) => Uniform { align: a.max(b) },
            // The mask keeps none of the bits in which the threads differ.
            (_, Uniform { align }) if self.is_aligned(group, align) => Uniform { align },
            (Strided { log2_stride, align }, _) => {
                let Some((mask, group)) = constant.zip(group) else {
                    return Varying;
                };
                let span = log2_stride + group;
                // The mask keeps all of them.
                if align >= span
                    && span < 31
                    && (mask >> log2_stride) & ((1 << group) - 1) == (1 << group) - 1
                {
                    Strided { log2_stride, align }
                } else {
                    Varying
                }
            }
            _ => Varying,
        }
    }

    /// `self | other` or `self ^ other`.
    pub fn or(self, other: Self, group: Option<u32>) -> Self {
        match (self, other) {
            (Uniform { align: a }, Uniform { align: b }) => Uniform { align: a.min(b) },
            (
                Strided {
                    log2_stride,
                    align: a,
                },
                Uniform { align: b },
            ) if self.is_aligned(group, b) => Strided {
                log2_stride,
                align: a.min(b),
            },
            (Uniform { .. }, Strided { .. }) => other.or(self, group),
            _ => Varying,
        }
    }

    /// A comparison. `right_next` is the shape of `right + 1` where `right` is a
    /// constant.
    pub fn compare(
        self,
        relation: Relation,
        right: Self,
        right_next: Option<Self>,
        group: Option<u32>,
    ) -> Self {
        match (self, right) {
            (Uniform { .. }, Uniform { .. }) => Self::UNIFORM,
            (Strided { .. }, Uniform { align }) => match relation {
                // All of an aligned group is below an aligned bound, or none.
                Relation::Below if self.is_aligned(group, align) => Self::UNIFORM,
                Relation::UpTo => match right_next {
                    Some(Uniform { align }) if self.is_aligned(group, align) => Self::UNIFORM,
                    _ => Varying,
                },
                _ => Varying,
            },
            (Strided { log2_stride: s, .. }, Strided { log2_stride: t, .. }) if s == t => {
                // The difference is uniform; order needs that neither wraps
                // within a group.
                if relation == Relation::Equality
                    || (self.is_aligned(group, ALL) && right.is_aligned(group, ALL))
                {
                    Self::UNIFORM
                } else {
                    Varying
                }
            }
            _ => Varying,
        }
    }

    /// Whether the groups' spans are aligned blocks, and `2^other` is a multiple
    /// of a span as well. Such a group does not straddle a multiple of `2^other`,
    /// nor the wrap-around of its type.
    pub fn is_aligned(self, group: Option<u32>, other: u32) -> bool {
        match (self, group) {
            (Strided { log2_stride, align }, Some(group)) => {
                let span = log2_stride + group;
                span < 31 && align >= span && other >= span
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an operation does to each value.
    type Rule = Box<dyn Fn(i64) -> i64>;

    /// Holds a rule against all bases and ranks of small groups.
    fn holds(shape: Shape, group: u32, values: impl Fn(i64, i64) -> i64, bases: &[i64]) {
        for &base in bases {
            let row: Vec<i64> = (0..1 << group).map(|rank| values(base, rank)).collect();
            match shape {
                Uniform { align } => assert!(
                    row.iter()
                        .all(|v| *v == row[0] && (align >= 64 || v % (1 << align) == 0)),
                    "{shape:?} at {base}: {row:?}"
                ),
                Strided { log2_stride, align } => {
                    for (rank, v) in row.iter().enumerate() {
                        assert_eq!(*v, row[0] + ((rank as i64) << log2_stride), "{shape:?}");
                    }
                    assert!(
                        align >= 64 || row[0] % (1 << align) == 0,
                        "{shape:?} at {base}"
                    );
                }
                Varying => {}
            }
        }
    }

    #[test]
    fn every_rule_holds_over_small_groups() {
        let mut kept = 0;
        for group in 0..4u32 {
            for log2_stride in 0..3 {
                for align in 0..6 {
                    let v = Strided { log2_stride, align };
                    let bases: Vec<i64> = (0..40).map(|k| k << align).collect();
                    let at = |base: i64, rank: i64| base + (rank << log2_stride);
                    for c in 1..70i64 {
                        let k = Shape::constant(c);
                        let next = Some(Shape::constant(c + 1));
                        let g = Some(group);
                        let rules: [(Shape, Rule); 8] = [
                            (v.plus(k), Box::new(move |x| x + c)),
                            (v.mul(k, Some(c)), Box::new(move |x| x * c)),
                            (v.div(k, Some(c), g), Box::new(move |x| x / c)),
                            (v.rem(k, g), Box::new(move |x| x % c)),
                            (v.and(k, Some(c), g), Box::new(move |x| x & c)),
                            (v.or(k, g), Box::new(move |x| x | c)),
                            (
                                v.compare(Relation::Below, k, next, g),
                                Box::new(move |x| (x < c).into()),
                            ),
                            (
                                v.compare(Relation::UpTo, k, next, g),
                                Box::new(move |x| (x <= c).into()),
                            ),
                        ];
                        for (shape, rule) in rules {
                            kept += usize::from(shape != Varying);
                            holds(shape, group, |base, rank| rule(at(base, rank)), &bases);
                        }
                    }
                }
            }
        }
        assert!(kept > 1000, "the rules say something: {kept}");
    }

    #[test]
    fn equal_strides_cancel() {
        let lane = Strided {
            log2_stride: 0,
            align: 64,
        };
        let thread = Strided {
            log2_stride: 0,
            align: 5,
        };
        assert_eq!(thread.minus(lane), Uniform { align: 5 });
        assert_eq!(
            thread.plus(lane),
            Strided {
                log2_stride: 1,
                align: 5
            }
        );
    }
}
