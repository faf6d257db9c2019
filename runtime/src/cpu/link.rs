//! Object files as callable functions: a linker in memory, for what the compiler makes of bodies.
//!
//! A body's object is code, constants, and calls of functions of this process: `memcpy`, those of the
//! library of mathematics. LLVM's own linker would do, too, but to load it takes longer than most kernels
//! that have been compiled before take to run.

use super::relocate::{Places, Processor, relocate};
use crate::Error;
use memmap2::MmapMut;
use object::{
    LittleEndian, Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget,
    SectionFlags, SectionIndex, SymbolIndex, SymbolSection, elf,
    elf::{FileHeader64, RelocationType},
    read::elf::ElfFile,
};
use std::{
    collections::HashMap,
    ffi::{CStr, CString},
};

/// A body: runs the blocks from the first number up to the second (exclusive) of a
/// grid whose size is the third. The fourth is the kernel arguments.
///
/// For each operand in order, a buffer is its address and, unless it is of rank 0,
/// its leading extent; a view is its address and its length; a scalar is its bits,
/// zero-extended.
pub(super) type Body = unsafe extern "C" fn(u64, u64, u64, *const u64);

/// Code in this process. Freed when dropped.
pub(super) struct Linked {
    _memory: MmapMut,
    symbols: HashMap<String, u64>,
}

impl Linked {
    /// A body by its symbol.
    pub fn body(&self, name: &str) -> Result<Body, Error> {
        let address = self.symbols.get(name);
        let missing = || Error::Load(format!("it has no symbol '{}'", name.escape_debug()));
        let address = *address.ok_or_else(missing)? as *const ();
        // Safety: the compiler gives a body's symbol to nothing else.
        Ok(unsafe { std::mem::transmute::<*const (), Body>(address) })
    }
}

type Elf<'a> = ElfFile<'a, FileHeader64<LittleEndian>>;

/// Bytes of a slot: a jump, and the address.
const SLOT: usize = 16;

/// Loads a relocatable object. Its undefined symbols are those of this process.
pub(super) fn link(object: &[u8]) -> Result<Linked, Error> {
    let here = Processor::here();
    let here = here.ok_or_else(|| load("this machine's architecture is not known"))?;
    check_object(object, here)?;
    let elf = Elf::parse(object).map_err(load)?;
    let relocations = relocations(&elf)?;
    let mut layout = Layout::of(&elf, here, &relocations)?;
    let mut memory = MmapMut::map_anon(layout.length).map_err(load)?;
    for (index, at) in &layout.sections {
        let section = elf.section_by_index(*index).map_err(load)?;
        // What holds nothing is zeros.
        let data = section.data().map_err(load)?;
        memory[*at..][..data.len()].copy_from_slice(data);
    }
    layout.base = memory.as_ptr() as u64;
    for (symbol, slot) in &layout.slots {
        let address = layout.address(&elf, *symbol)?;
        let bytes = &mut memory[*slot..][..SLOT];
        bytes[..8].copy_from_slice(&here.jump());
        bytes[8..].copy_from_slice(&address.to_le_bytes());
    }
    for relocation in &relocations {
        let Relocation { section, at, .. } = *relocation;
        let Some(begin) = layout.sections.get(&section) else {
            continue;
        };
        let symbol = match relocation.symbol {
            Some(symbol) => layout.address(&elf, symbol)?,
            None => 0,
        };
        let is_foreign = relocation.is_foreign(&elf)?;
        let slot = relocation
            .symbol
            .and_then(|symbol| layout.slots.get(&symbol));
        let slot = slot.filter(|_| here.needs_slot(relocation.kind, is_foreign));
        let places = Places {
            at: layout.base + (begin + at) as u64,
            symbol,
            addend: relocation.addend,
            slot: slot.map(|slot| layout.base + (slot + 8) as u64),
        };
        let size = elf.section_by_index(section).map_err(load)?.size() as usize;
        let bytes = memory[*begin..][..size].get_mut(at..).unwrap_or_default();
        relocate(here, relocation.kind, places, bytes).map_err(load)?;
    }
    layout.protect(&mut memory)?;
    let mut symbols = HashMap::new();
    for symbol in elf.symbols() {
        let is_loaded = |at| layout.sections.contains_key(&at);
        if symbol.is_global() && symbol.section_index().is_some_and(is_loaded) {
            let name = symbol.name().map_err(load)?.to_owned();
            symbols.insert(name, layout.address(&elf, symbol.index())?);
        }
    }
    Ok(Linked {
        _memory: memory,
        symbols,
    })
}

