//! Kernels that fill and copy. Memset and memcpy nodes cannot be patched for every size and
//! kind of memory; a kernel's arguments can.

use super::device::{Device, Function, Module};
use crate::{Error, objects::driver::Fault};
use std::sync::Arc;

/// Threads of a block, and blocks at most: each thread goes on by as many elements.
pub(super) const BLOCK: u32 = 256;
const MOST_BLOCKS: u64 = 4096;

/// Bytes that a thread copies at once, where both places allow it.
pub(super) const COPIED_AT_ONCE: u64 = 16;

/// Blocks for so many elements.
pub(super) fn blocks_of(count: u64) -> u64 {
    count.div_ceil(u64::from(BLOCK)).min(MOST_BLOCKS)
}

/// What fills, and what copies bytes.
pub(super) struct Moves {
    /// Of elements of 1, 2, 4 and 8 bytes.
    fills: [Function; 4],
    pub copy: Function,
    _module: Module,
}

impl Moves {
    /// The device has been entered.
    pub fn new(device: &Arc<Device>) -> Result<Self, Error> {
        let entries = [1, 2, 4, 8].map(fill).concat() + &copy();
        let text = format!(".version 8.0\n.target sm_80\n.address_size 64\n{entries}\0");
        let module = Module::new(device, text.as_bytes())?;
        let fill = |size: usize| module.function(&format!("qd_fill_{size}"));
        Ok(Self {
            fills: [fill(1)?, fill(2)?, fill(4)?, fill(8)?],
            copy: module.function("qd_copy")?,
            _module: module,
        })
    }

    /// What fills elements of so many bytes.
    pub fn fill(&self, size: usize) -> Result<Function, Fault> {
        match size {
            1 | 2 | 4 | 8 => Ok(self.fills[size.ilog2() as usize]),
            _ => Err(Fault::Failed(format!("a fill of elements of {size} bytes"))),
        }
    }
}

/// `%i`: which of the launch's threads it is, and `%step`: how many there are.
const PLACE: &str = "    mov.u32 %block, %ctaid.x;
    mov.u32 %blocks, %nctaid.x;
    mov.u32 %thread, %tid.x;
    mov.u32 %threads, %ntid.x;
    mul.wide.u32 %step, %blocks, %threads;
    mul.wide.u32 %i, %block, %threads;
    cvt.u64.u32 %offset, %thread;
    add.u64 %i, %i, %offset;
";

/// Sets `count` elements from `address` on to the low bits of `value`.
fn fill(size: usize) -> String {
    // A byte is in half a word's register.
    let (register, convert) = match size {
        1 | 2 => ("b16", "cvt.u16.u64 %v, %value;"),
        4 => ("b32", "cvt.u32.u64 %v, %value;"),
        _ => ("b64", "mov.b64 %v, %value;"),
    };
    let bits = 8 * size;
    format!(
        ".visible .entry qd_fill_{size}(.param .u64 address, .param .u64 count, .param .u64 value)
{{
    .reg .b64 %at, %count, %value, %i, %step, %offset;
    .reg .b32 %block, %blocks, %thread, %threads;
    .reg .{register} %v;
    .reg .pred %done;
    ld.param.u64 %at, [address];
    ld.param.u64 %count, [count];
    ld.param.u64 %value, [value];
    {convert}
{PLACE}    mad.lo.u64 %at, %i, {size}, %at;
more:
    setp.ge.u64 %done, %i, %count;
    @%done ret;
    st.global.b{bits} [%at], %v;
    add.u64 %i, %i, %step;
    mad.lo.u64 %at, %step, {size}, %at;
    bra more;
}}
"
    )
}

/// Copies bytes: by 16 as far as that goes if both places are aligned so, what is left by 4 if
/// they are, and what is left then one by one. `%begin` is where what is left begins.
fn copy() -> String {
    let wide = pieces("v4.b32", "{%a, %b, %c, %d}", COPIED_AT_ONCE);
    let words = pieces("b32", "%a", 4);
    let bytes = pieces("b8", "%byte", 1);
    format!(
        ".visible .entry qd_copy(.param .u64 from, .param .u64 to, .param .u64 bytes)
{{
    .reg .b64 %from, %to, %bytes, %begin, %end, %low, %source, %target, %i, %j, %step, %offset;
    .reg .b32 %block, %blocks, %thread, %threads, %a, %b, %c, %d;
    .reg .b16 %byte;
    .reg .pred %done;
    ld.param.u64 %from, [from];
    ld.param.u64 %to, [to];
    ld.param.u64 %bytes, [bytes];
    mov.u64 %begin, 0;
{PLACE}{wide}{words}{bytes}    ret;
}}
"
    )
}

/// Copies elements of `size` bytes from `%begin` on, as many as there are, and moves it past
/// them; does nothing if a place is not aligned.
fn pieces(ty: &str, registers: &str, size: u64) -> String {
    let low = size - 1;
    format!(
        "    or.b64 %low, %from, %to;
    and.b64 %low, %low, {low};
    setp.ne.u64 %done, %low, 0;
    @%done bra behind_{size};
    sub.u64 %end, %bytes, %begin;
    div.u64 %end, %end, {size};
    mov.u64 %j, %i;
more_{size}:
    setp.ge.u64 %done, %j, %end;
    @%done bra ended_{size};
    mad.lo.u64 %offset, %j, {size}, %begin;
    add.u64 %source, %from, %offset;
    add.u64 %target, %to, %offset;
    ld.global.{ty} {registers}, [%source];
    st.global.{ty} [%target], {registers};
    add.u64 %j, %j, %step;
    bra more_{size};
ended_{size}:
    mad.lo.u64 %begin, %end, {size}, %begin;
behind_{size}:
"
    )
}
