//! Adversarial inputs, of every element type.

use qd_interp::{Argument, Buffer, Element};

/// Sizes at which tiles, levels and capacities begin and end.
pub const SIZES: [usize; 11] = [0, 1, 2, 255, 256, 257, 1000, 3000, 65_535, 65_536, 65_537];

/// Sizes of two and three chunks.
pub const CHUNKED_SIZES: [usize; 2] = [131_072, 131_073];

/// Sizes about those of a look-back's tiles, of a few, and of more than a window
/// of the widest subgroup.
pub const LOOK_BACK_SIZES: [usize; 9] = [0, 257, 3839, 3841, 5888, 5889, 30_000, 65_537, 380_000];

/// Those that an interpreter does in no time.
pub const SMALL_SIZES: [usize; 8] = [0, 1, 2, 255, 256, 257, 1000, 3000];

/// Numbers that look random and never change.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    /// SplitMix64: Steele, Lea & Flood, Fast Splittable Pseudorandom Number
    /// Generators (2014).
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// How the elements of an input relate to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Any bits, so any value: NaN, infinities, denormals, extremes.
    Wild,
    /// Whole numbers from −8 to 8: exact sums, in any order.
    Small,
    AllEqual,
    Sorted,
    Reversed,
    FewDistinct,
    /// Already grouped, in runs of mixed lengths.
    Runs,
    /// The values at which things overflow, or compare oddly.
    Extreme,
    /// All equal but for one.
    Outlier,
    /// Each differs from the one before.
    Distinct,
    /// Already grouped, in runs of which some are longer than several tiles.
    LongRuns,
    /// NaNs alone.
    Nans,
    /// Zeros of both signs, and NaNs.
    Zeros,
}

pub const PATTERNS: [Pattern; 9] = [
    Pattern::Wild,
    Pattern::Small,
    Pattern::AllEqual,
    Pattern::Sorted,
    Pattern::Reversed,
    Pattern::FewDistinct,
    Pattern::Runs,
    Pattern::Extreme,
    Pattern::Outlier,
];

/// The bits of a whole number.
pub fn whole(element: Element, value: i64) -> u64 {
    match element {
        Element::I8 => value as u8 as u64,
        Element::I16 => value as u16 as u64,
        Element::I32 => value as i32 as u32 as u64,
        Element::I64 => value as u64,
        Element::F32 => (value as f32).to_bits() as u64,
        Element::F64 => (value as f64).to_bits(),
        other => panic!("no data of {other}"),
    }
}

fn extremes(element: Element) -> Vec<u64> {
    match element {
        Element::I8 => vec![0, 1, 0xFF, 0x80, 0x7F],
        Element::I16 => vec![0, 1, 0xFFFF, 0x8000, 0x7FFF, 0x100],
        Element::I32 => [0, 1, u32::MAX, 1 << 31, (1 << 31) - 1]
            .map(u64::from)
            .into(),
        Element::I64 => vec![0, 1, u64::MAX, 1 << 63, (1 << 63) - 1],
        Element::F32 => {
            let nan = f32::NAN.to_bits();
            let bits = [0.0, f32::INFINITY, f32::MAX, f32::MIN_POSITIVE, 1e-45].map(f32::to_bits);
            bits.iter()
                .chain(&[nan, nan | 0x42])
                .flat_map(|b| [*b, b | 1 << 31])
                .map(u64::from)
                .collect()
        }
        _ => {
            let nan = f64::NAN.to_bits();
            let bits = [0.0, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE, 5e-324].map(f64::to_bits);
            bits.iter()
                .chain(&[nan, nan | 0x42])
                .flat_map(|b| [*b, b | 1 << 63])
                .collect()
        }
    }
}

/// The bits of `n` elements.
pub fn values(element: Element, pattern: Pattern, n: usize, seed: u64) -> Vec<u64> {
    let mut random = Random::new(seed);
    let mask = u64::MAX >> (64 - 8 * element.bytes());
    let extremes = extremes(element);
    let few: Vec<_> = (0..5).map(|_| random.next() & mask).collect();
    let (nan, sign) = match element {
        Element::F32 => (f32::NAN.to_bits().into(), 1 << 31),
        Element::F64 => (f64::NAN.to_bits(), 1 << 63),
        // What is the least that there is, with a sign.
        _ => ((mask >> 1) + 1, 1),
    };
    let mut run = (0, 0);
    (0..n)
        .map(|i| match pattern {
            Pattern::Wild => random.next() & mask,
            Pattern::Small => whole(element, random.below(17) as i64 - 8),
            Pattern::AllEqual => whole(element, 3),
            Pattern::Sorted => whole(element, i as i64 / 2 - 500),
            Pattern::Reversed => whole(element, 500 - i as i64 / 2),
            Pattern::FewDistinct => few[random.below(5) as usize],
            Pattern::Runs | Pattern::LongRuns => {
                if run.1 == 0 {
                    let lengths = match pattern {
                        Pattern::Runs => [1, 1, 2, 8, 300],
                        _ => [1, 40, 1280, 1279, 4000],
                    };
                    let length = lengths[random.below(5) as usize];
                    run = (whole(element, random.below(100) as i64), length);
                }
                run.1 -= 1;
                run.0
            }
            Pattern::Extreme => extremes[random.below(extremes.len() as u64) as usize],
            Pattern::Outlier => whole(element, if i == n / 2 { -7 } else { 7 }),
            Pattern::Distinct => whole(element, i as i64 % 100),
            Pattern::Nans => nan,
            Pattern::Zeros => [0, sign, nan][random.below(3) as usize],
        })
        .collect()
}

/// A buffer of these bits.
pub fn buffer(element: Element, bits: &[u64]) -> Argument {
    let narrow = || bits.iter().map(|b| *b as u32);
    match element {
        Element::I8 => Buffer::from_slice(&bits.iter().map(|b| *b as i8).collect::<Vec<_>>()),
        Element::I16 => Buffer::from_slice(&bits.iter().map(|b| *b as i16).collect::<Vec<_>>()),
        Element::I32 => Buffer::from_slice(&narrow().collect::<Vec<_>>()),
        Element::I64 => Buffer::from_slice(bits),
        Element::F32 => Buffer::from_slice(&narrow().map(f32::from_bits).collect::<Vec<_>>()),
        _ => Buffer::from_slice(&bits.iter().map(|b| f64::from_bits(*b)).collect::<Vec<_>>()),
    }
    .into()
}

/// A buffer of rows of `length` scalars each.
pub fn rows(element: Element, bits: &[u64], length: usize) -> Argument {
    let Argument::Buffer(flat) = buffer(element, bits) else {
        unreachable!("a buffer was made");
    };
    let rows = flat.reshaped(&[bits.len() / length, length]);
    rows.expect("a multiple of the rows' length").into()
}

/// Scratch as it arrives.
pub fn scratch(element: Element, slots: u64) -> Argument {
    Buffer::uninitialised(element, &[slots as usize]).into()
}

/// A live count.
pub fn count(n: usize) -> Argument {
    Buffer::scalar(n as i32).into()
}

/// The bits of a buffer's elements, row by row.
pub fn bits(argument: &Argument) -> Vec<u64> {
    let buffer = argument.buffer().expect("a buffer");
    let size = buffer.element.bytes();
    let chunks = buffer.data.chunks_exact(size);
    chunks
        .map(|bytes| {
            let mut word = [0; 8];
            word[..size].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        })
        .collect()
}
