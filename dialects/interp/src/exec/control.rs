//! Arithmetic, structured control flow and memref descriptors: the instructions
//! that access registers alone.

use super::{
    arithmetic::{self as math, Undefined},
    lanes::{Frame, Lanes, bits},
};
use crate::{
    fault::{Outcome, Trap},
    memory::{Memref, Memrefs},
    program::*,
    value::Element,
};

/// The next instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Next,
    Jump(Target),
    End,
    /// The instruction is not one of these.
    Elsewhere,
}

/// Runs code that touches no memory and no other thread.
pub(crate) fn run_pure(code: &Code, lanes: &mut Lanes, memrefs: &mut Memrefs) -> Outcome {
    lanes.at = 0;
    lanes.active = lanes.full;
    lanes.frames.clear();
    loop {
        let at = lanes.at as usize;
        let flow = step(&code.instructions[at], lanes, memrefs);
        match flow.map_err(|mut trap| {
            trap.site.get_or_insert(code.sites[at]);
            trap
        })? {
            Flow::Next => lanes.at += 1,
            Flow::Jump(target) => lanes.at = target,
            Flow::End => return Ok(()),
            Flow::Elsewhere => return Err(Trap::new("cannot be executed here")),
        }
    }
}

/// Executes one instruction in the active lanes.
pub(crate) fn step(
    instruction: &Instruction,
    lanes: &mut Lanes,
    memrefs: &mut Memrefs,
) -> Outcome<Flow> {
    use Instruction as I;
    match instruction {
        I::Constant { dst, bits } => lanes.set_all(*dst, *bits),
        I::Poison { dst } => lanes.set_poison(*dst, u64::MAX),
        I::Binary {
            op,
            element,
            dst,
            a,
            b,
        } => binary(lanes, *op, *element, *dst, *a, *b)?,
        I::Unary {
            op,
            element,
            dst,
            a,
        } => unary(lanes, *op, *element, *dst, *a),
        I::Cast {
            op,
            from,
            to,
            dst,
            a,
        } => {
            partial(lanes, *dst, *a, *a, |x, _| math::cast(*op, *from, *to, x));
        }
        I::Promise {
            promise,
            element,
            dst,
            a,
            b,
        } => {
            for lane in bits(lanes.active) {
                let (x, y) = (lanes.get(*a, lane), lanes.get(*b, lane));
                if !math::keeps(*promise, *element, x, y) {
                    lanes.set_poison_lane(*dst, lane);
                }
            }
        }
        I::CompareInts {
            predicate,
            element,
            dst,
            a,
            b,
        } => {
            total(lanes, *dst, *a, *b, |x, y| {
                math::compare_ints(*predicate, *element, x, y) as u64
            });
        }
        I::CompareFloats {
            predicate,
            element,
            dst,
            a,
            b,
        } => {
            total(lanes, *dst, *a, *b, |x, y| {
                math::compare_floats(*predicate, *element, x, y) as u64
            });
        }
        I::Select {
            dst,
            condition,
            a,
            b,
        } => {
            let (before, out) = lanes.split(*dst);
            let width = out.len();
            let of = |reg: Reg| &before[reg as usize * width..][..width];
            let mut chosen = 0;
            let sources = of(*condition).iter().zip(of(*a)).zip(of(*b));
            for (lane, (((c, x), y), out)) in sources.zip(&mut *out).enumerate() {
                *out = if c & 1 != 0 { *x } else { *y };
                chosen |= (c & 1) << lane;
            }
            let poison =
                lanes.poison(*condition) | chosen & lanes.poison(*a) | !chosen & lanes.poison(*b);
            lanes.set_poison(*dst, poison);
        }
        I::Fma {
            element,
            dst,
            a,
            b,
            c,
        } => {
            for lane in 0..lanes.width {
                let (x, y, z) = (
                    lanes.get(*a, lane),
                    lanes.get(*b, lane),
                    lanes.get(*c, lane),
                );
                lanes.values_mut(*dst)[lane] = math::fma(*element, x, y, z);
            }
            let poison = lanes.poison(*a) | lanes.poison(*b) | lanes.poison(*c);
            lanes.set_poison(*dst, poison);
        }
        I::Clamp {
            element,
            dst,
            value,
            low,
            high,
        } => {
            for lane in 0..lanes.width {
                let at = |reg| lanes.get(reg, lane);
                let raised = math::total(Binary::Maximum, *element, at(*value), at(*low));
                let clamped = math::total(Binary::Minimum, *element, raised, at(*high));
                lanes.values_mut(*dst)[lane] = clamped;
            }
            let poison = lanes.poison(*value) | lanes.poison(*low) | lanes.poison(*high);
            lanes.set_poison(*dst, poison);
        }
        I::Extended {
            op,
            element,
            low,
            high,
            a,
            b,
        } => {
            for lane in 0..lanes.width {
                let (x, y) = (lanes.get(*a, lane), lanes.get(*b, lane));
                let (first, second) = math::extended(*op, *element, x, y);
                lanes.values_mut(*low)[lane] = first;
                lanes.values_mut(*high)[lane] = second;
            }
            let poison = lanes.poison(*a) | lanes.poison(*b);
            lanes.set_poison(*low, poison);
            lanes.set_poison(*high, poison);
        }
        I::Philox { made, read } => {
            for lane in 0..lanes.width {
                let [counter @ .., k0, k1] = read.map(|reg| lanes.get(reg, lane) as u32);
                let random = math::philox(counter, [k0, k1]);
                for (reg, word) in made.iter().zip(random) {
                    lanes.values_mut(*reg)[lane] = word.into();
                }
            }
            let poison = read.iter().fold(0, |all, reg| all | lanes.poison(*reg));
            for reg in made {
                lanes.set_poison(*reg, poison);
            }
        }
        I::FindNthSet {
            dst,
            mask,
            base,
            offset,
        } => {
            lanes.need(*base, "the base of a bit search")?;
            for lane in bits(lanes.active) {
                let start = lanes.get(*base, lane);
                if start >= 32 {
                    return Err(Trap::new(format!(
                        "starts at bit {start}, beyond the 32 of its mask"
                    )));
                }
                let (mask, offset) = (lanes.get(*mask, lane), lanes.get(*offset, lane));
                let found = math::find_nth_set(mask as u32, start as u32, offset as i32);
                lanes.values_mut(*dst)[lane] = found as u64;
            }
            let poison = lanes.poison(*mask) | lanes.poison(*offset);
            lanes.set_poison(*dst, poison);
        }
        I::LaneMask {
            dst,
            lane,
            relation,
            element,
        } => {
            partial(lanes, *dst, *lane, *lane, |at, _| {
                lane_mask(*relation, *element, at)
            });
        }
        I::ScratchSlots {
            dst,
            n,
            algorithm,
            depth,
        } => {
            partial(lanes, *dst, *n, *n, |n, _| {
                i64::try_from(n)
                    .ok()
                    .and_then(|_| algorithm.slots(n, *depth))
            });
        }

        I::Copy { pairs } => lanes.copy(pairs),
        I::If {
            condition,
            otherwise,
        } => {
            lanes.need(*condition, "a condition")?;
            let taken = lanes.holding(*condition);
            let other = lanes.active & !taken;
            lanes.frames.push(Frame {
                saved: lanes.active,
                other,
                turns: 0,
            });
            lanes.active = taken;
            if taken == 0 {
                return Ok(Flow::Jump(*otherwise));
            }
        }
        I::Else { end } => {
            let frame = lanes.frames.last_mut().expect("an if is open");
            lanes.active = frame.other;
            if lanes.active == 0 {
                return Ok(Flow::Jump(*end));
            }
        }
        I::EndIf => leave(lanes),
        I::EnterLoop { step } => {
            if let Some((step, element)) = *step {
                lanes.need(step, "a loop's step")?;
                if bits(lanes.active).any(|lane| element.signed(lanes.get(step, lane)) <= 0) {
                    return Err(Trap::new("has a step that is not positive"));
                }
            }
            lanes.frames.push(Frame {
                saved: lanes.active,
                other: 0,
                turns: 0,
            });
        }
        I::ForTest {
            counter,
            bound,
            element,
            unsigned,
            exit,
        } => {
            lanes.need(*counter, "a loop's bound")?;
            lanes.need(*bound, "a loop's bound")?;
            let mut on = 0;
            for lane in bits(lanes.active) {
                let (at, end) = (lanes.get(*counter, lane), lanes.get(*bound, lane));
                let goes_on = if *unsigned {
                    at < end
                } else {
                    element.signed(at) < element.signed(end)
                };
                on |= (goes_on as u64) << lane;
            }
            return Ok(turn(lanes, on, *exit));
        }
        I::ForStep {
            counter,
            step,
            element,
            unsigned,
            head,
            exit,
        } => {
            let mut on = 0;
            for lane in bits(lanes.active) {
                let (at, by) = (lanes.get(*counter, lane), lanes.get(*step, lane));
                let next = if *unsigned {
                    at.checked_add(by).filter(|next| *next <= element.mask())
                } else {
                    element
                        .signed(at)
                        .checked_add(element.signed(by))
                        .filter(|next| element.signed(*next as u64 & element.mask()) == *next)
                        .map(|next| next as u64 & element.mask())
                };
                if let Some(next) = next {
                    lanes.set(*counter, lane, next);
                    on |= 1 << lane;
                }
            }
            lanes.active = on;
            if on == 0 {
                leave(lanes);
                return Ok(Flow::Jump(*exit));
            }
            return Ok(Flow::Jump(*head));
        }
        I::WhileTest { condition, exit } => {
            lanes.need(*condition, "a condition")?;
            let on = lanes.holding(*condition);
            return Ok(turn(lanes, on, *exit));
        }
        I::Jump { target } => return Ok(Flow::Jump(*target)),
        I::Assert { condition, message } => {
            lanes.need(*condition, "a condition")?;
            if lanes.holding(*condition) != lanes.active {
                return Err(Trap::new(format!("fails: {message}")));
            }
        }
        I::End => return Ok(Flow::End),

        I::Dim { dst, memref, index } => {
            lanes.need(*memref, "a memref")?;
            lanes.need(*index, "a dimension")?;
            for lane in bits(lanes.active) {
                let sizes = &memrefs.get(lanes.get(*memref, lane)).sizes;
                let at = lanes.get(*index, lane);
                let Some(size) = sizes.get(at as usize) else {
                    return Err(Trap::new(format!(
                        "takes dimension {} of a memref of rank {}",
                        at as i64,
                        sizes.len()
                    )));
                };
                lanes.set(*dst, lane, *size as u64);
            }
        }
        I::Address { dst, memref } => {
            lanes.need(*memref, "a memref")?;
            for lane in bits(lanes.active) {
                let address = memrefs.get(lanes.get(*memref, lane)).begin();
                lanes.set(*dst, lane, address);
            }
        }
        I::MemrefCast { dst, source, shape } => {
            each_memref(lanes, memrefs, *dst, *source, |memref, _, _| {
                for (at, (size, wanted)) in memref.sizes.iter().zip(shape).enumerate() {
                    if wanted.is_some_and(|wanted| wanted as i64 != *size) {
                        return Err(Trap::new(format!(
                            "casts dimension {at} of size {size} to size {}",
                            wanted.unwrap_or_default()
                        )));
                    }
                }
                Ok(memref.clone())
            })?;
        }
        I::View {
            dst,
            source,
            offset,
            size,
            row,
            element,
        } => {
            lanes.need(*offset, "an offset")?;
            if let Some(size) = size {
                lanes.need(*size, "a size")?;
            }
            each_memref(lanes, memrefs, *dst, *source, |memref, lanes, lane| {
                let size = size.map(|size| lanes.get(size, lane) as i64);
                let row = row.map(|row| row as i64);
                view(
                    memref,
                    lanes.get(*offset, lane) as i64,
                    [size, row],
                    *element,
                )
            })?;
        }
        I::SubView(op) => {
            let extents = op.offsets.iter().chain(&op.sizes).chain(&op.strides);
            for extent in extents {
                if let Extent::Dynamic(reg) = extent {
                    lanes.need(*reg, "an offset, size or stride")?;
                }
            }
            each_memref(lanes, memrefs, op.dst, op.source, |memref, lanes, lane| {
                sub_view(op, memref, lanes, lane)
            })?;
        }
        I::Collapse {
            dst,
            source,
            groups,
        } => each_memref(lanes, memrefs, *dst, *source, |memref, _, _| {
            collapse(memref, groups)
        })?,
        I::Reinterpret(op) => {
            for extent in op.sizes.iter().chain(&op.strides).chain([&op.offset]) {
                if let Extent::Dynamic(reg) = extent {
                    lanes.need(*reg, "an offset, size or stride")?;
                }
            }
            each_memref(lanes, memrefs, op.dst, op.source, |memref, lanes, lane| {
                reinterpret(op, memref, lanes, lane)
            })?;
        }
        _ => return Ok(Flow::Elsewhere),
    }
    Ok(Flow::Next)
}

