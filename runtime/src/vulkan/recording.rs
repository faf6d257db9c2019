//! Recording of commands: command buffers that begin after all earlier work on their queue,
//! barriers, dispatches.

use super::device::Device;
use ash::vk::{self, AccessFlags as Access, PipelineStageFlags as Stage};

/// Workgroups that every device has in a dimension; blocks beyond are rows.
const ROW: u64 = 65_535;
/// Blocks of a launch at most.
pub(super) const MOST_BLOCKS: u64 = ROW * ROW;

/// Begins a buffer that waits for all that was done before it on its queue. It may be put
/// there again before it has been done.
pub(super) fn begin(device: &Device, raw: vk::CommandBuffer) -> Result<(), vk::Result> {
    let info =
        vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE);
    // Safety: the buffer is not in use, and its pool is this thread's.
    unsafe { device.raw.begin_command_buffer(raw, &info) }?;
    barrier(device, raw);
    Ok(())
}

/// What follows sees what was done before.
pub(super) fn barrier(device: &Device, raw: vk::CommandBuffer) {
    let access =
        Access::SHADER_READ | Access::SHADER_WRITE | Access::TRANSFER_READ | Access::TRANSFER_WRITE;
    barrier_to(device, raw, Stage::COMPUTE_SHADER | Stage::TRANSFER, access);
}

fn barrier_to(device: &Device, raw: vk::CommandBuffer, stage: Stage, access: Access) {
    let barriers = [vk::MemoryBarrier::default()
        .src_access_mask(Access::SHADER_WRITE | Access::TRANSFER_WRITE)
        .dst_access_mask(access)];
    let from = Stage::COMPUTE_SHADER | Stage::TRANSFER;
    let flags = vk::DependencyFlags::empty();
    // Safety: the buffer is being recorded.
    unsafe {
        device
            .raw
            .cmd_pipeline_barrier(raw, from, stage, flags, &barriers, &[], &[]);
    }
}

/// Ends a buffer: the host sees what was done.
pub(super) fn end(device: &Device, raw: vk::CommandBuffer) -> Result<(), vk::Result> {
    barrier_to(device, raw, Stage::HOST, Access::HOST_READ);
    // Safety: the buffer is being recorded.
    unsafe { device.raw.end_command_buffer(raw) }
}

/// A launch of so many blocks, at most [`MOST_BLOCKS`], with its words at an address.
///
/// # Safety
///
/// The pipeline was made for these words; what they point to lives until it has been done.
pub(super) unsafe fn dispatch(
    device: &Device,
    raw: vk::CommandBuffer,
    (pipeline, layout): (vk::Pipeline, vk::PipelineLayout),
    words: u64,
    blocks: u64,
) {
    let (rows, rest) = rows(blocks);
    let stage = vk::ShaderStageFlags::COMPUTE;
    let device = &device.raw;
    // Safety: by contract.
    unsafe {
        device.cmd_bind_pipeline(raw, vk::PipelineBindPoint::COMPUTE, pipeline);
        device.cmd_push_constants(raw, layout, stage, 0, &words.to_le_bytes());
        if rows > 0 {
            device.cmd_dispatch(raw, ROW as u32, rows, 1);
        }
        if rest > 0 {
            device.cmd_dispatch_base(raw, 0, rows, 0, rest, 1, 1);
        }
    }
}

/// Full rows of blocks, and the blocks of the last one.
fn rows(blocks: u64) -> (u32, u32) {
    ((blocks / ROW) as u32, (blocks % ROW) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_rows() {
        assert_eq!(rows(1), (0, 1));
        assert_eq!(rows(65_535), (1, 0));
        assert_eq!(rows(65_536), (1, 1));
        assert_eq!(rows(MOST_BLOCKS), (65_535, 0));
    }
}
