//! Arguments of kernels.

use crate::{Argument, Data, Expect, Input, generate};
use qd_lowering::algorithms::scratch as sizing;

/// A buffer that is compared as a whole.
pub fn given(data: Data) -> Argument {
    Argument {
        data,
        expect: Expect::Same,
    }
}

/// Buffers that are all compared as a whole.
pub fn all(data: impl IntoIterator<Item = Data>) -> Vec<Argument> {
    data.into_iter().map(given).collect()
}

/// A buffer of `n` elements that are written, all alike before.
pub fn output(element: &str, n: usize, expect: Expect) -> Argument {
    Argument {
        data: generate(element, Input::AllEqual, n, 0),
        expect,
    }
}

/// Scratch of integers as wide as an element.
pub fn scratch(element: &str, slots: usize) -> Argument {
    let data = if element.ends_with("64") {
        Data::I64(vec![0; slots])
    } else {
        Data::I32(vec![0; slots])
    };
    Argument {
        data,
        expect: Expect::Scratch,
    }
}

/// Slots of scratch that an algorithm needs for `n` elements.
///
/// # Panics
///
/// The depth is not from 1 to 4.
pub fn slots(algorithm: &str, n: usize, depth: u32) -> usize {
    let n = n as u64;
    let slots = match algorithm {
        "reduce" => sizing::reduce_scratch_slots(n, Some(depth)),
        "exclusive_scan" | "inclusive_scan" => sizing::scan_scratch_slots(n, Some(depth)),
        "sort" => sizing::sort_scratch_slots(n, Some(depth)),
        "reduce_by_key" => Ok(sizing::reduce_by_key_scratch_slots(n)),
        _ => Ok(sizing::select_scratch_slots(n)),
    };
    slots.expect("a depth from 1 to 4") as usize
}
