//! Which compiler this is: part of the key of all that it compiles.

use std::{
    ffi::{CStr, OsStr, c_int, c_void},
    fs,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    ptr, slice,
    sync::OnceLock,
};

/// What the libraries of the compiler are called, up to their versions.
const LIBRARIES: [&str; 2] = ["libLLVM", "libMLIR"];
/// ELF: the type of a note with the linker's hash of what it linked.
const BUILD_ID: u32 = 3;

/// What tells builds apart: the sources of the compiler, the crates that it stands on and the toolchain,
/// by a hash that `build.rs` makes; and the LLVM and MLIR that this process has loaded, by the hash
/// that their linker left in them. An edit of the sources changes it, and no tool's path or name
/// does.
pub fn identity() -> &'static str {
    static IDENTITY: OnceLock<String> = OnceLock::new();
    IDENTITY.get_or_init(|| {
        let mut parts = libraries();
        parts.sort();
        parts.insert(0, env!("QD_SOURCES").into());
        parts.join(" ")
    })
}

fn libraries() -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    // Safety: `visit` takes `data` for what it is, and returns before this does.
    unsafe { libc::dl_iterate_phdr(Some(visit), ptr::from_mut(&mut found).cast()) };
    found
}

unsafe extern "C" fn visit(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    data: *mut c_void,
) -> c_int {
    let work = || {
        // Safety: the loader's description of a library that stays loaded meanwhile, and the vector
        // that `libraries` handed over.
        let (info, found) = unsafe { (&*info, &mut *data.cast::<Vec<String>>()) };
        if let Some(library) = of_library(info) {
            found.push(library);
        }
    };
    // A panic would unwind into C. Without this library's part the key is another, which is safe.
    let _ = catch_unwind(AssertUnwindSafe(work));
    0
}

/// A library of the compiler's, by its hash; where it has none, by its file as it is now.
fn of_library(info: &libc::dl_phdr_info) -> Option<String> {
    if info.dlpi_name.is_null() {
        return None;
    }
    // Safety: the loader gives a string with an end.
    let path = unsafe { CStr::from_ptr(info.dlpi_name) };
    let path = Path::new(OsStr::from_bytes(path.to_bytes()));
    let name = path.file_name()?.to_str()?;
    if !LIBRARIES.iter().any(|library| name.starts_with(library)) {
        return None;
    }
    let id = build_id(info).or_else(|| {
        let file = fs::metadata(path).ok()?;
        let (size, at, nanoseconds) = (file.size(), file.mtime(), file.mtime_nsec());
        Some(format!("{size} {at} {nanoseconds}"))
    });
    Some(format!("{name} {}", id?))
}

fn build_id(info: &libc::dl_phdr_info) -> Option<String> {
    // Safety: as many headers as the loader says.
    let headers = unsafe { slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let notes = headers
        .iter()
        .filter(|header| header.p_type == libc::PT_NOTE);
    let all = notes.map(|header| {
        let begin = info.dlpi_addr as usize + header.p_vaddr as usize;
        // Safety: the segment is mapped as long as the library is.
        unsafe { slice::from_raw_parts(begin as *const u8, header.p_memsz as usize) }
    });
    all.into_iter().find_map(build_id_in)
}

/// Of a segment of notes: lengths of the name and of the description, type, both, each from a multiple
/// of four on.
fn build_id_in(mut notes: &[u8]) -> Option<String> {
    loop {
        let (header, rest) = notes.split_at_checked(12)?;
        let word = |i: usize| u32::from_le_bytes(header[i..i + 4].try_into().expect("four bytes"));
        let name = (word(0) as usize).next_multiple_of(4);
        let length = word(4) as usize;
        let description = rest.get(name..)?;
        if word(8) == BUILD_ID && rest.starts_with(b"GNU\0") {
            let digits = description.get(..length)?.iter();
            return Some(digits.map(|byte| format!("{byte:02x}")).collect());
        }
        notes = description.get(length.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_read_up_to_the_build_id() {
        let note = |kind: u32, name: &[u8], description: &[u8]| {
            let mut bytes = (name.len() as u32).to_le_bytes().to_vec();
            bytes.extend((description.len() as u32).to_le_bytes());
            bytes.extend(kind.to_le_bytes());
            for part in [name, description] {
                bytes.extend(part);
                bytes.resize(bytes.len().next_multiple_of(4), 0);
            }
            bytes
        };
        let id = note(BUILD_ID, b"GNU\0", &[1, 0xab, 3]);
        let other = note(5, b"GNU\0", &[7; 9]);
        let notes = [&other[..], &id].concat();
        assert_eq!(build_id_in(&notes).as_deref(), Some("01ab03"));
        assert_eq!(build_id_in(&other), None);
        for length in 0..other.len() + 12 + 4 + 3 {
            assert_eq!(build_id_in(&notes[..length]), None);
        }
    }

    #[test]
    fn the_libraries_that_are_loaded_are_in_it() {
        let identity = identity();
        for library in LIBRARIES {
            assert!(identity.contains(library), "{identity}");
        }
    }
}