fn leave(lanes: &mut Lanes) {
    let frame = lanes.frames.pop().expect("a region is open");
    lanes.active = frame.saved;
}

/// A loop goes on in these lanes, or ends.
fn turn(lanes: &mut Lanes, on: u64, exit: Target) -> Flow {
    lanes.active = on;
    if on == 0 {
        leave(lanes);
        return Flow::Jump(exit);
    }
    if let Some(frame) = lanes.frames.last_mut() {
        frame.turns += 1;
    }
    Flow::Next
}

/// `dst = f(a, b)` in all lanes.
#[inline(always)]
fn total(lanes: &mut Lanes, dst: Reg, a: Reg, b: Reg, f: impl Fn(u64, u64) -> u64) {
    let poison = lanes.poison(a) | lanes.poison(b);
    lanes.set_poison(dst, poison);
    let (before, out) = lanes.split(dst);
    let width = out.len();
    let x = &before[a as usize * width..][..width];
    let y = &before[b as usize * width..][..width];
    for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
        *out = f(*x, *y);
    }
}

/// As [`total`]; poison where there is no result.
fn partial(lanes: &mut Lanes, dst: Reg, a: Reg, b: Reg, f: impl Fn(u64, u64) -> Option<u64>) {
    let mut poison = lanes.poison(a) | lanes.poison(b);
    for lane in 0..lanes.width {
        match f(lanes.get(a, lane), lanes.get(b, lane)) {
            Some(value) => lanes.values_mut(dst)[lane] = value,
            None => poison |= 1 << lane,
        }
    }
    lanes.set_poison(dst, poison);
}