fn load(why: impl ToString) -> Error {
    Error::Load(why.to_string())
}

/// Before it is read as one.
fn check_object(object: &[u8], here: Processor) -> Result<(), Error> {
    // The magic number, 64 bits, little-endian; the type and the machine.
    let is_elf = object.starts_with(b"\x7fELF\x02\x01") && object.get(16..18) == Some(&[1, 0]);
    if !is_elf {
        return Err(load("it is not a relocatable object file"));
    }
    if object.get(18..20) != Some(&here.number().to_le_bytes()) {
        return Err(load("it is for another processor than this machine's"));
    }
    Ok(())
}

struct Relocation {
    /// Where it is written.
    section: SectionIndex,
    at: usize,
    kind: RelocationType,
    /// None for an absolute address.
    symbol: Option<SymbolIndex>,
    addend: i64,
}

impl Relocation {
    /// Whether its symbol is not of the object.
    fn is_foreign(&self, elf: &Elf<'_>) -> Result<bool, Error> {
        self.symbol.map_or(Ok(false), |symbol| {
            Ok(elf.symbol_by_index(symbol).map_err(load)?.is_undefined())
        })
    }
}

fn relocations(elf: &Elf<'_>) -> Result<Vec<Relocation>, Error> {
    let mut all = Vec::new();
    for section in elf.sections().filter(is_loaded) {
        for (at, relocation) in section.relocations() {
            let RelocationFlags::Elf { r_type: kind } = relocation.flags() else {
                return Err(load("a relocation is not ELF's"));
            };
            let symbol = match relocation.target() {
                RelocationTarget::Symbol(symbol) => Some(symbol),
                RelocationTarget::Absolute => None,
                other => return Err(load(format!("a relocation is to {other:?}"))),
            };
            if relocation.has_implicit_addend() {
                return Err(load("a relocation has no addend"));
            }
            all.push(Relocation {
                section: section.index(),
                at: usize::try_from(at).map_err(load)?,
                kind,
                symbol,
                addend: relocation.addend(),
            });
        }
    }
    Ok(all)
}

fn flags<'a>(section: &impl ObjectSection<'a>) -> elf::SectionFlags {
    match section.flags() {
        SectionFlags::Elf { sh_flags, .. } => sh_flags,
        _ => elf::SectionFlags(0),
    }
}

/// Whether a section is in memory at all.
fn is_loaded<'a>(section: &impl ObjectSection<'a>) -> bool {
    flags(section).0 & elf::SHF_ALLOC.0 != 0 && section.size() > 0
}

/// Where all is.
struct Layout {
    /// The address of the memory.
    base: u64,
    /// Where each section begins in it.
    sections: HashMap<SectionIndex, usize>,
    /// Where the slot of a symbol is, behind the code.
    slots: HashMap<SymbolIndex, usize>,
    /// Where code ends, and constants; data follow.
    ends: [usize; 2],
    length: usize,
}

impl Layout {
    fn of(elf: &Elf<'_>, here: Processor, relocations: &[Relocation]) -> Result<Self, Error> {
        let page = page();
        let (mut at, mut sections, mut slots) = (0_usize, HashMap::new(), HashMap::new());
        let mut ends = [0; 2];
        let too_long = || load("it is too long");
        for group in 0..3 {
            let of_group = |section: &_| group_of(section) == group;
            for section in elf.sections().filter(is_loaded).filter(of_group) {
                let (align, size) = (section.align().max(1) as usize, section.size() as usize);
                if align > page {
                    return Err(load(format!("a section is aligned to {align} bytes")));
                }
                at = at.checked_next_multiple_of(align).ok_or_else(too_long)?;
                sections.insert(section.index(), at);
                at = at.checked_add(size).ok_or_else(too_long)?;
            }
            if group == 0 {
                at = at.next_multiple_of(SLOT);
                for relocation in relocations {
                    let is_foreign = relocation.is_foreign(elf)?;
                    if let Some(symbol) = relocation.symbol
                        && here.needs_slot(relocation.kind, is_foreign)
                        && !slots.contains_key(&symbol)
                    {
                        slots.insert(symbol, at);
                        at += SLOT;
                    }
                }
            }
            at = at.checked_next_multiple_of(page).ok_or_else(too_long)?;
            if let Some(end) = ends.get_mut(group) {
                *end = at;
            }
        }
        Ok(Self {
            base: 0,
            sections,
            slots,
            ends,
            length: at.max(page),
        })
    }

