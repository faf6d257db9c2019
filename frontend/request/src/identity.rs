//! Which compiler this is: part of the key of all that it compiles.

use std::{
    ffi::{CStr, OsStr, c_int, c_void},
    fs::{self, File},
    os::unix::{
        ffi::OsStrExt,
        fs::{FileExt, MetadataExt},
    },
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    ptr, slice,
    sync::OnceLock,
};

/// What the libraries of the compiler are called, up to their versions.
const LIBRARIES: [&str; 2] = ["libLLVM", "libMLIR"];
/// Their files, to which the compiler is linked.
const PATHS: [&str; 2] = [env!("QD_LIB_LLVM"), env!("QD_LIB_MLIR")];
/// ELF: the type of a note with the linker's hash of what it linked.
const BUILD_ID: u32 = 3;

/// What tells builds apart: the sources of the compiler, the crates that it stands on and the toolchain,
/// by a hash that `build.rs` makes; and LLVM and MLIR, by the hash that their linker left in them. An edit
/// of the sources changes it, and no tool's path or name does.
///
/// A process that has loaded these libraries says which it has. Another says which the compiler is linked
/// to, by their files: were it to load others, it would find nothing that it has compiled, and nothing wrong.
pub fn identity() -> &'static str {
    static IDENTITY: OnceLock<String> = OnceLock::new();
    IDENTITY.get_or_init(|| {
        let mut parts = loaded();
        for (name, path) in LIBRARIES.into_iter().zip(PATHS) {
            if !parts.iter().any(|part| part.starts_with(name)) {
                parts.extend(of_file(name, Path::new(path)));
            }
        }
        parts.sort();
        parts.insert(0, sources().into());
        parts.join(" ")
    })
}

/// The hash of the compiler's sources, which is in every program that has them.
pub fn sources() -> &'static str {
    env!("QD_SOURCES")
}

fn loaded() -> Vec<String> {
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
    let library = LIBRARIES
        .iter()
        .find(|library| name.starts_with(**library))?;
    let id = build_id(info).or_else(|| as_it_is_now(path));
    Some(format!("{library} {}", id?))
}

/// As [`of_library`], of a library that is not loaded.
fn of_file(library: &str, path: &Path) -> Option<String> {
    let file = File::open(path).ok()?;
    let id = build_id_of(&file).or_else(|| as_it_is_now(path));
    Some(format!("{library} {}", id?))
}

/// Of a library without a hash.
fn as_it_is_now(path: &Path) -> Option<String> {
    let file = fs::metadata(path).ok()?;
    let (size, at, nanoseconds) = (file.size(), file.mtime(), file.mtime_nsec());
    Some(format!("{size} {at} {nanoseconds}"))
}

/// The build id in a file of ELF, of 64 bits and little-endian: where its segments are described, and how
/// many there are; of each its kind, where it is and how long.
fn build_id_of(file: &File) -> Option<String> {
    const DESCRIPTION: usize = 56;
    let read = |at: u64, length: usize| {
        let mut bytes = vec![0; length];
        file.read_exact_at(&mut bytes, at).ok()?;
        Some(bytes)
    };
    let number = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    let header = read(0, 64)?;
    let is_known =
        header.starts_with(b"\x7fELF\x02\x01") && number(&header[54..56]) == DESCRIPTION as u64;
    if !is_known {
        return None;
    }
    let count = number(&header[56..58]) as usize;
    let all = read(number(&header[32..40]), count * DESCRIPTION)?;
    let notes = all
        .chunks(DESCRIPTION)
        .filter(|segment| number(&segment[..4]) == u64::from(libc::PT_NOTE));
    notes.into_iter().find_map(|segment| {
        let length = usize::try_from(number(&segment[32..40])).ok()?;
        // Notes are short: what says otherwise is damaged.
        let bytes = (length < 1 << 16).then(|| read(number(&segment[8..16]), length))?;
        build_id_in(&bytes?)
    })
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
    fn libraries_that_are_not_loaded_are_in_it() {
        // This crate links neither.
        assert_eq!(loaded(), [""; 0]);
        let identity = identity();
        for library in LIBRARIES {
            assert!(identity.contains(library), "{identity}");
        }
    }

    #[test]
    fn a_file_says_the_same_as_the_library_once_it_is_loaded() {
        unsafe extern "C" fn first(
            info: *mut libc::dl_phdr_info,
            _: libc::size_t,
            data: *mut c_void,
        ) -> c_int {
            // Safety: as in `visit`.
            let (info, found) = unsafe { (&*info, &mut *data.cast::<Vec<(String, String)>>()) };
            // Safety: as there.
            let path = unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy();
            if let Some(id) = build_id(info).filter(|_| path.contains("libc.so")) {
                found.push((path.into_owned(), id));
            }
            0
        }
        let mut found: Vec<(String, String)> = Vec::new();
        // Safety: as in `loaded`.
        unsafe { libc::dl_iterate_phdr(Some(first), ptr::from_mut(&mut found).cast()) };
        let (path, id) = found.pop().expect("it is loaded, and has one");
        let file = File::open(path).expect("it is there");
        assert_eq!(build_id_of(&file), Some(id));
        let text = File::open("src/identity.rs");
        assert_eq!(build_id_of(&text.expect("it is there")), None);
    }
}