fn binary(lanes: &mut Lanes, op: Binary, element: Element, dst: Reg, a: Reg, b: Reg) -> Outcome {
    // One loop per operation that kernels are full of.
    macro_rules! fast {
        ($($case:ident),*) => {
            match op {
                $(Binary::$case => {
                    total(lanes, dst, a, b, |x, y| math::total(Binary::$case, element, x, y));
                })*
                _ => total(lanes, dst, a, b, |x, y| math::total(op, element, x, y)),
            }
        };
    }
    if math::is_total(op) {
        fast!(AddI, SubI, MulI, And, Or, Xor, MinU, MaxU, AddF, MulF);
        return Ok(());
    }
    let shifts = matches!(op, Binary::Shl | Binary::ShrS | Binary::ShrU);
    if !shifts {
        lanes.need(b, "a divisor or exponent")?;
    }
    let mut poison = lanes.poison(a) | lanes.poison(b);
    for lane in bits(lanes.active) {
        match math::binary(op, element, lanes.get(a, lane), lanes.get(b, lane)) {
            Ok(value) => lanes.values_mut(dst)[lane] = value,
            Err(Undefined::Fault(_)) if lanes.is_poison(a, lane) => {}
            Err(Undefined::Fault(message)) => return Err(Trap::new(message)),
            Err(Undefined::Poison) => poison |= 1 << lane,
        }
    }
    lanes.set_poison(dst, poison);
    Ok(())
}