    /// A symbol's address.
    fn address(&self, elf: &Elf<'_>, symbol: SymbolIndex) -> Result<u64, Error> {
        let symbol = elf.symbol_by_index(symbol).map_err(load)?;
        match symbol.section() {
            SymbolSection::Section(section) => {
                let begin = self.sections.get(&section);
                let begin = begin.ok_or_else(|| load("a symbol's section is not loaded"))?;
                Ok((self.base + *begin as u64).wrapping_add(symbol.address()))
            }
            SymbolSection::Absolute => Ok(symbol.address()),
            SymbolSection::Undefined => {
                let name = symbol.name().map_err(load)?;
                match foreign(name) {
                    None if symbol.is_weak() => Ok(0),
                    None => Err(load(format!("nothing here is called '{name}'"))),
                    Some(address) => Ok(address),
                }
            }
            other => Err(load(format!("a symbol is in {other:?}"))),
        }
    }

    /// Makes code executable, and constants constant.
    fn protect(&self, memory: &mut MmapMut) -> Result<(), Error> {
        let [code, constants] = self.ends;
        let parts = [
            (0..code, libc::PROT_READ | libc::PROT_EXEC),
            (code..constants, libc::PROT_READ),
        ];
        for (range, protection) in parts {
            let part = &mut memory[range];
            // Safety: whole pages of ours, to which nothing refers.
            let failed = !part.is_empty()
                && unsafe { libc::mprotect(part.as_mut_ptr().cast(), part.len(), protection) } != 0;
            if failed {
                return Err(load(std::io::Error::last_os_error()));
            }
        }
        // What was written as data is to be seen as code.
        #[cfg(target_arch = "aarch64")]
        {
            unsafe extern "C" {
                fn __clear_cache(begin: *const u8, end: *const u8);
            }
            let code = memory[..code].as_ptr_range();
            // Safety: a range of memory of ours.
            unsafe { __clear_cache(code.start, code.end) };
        }
        Ok(())
    }
}

/// 0 for code, 1 for constants, 2 for data.
fn group_of<'a>(section: &impl ObjectSection<'a>) -> usize {
    let flags = flags(section).0;
    match (
        flags & elf::SHF_EXECINSTR.0 != 0,
        flags & elf::SHF_WRITE.0 != 0,
    ) {
        (true, _) => 0,
        (false, false) => 1,
        (false, true) => 2,
    }
}

fn page() -> usize {
    // Safety: it only asks.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(1 << 16)
}

/// Libraries that bodies call besides the process: of mathematics, and of what compilers call for types
/// that a processor lacks.
const LIBRARIES: [&CStr; 2] = [c"libm.so.6", c"libgcc_s.so.1"];

/// A function of this process.
fn foreign(name: &str) -> Option<u64> {
    let name = CString::new(name).ok()?;
    let in_process = std::iter::once(libc::RTLD_DEFAULT);
    let in_libraries = LIBRARIES.iter().map(|library| {
        // Safety: a library of the system's, without code of its own at its start. It stays open.
        unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_LAZY) }
    });
    let mut found = in_process
        .chain(in_libraries)
        .enumerate()
        .filter_map(|(i, library)| {
            // A library that is not there has no handle, which would mean the process.
            if i > 0 && library.is_null() {
                return None;
            }
            // Safety: a handle, and a name with an end.
            let address = unsafe { libc::dlsym(library, name.as_ptr()) };
            (!address.is_null()).then_some(address as u64)
        });
    found.next()
}
