//! The driver's compiled pipelines, cached between processes: a file per module,
//! so that processes do not overwrite each other's.
//!
//! A folder belongs to one device, with everything that may change its driver's
//! code in the name. The driver's own key is not enough: lavapipe's ignores the
//! width of its subgroups. A file that is damaged or cannot be written only
//! costs time, so it is a warning.

use super::{device::Device, words::reason};
use ash::vk;
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Another place than the user's folder for such files; empty: nowhere.
const VARIABLE: &str = "QD_CACHE_DIR";
/// Files of a device's folder, at most; beyond it, the oldest go.
const MOST: usize = 1024;
/// Bytes of a cache in which there is nothing: Vulkan's header.
const EMPTY: usize = 32;

/// Where caches are, if anywhere.
pub(super) fn directory() -> Option<PathBuf> {
    match std::env::var_os(VARIABLE) {
        Some(path) if path.is_empty() => None,
        Some(path) => Some(path.into()),
        None => Some(dirs::cache_dir()?.join("qd")),
    }
}

/// The driver's cache of one module.
pub(super) struct Cache {
    pub raw: vk::PipelineCache,
    pub path: Option<PathBuf>,
    /// What the file held.
    pub found: Vec<u8>,
}

impl Cache {
    /// With what an earlier process has left in `directory`.
    pub fn open(
        device: &Device,
        directory: Option<&Path>,
        module: &[u8],
    ) -> Result<Self, vk::Result> {
        let path = directory.map(|directory| path(directory, device, module));
        let found = path.as_deref().map_or_else(Vec::new, |path| {
            read(path).unwrap_or_else(|error| {
                if error.kind() != io::ErrorKind::NotFound {
                    tracing::warn!(path = %path.display(), "not used: {error}");
                }
                Vec::new()
            })
        });
        let info = vk::PipelineCacheCreateInfo::default().initial_data(&found);
        // Safety: the data is what this driver gave, as its checksum says.
        let raw = unsafe { device.raw.create_pipeline_cache(&info, None) }?;
        Ok(Self { raw, path, found })
    }

    /// Leaves what there is now for later processes.
    pub fn save(&self, device: &Device) {
        let Some(path) = &self.path else {
            return;
        };
        // Safety: the cache exists.
        let outcome = match unsafe { device.raw.get_pipeline_cache_data(self.raw) } {
            Ok(data) if data.len() <= EMPTY || data == self.found => return,
            Ok(data) => write(path, &data).map_err(|e| e.to_string()),
            Err(error) => Err(reason(error)),
        };
        if let Err(error) = outcome {
            tracing::warn!(path = %path.display(), "not written: {error}");
        }
    }
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn path(directory: &Path, device: &Device, module: &[u8]) -> PathBuf {
    let base = &device.properties.base;
    let uuid: String = base
        .pipeline_cache_uuid
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let folder = format!(
        "{:x}-{:x}-{:x}-{uuid}-{}",
        base.vendor_id, base.device_id, base.driver_version, device.subgroups.usual,
    );
    directory
        .join("vulkan")
        .join(folder)
        .join(format!("{:016x}", hash(module)))
}

/// A file is a checksum and what it is of.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let bytes = fs::read(path)?;
    let checked = bytes
        .split_first_chunk::<8>()
        .filter(|(checksum, data)| u64::from_le_bytes(**checksum) == hash(data));
    match checked {
        Some((_, data)) => Ok(data.into()),
        None => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the file is damaged",
        )),
    }
}

/// All of it or nothing.
pub(super) fn write(path: &Path, data: &[u8]) -> io::Result<()> {
    let Some(folder) = path.parent() else {
        return Ok(());
    };
    fs::create_dir_all(folder)?;
    make_room(folder)?;
    let file = tempfile::NamedTempFile::new_in(folder)?;
    fs::write(file.path(), [&hash(data).to_le_bytes(), data].concat())?;
    file.persist(path)?;
    Ok(())
}

/// Removes the oldest files of a folder that is full.
fn make_room(folder: &Path) -> io::Result<()> {
    let mut files: Vec<(SystemTime, PathBuf)> = fs::read_dir(folder)?
        .filter_map(|entry| {
            let entry = entry.ok()?;
            Some((entry.metadata().ok()?.modified().ok()?, entry.path()))
        })
        .collect();
    if files.len() < MOST {
        return Ok(());
    }
    files.sort();
    for (_, path) in files.drain(..MOST / 4) {
        // Another process may have done it.
        let _ = fs::remove_file(path);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_as_they_were_written_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("device").join("module");
        assert_eq!(
            read(&path).expect_err("no file").kind(),
            io::ErrorKind::NotFound
        );
        write(&path, b"compiled").expect("written");
        assert_eq!(read(&path).expect("read"), b"compiled");
        for damaged in [&b"short"[..], b"", b"long enough, but something else"] {
            fs::write(&path, damaged).expect("written");
            assert_eq!(
                read(&path).expect_err("damaged").kind(),
                io::ErrorKind::InvalidData
            );
        }
    }

    #[test]
    fn a_full_folder_loses_its_oldest_files() {
        let folder = tempfile::tempdir().expect("a folder");
        for i in 0..MOST {
            fs::write(folder.path().join(i.to_string()), "").expect("written");
        }
        write(&folder.path().join("new"), b"compiled").expect("written");
        let left = fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(left, MOST - MOST / 4 + 1);
        assert!(folder.path().join("new").exists());
    }
}