fn unary(lanes: &mut Lanes, op: Unary, element: Element, dst: Reg, a: Reg) {
    total(lanes, dst, a, a, |x, _| math::unary(op, element, x));
}

/// Bit `i` is set iff `i` stands in the relation to `lane`; none beyond the
/// mask's width.
fn lane_mask(relation: LaneRelation, element: Element, lane: u64) -> Option<u64> {
    if lane >= element.width() as u64 {
        return None;
    }
    let (itself, below) = (1 << lane, (1 << lane) - 1);
    let mask = match relation {
        LaneRelation::Lt => below,
        LaneRelation::Le => below | itself,
        LaneRelation::Eq => itself,
        LaneRelation::Gt => !(below | itself),
        LaneRelation::Ge => !below,
    };
    Some(mask & element.mask())
}

/// Makes a memref of another one in each active lane.
fn each_memref(
    lanes: &mut Lanes,
    memrefs: &mut Memrefs,
    dst: Reg,
    source: Reg,
    make: impl Fn(&Memref, &Lanes, usize) -> Outcome<Memref>,
) -> Outcome {
    lanes.need(source, "a memref")?;
    for lane in bits(lanes.active) {
        let made = make(memrefs.get(lanes.get(source, lane)), lanes, lane)?;
        let number = memrefs.add(made);
        lanes.set(dst, lane, number);
    }
    Ok(())
}

/// `size` elements of another type from element `offset` on.
/// Part of a buffer; of one element and rank 0 where there is no size.
fn view(
    source: &Memref,
    offset: i64,
    [size, row]: [Option<i64>; 2],
    element: Element,
) -> Outcome<Memref> {
    let sizes: Box<[i64]> = size.into_iter().chain(row).collect();
    let strides = sizes.iter().skip(1).copied().chain([1]);
    let strides = strides.take(sizes.len()).collect();
    let (size, row) = (size.unwrap_or(1), row.unwrap_or(1));
    let bytes = source.elements() * source.element.bytes() as i64;
    let start = offset.checked_mul(source.element.bytes() as i64);
    let length = size.checked_mul(row * element.bytes() as i64);
    let fits = |start: i64, length: i64| start.checked_add(length).is_some_and(|end| end <= bytes);
    match (start, length) {
        (Some(start), Some(length)) if offset >= 0 && size >= 0 && fits(start, length) => {
            Ok(Memref {
                element,
                offset: source.offset + start,
                strides,
                sizes,
                ..source.clone()
            })
        }
        _ => Err(Trap::new(format!(
            "is out of bounds: {} elements of {element} from element {offset} of {} of {}",
            size.saturating_mul(row),
            source.elements(),
            source.element
        ))),
    }
}

