//! Kernels that set the conditions of graphs, without the host.

use super::device::{Device, Function, Module};
use std::{ffi::CStr, sync::Arc};

/// Sets a graph's condition: by a word, at the end of an iteration and before an
/// `if`, or for a loop in a loop, at its beginning, since the default that a condition starts
/// with is set once a launch. The function that does so is the driver's own.
///
/// `qd_count` counts as well, unless the limit is 0: a loop that has gone round as often and would
/// go on is stopped, with those around it, and reported if none is yet. A counter is 0 when its
/// loop has ended.
const SETTERS: &CStr = c"
.version 8.0
.target sm_80
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry qd_ask(.param .u64 handle, .param .u64 word)
{
    .reg .b64 %handle, %word;
    .reg .b32 %value;
    .reg .pred %set;
    ld.param.u64 %handle, [handle];
    ld.param.u64 %word, [word];
    ld.global.u32 %value, [%word];
    setp.ne.u32 %set, %value, 0;
    selp.u32 %value, 1, 0, %set;
    {
        .param .b64 to;
        .param .b32 what;
        st.param.b64 [to], %handle;
        st.param.b32 [what], %value;
        call.uni cudaGraphSetConditional, (to, what);
    }
    ret;
}
.visible .entry qd_count(.param .u64 handle, .param .u64 word, .param .u64 counter,
    .param .u64 outer, .param .u64 limit, .param .u64 report, .param .u64 kernel)
{
    .reg .b64 %handle, %word, %counter, %outer, %limit, %report, %kernel, %n, %before;
    .reg .b32 %value;
    .reg .pred %set, %is;
    ld.param.u64 %handle, [handle];
    ld.param.u64 %word, [word];
    ld.param.u64 %limit, [limit];
    ld.global.u32 %value, [%word];
    setp.ne.u32 %set, %value, 0;
    setp.eq.u64 %is, %limit, 0;
    @%is bra say;
    ld.param.u64 %counter, [counter];
    @!%set bra ended;
    ld.global.u64 %n, [%counter];
    add.u64 %n, %n, 1;
    st.global.u64 [%counter], %n;
    setp.lt.u64 %is, %n, %limit;
    @%is bra say;
    setp.ne.u64 %set, %limit, %limit;
    ld.param.u64 %report, [report];
    ld.param.u64 %kernel, [kernel];
    ld.volatile.global.u64 %before, [%report];
    setp.ne.u64 %is, %before, 0;
    @%is bra outwards;
    st.volatile.global.u64 [%report+8], %limit;
    membar.sys;
    st.volatile.global.u64 [%report], %kernel;
outwards:
    ld.param.u64 %outer, [outer];
    setp.eq.u64 %is, %outer, 0;
    @%is bra ended;
    st.global.u64 [%outer], %limit;
ended:
    mov.u64 %n, 0;
    st.global.u64 [%counter], %n;
say:
    selp.u32 %value, 1, 0, %set;
    {
        .param .b64 to;
        .param .b32 what;
        st.param.b64 [to], %handle;
        st.param.b32 [what], %value;
        call.uni cudaGraphSetConditional, (to, what);
    }
    ret;
}
.visible .entry qd_enter(.param .u64 handle)
{
    .reg .b64 %handle;
    ld.param.u64 %handle, [handle];
    {
        .param .b64 to;
        .param .b32 what;
        st.param.b64 [to], %handle;
        st.param.b32 [what], 1;
        call.uni cudaGraphSetConditional, (to, what);
    }
    ret;
}
";

/// Conditions without the host.
pub(super) struct Conditions {
    pub enter: Function,
    pub ask: Function,
    pub count: Function,
    _module: Module,
}

impl Conditions {
    /// If the driver has them. The device has been entered.
    pub fn new(device: &Arc<Device>) -> Option<Self> {
        let module = Module::new(device, SETTERS.to_bytes_with_nul()).ok()?;
        Some(Self {
            enter: module.function("qd_enter").ok()?,
            ask: module.function("qd_ask").ok()?,
            count: module.function("qd_count").ok()?,
            _module: module,
        })
    }
}
