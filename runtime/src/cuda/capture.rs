//! Calls on a stream that its owner captures: their nodes are added to the owner's graph.

use super::{
    loops::{Counters, Counting},
    replay::{Maker, loops_of},
    resident::{Shared, fault},
};
use crate::objects::{
    driver::{Fault, Shape},
    reclaim,
};
use cudarc::driver::sys::{self, CUgraph, CUgraphNode, CUstream, CUstreamCaptureStatus};
use std::{ffi::c_void, ptr, slice, sync::Arc};

/// Whether calls on the stream become part of a graph, or break a capture.
pub(super) fn is_active(stream: CUstream) -> bool {
    let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    // Safety: the stream exists; it writes a status.
    match unsafe { sys::cuStreamIsCapturing(stream, &mut status) } {
        sys::CUresult::CUDA_SUCCESS => {
            status != CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE
        }
        // The legacy stream, while a stream that waits for it is being captured.
        error => error == sys::CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
    }
}

/// The graph that a stream is being captured into, and the nodes that the next call depends on.
fn graph_of(stream: CUstream) -> Result<(CUgraph, Vec<CUgraphNode>), Fault> {
    let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    let (mut graph, mut nodes, mut count) = (ptr::null_mut(), ptr::null(), 0);
    // Safety: the stream exists. The nodes are the driver's until the next call for the stream, and
    // have been copied then.
    unsafe {
        let id = ptr::null_mut();
        sys::cuStreamGetCaptureInfo_v2(stream, &mut status, id, &mut graph, &mut nodes, &mut count)
            .result()
            .map_err(fault)?;
        match status {
            CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE if count == 0 => {
                Ok((graph, Vec::new()))
            }
            CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE => {
                Ok((graph, slice::from_raw_parts(nodes, count).to_vec()))
            }
            _ => Err(Fault::Failed("the capture has been invalidated".into())),
        }
    }
}

/// See [`Driver::splice`](crate::objects::driver::Driver::splice). The device has been entered.
pub(super) fn splice(
    shared: &Arc<Shared>,
    stream: CUstream,
    shape: &Shape,
    words: &[u64],
    limit: u64,
    keep: Box<dyn Send + Sync>,
) -> Result<(), Fault> {
    let (graph, behind) = graph_of(stream)?;
    let loops = loops_of(&shape.ops);
    let counters = match limit > 0 && loops > 0 {
        true => Some(Counters::new(shared, loops)?),
        false => None,
    };
    let counting = counters.as_ref().map_or(Counting::default(), |counters| {
        shared.counting(limit, counters)
    });
    let mut maker = Maker::new(shared, shape, words, counting);
    maker.is_fixed = true;
    let added = add(&mut maker, graph, &behind, shape).and_then(|last| {
        hold(graph, Box::new((keep, counters)))?;
        let set = sys::CUstreamUpdateCaptureDependencies_flags::CU_STREAM_SET_CAPTURE_DEPENDENCIES;
        let mut last = last;
        // Safety: the nodes are the graph's.
        unsafe {
            sys::cuStreamUpdateCaptureDependencies(
                stream,
                last.as_mut_ptr(),
                last.len(),
                set as u32,
            )
        }
        .result()
        .map_err(fault)
    });
    if added.is_err() {
        // Dependents are removed before their dependencies.
        for node in maker.outermost.iter().rev() {
            // Safety: added here.
            let _ = unsafe { sys::cuGraphDestroyNode(*node) };
        }
    }
    added
}

/// Adds the ops after those nodes, and yields the last nodes.
fn add(
    maker: &mut Maker<'_>,
    graph: CUgraph,
    behind: &[CUgraphNode],
    shape: &Shape,
) -> Result<Vec<CUgraphNode>, Fault> {
    // The capture may be in the body of a foreign loop: see `Maker::repeat`.
    let made = maker.all(graph, &shape.ops, behind, true)?;
    let mut is_last = vec![true; made.len()];
    for op in &shape.ops {
        for earlier in &op.after {
            is_last[*earlier as usize] = false;
        }
    }
    let last: Vec<_> = made
        .iter()
        .zip(is_last)
        .filter_map(|(node, is_last)| is_last.then_some(*node))
        .collect();
    // What does nothing leaves the stream where it was.
    Ok(if last.is_empty() {
        behind.to_vec()
    } else {
        last
    })
}

/// Has a graph and all that is made of it hold something.
fn hold(graph: CUgraph, what: Box<dyn Send + Sync>) -> Result<(), Fault> {
    let data = Box::into_raw(Box::new(what)).cast::<c_void>();
    let mut object = ptr::null_mut();
    let no_sync = sys::CUuserObject_flags::CU_USER_OBJECT_NO_DESTRUCTOR_SYNC as u32;
    let moved = sys::CUuserObjectRetain_flags::CU_GRAPH_USER_OBJECT_MOVE as u32;
    // Safety: what is passed is what `let_go` takes back, once; the one reference becomes the
    // graph's.
    unsafe {
        let made = sys::cuUserObjectCreate(&mut object, data, Some(let_go), 1, no_sync).result();
        if let Err(error) = made {
            let_go(data);
            return Err(fault(error));
        }
        let held = sys::cuGraphRetainUserObject(graph, object, 1, moved).result();
        held.map_err(|error| {
            let _ = sys::cuUserObjectRelease(object, 1);
            fault(error)
        })
    }
}

/// Called by a thread of the driver's, which may not call the driver.
unsafe extern "C" fn let_go(data: *mut c_void) {
    // Safety: made by `hold`.
    let what = unsafe { Box::from_raw(data.cast::<Box<dyn Send + Sync>>()) };
    reclaim::drop_later(*what);
}