fn collapse(source: &Memref, groups: &[Vec<usize>]) -> Outcome<Memref> {
    let (mut sizes, mut strides) = (Vec::new(), Vec::new());
    for group in groups {
        let (mut size, mut stride) = (1, 1);
        // Innermost first; extents of 1 have no say in strides.
        for &at in group.iter().rev() {
            let (extent, step) = (source.sizes[at], source.strides[at]);
            if extent != 1 && size == 1 {
                stride = step;
            } else if extent != 1 && step != stride * size {
                return Err(Trap::new(format!(
                    "collapses dimension {at} of stride {step} with {size} elements of stride {stride}, which do \
                     not follow each other"
                )));
            }
            size *= extent;
        }
        sizes.push(size);
        strides.push(stride);
    }
    Ok(Memref {
        sizes: sizes.into(),
        strides: strides.into(),
        ..source.clone()
    })
}

fn value_of(extent: &Extent, lanes: &Lanes, lane: usize) -> i64 {
    match *extent {
        Extent::Static(value) => value,
        Extent::Dynamic(reg) => lanes.get(reg, lane) as i64,
    }
}

fn reinterpret(op: &Reinterpret, source: &Memref, lanes: &Lanes, lane: usize) -> Outcome<Memref> {
    let value = |extent: &Extent| value_of(extent, lanes, lane);
    let offset = value(&op.offset);
    let sizes: Vec<_> = op.sizes.iter().map(value).collect();
    let strides: Vec<_> = op.strides.iter().map(value).collect();
    let is_empty = sizes.contains(&0);
    let mut steps = sizes.iter().zip(&strides).map(|(size, stride)| {
        size.checked_sub(1)
            .filter(|steps| *steps >= 0 && *stride >= 0)
            .and_then(|steps| steps.checked_mul(*stride))
    });
    let last = steps.try_fold(offset, |last, step| last.checked_add(step?));
    let available = source.elements();
    let is_inside = match is_empty {
        true => sizes.iter().all(|size| *size >= 0) && (0..=available).contains(&offset),
        false => offset >= 0 && last.is_some_and(|last| last < available),
    };
    if !is_inside {
        return Err(Trap::new(format!(
            "is out of bounds: sizes {sizes:?} with strides {strides:?} from element {offset} of {available}"
        )));
    }
    Ok(Memref {
        offset: source.offset + offset * source.element.bytes() as i64,
        sizes: sizes.into(),
        strides: strides.into(),
        ..source.clone()
    })
}

fn sub_view(op: &SubView, source: &Memref, lanes: &Lanes, lane: usize) -> Outcome<Memref> {
    let value = |extent: &Extent| value_of(extent, lanes, lane);
    let (mut sizes, mut strides, mut start) = (Vec::new(), Vec::new(), source.offset);
    for dimension in 0..op.sizes.len() {
        let (offset, size, stride) = (
            value(&op.offsets[dimension]),
            value(&op.sizes[dimension]),
            value(&op.strides[dimension]),
        );
        let available = source.sizes[dimension];
        let last = size
            .checked_sub(1)
            .and_then(|steps| steps.checked_mul(stride))
            .and_then(|reach| offset.checked_add(reach));
        let inside = |at: Option<i64>| at.is_some_and(|at| at >= 0 && at < available);
        let empty = size == 0 && (0..=available).contains(&offset);
        if size < 0 || !(empty || inside(Some(offset)) && inside(last)) {
            return Err(Trap::new(format!(
                "is out of bounds: {size} elements from {offset} with stride {stride} in dimension {dimension} of size {available}"
            )));
        }
        start += offset * source.strides[dimension] * source.element.bytes() as i64;
        if op.kept[dimension] {
            sizes.push(size);
            // Of a single element the stride does not matter, and may be anything.
            strides.push(stride.wrapping_mul(source.strides[dimension]));
        }
    }
    Ok(Memref {
        offset: start,
        sizes: sizes.into(),
        strides: strides.into(),
        ..source.clone()
    })
}
