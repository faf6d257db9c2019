//! Relocations of ELF objects: how an address is written into code. Those that LLVM makes of bodies are
//! known; any other is an error.

use object::elf::{self, RelocationType};

/// A processor whose code can be linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Processor {
    X86_64,
    Aarch64,
}

impl Processor {
    /// This machine's, if it is one of them.
    pub fn here() -> Option<Self> {
        match std::env::consts::ARCH {
            "x86_64" => Some(Self::X86_64),
            "aarch64" => Some(Self::Aarch64),
            _ => None,
        }
    }

    /// The number that ELF has for it.
    pub fn number(self) -> u16 {
        match self {
            Self::X86_64 => elf::EM_X86_64.0,
            Self::Aarch64 => elf::EM_AARCH64.0,
        }
    }

    /// Code that jumps to the address that the eight bytes behind it hold.
    pub fn jump(self) -> [u8; 8] {
        match self {
            // jmp *2(%rip); the other two bytes are not reached.
            Self::X86_64 => [0xff, 0x25, 2, 0, 0, 0, 0xcc, 0xcc],
            // ldr x16, 8; br x16.
            Self::Aarch64 => [0x50, 0, 0, 0x58, 0, 2, 0x1f, 0xd6],
        }
    }

    /// Whether a relocation needs a slot: it loads the symbol's address from one, or it is a call of what
    /// is not in the object and may be too far away.
    pub fn needs_slot(self, kind: RelocationType, is_foreign: bool) -> bool {
        match (self, kind) {
            (
                Self::X86_64,
                elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX,
            )
            | (Self::Aarch64, elf::R_AARCH64_ADR_GOT_PAGE | elf::R_AARCH64_LD64_GOT_LO12_NC) => {
                true
            }
            (Self::X86_64, elf::R_X86_64_PLT32)
            | (Self::Aarch64, elf::R_AARCH64_CALL26 | elf::R_AARCH64_JUMP26) => is_foreign,
            _ => false,
        }
    }
}

/// Addresses that take part in a relocation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    /// Where it is written.
    pub at: u64,
    /// The symbol's.
    pub symbol: u64,
    /// What is added to it.
    pub addend: i64,
    /// Eight bytes that hold the symbol's address, with a [jump](Processor::jump) there before them, if the
    /// relocation [needs](Processor::needs_slot) that.
    pub slot: Option<u64>,
}

/// Writes a relocation to the bytes from its place on.
///
/// # Errors
///
/// It is not known, or what is written does not fit.
pub(super) fn relocate(
    processor: Processor,
    kind: RelocationType,
    places: Places,
    bytes: &mut [u8],
) -> Result<(), String> {
    let Places { at, symbol, .. } = places;
    let plus = |address: u64| address.wrapping_add_signed(places.addend);
    let to = plus(symbol);
    // A call goes by way of the slot if there is one.
    let called = plus(places.slot.map_or(symbol, |slot| slot - 8));
    let held = plus(places.slot.unwrap_or_default());
    let from = |address: u64| address.wrapping_sub(at) as i64;
    let far = || format!("a symbol is too far away for relocation {}", kind.0);
    let short = || format!("relocation {} is beyond its section", kind.0);
    let mut put = |value: &[u8]| -> Result<(), String> {
        let place = bytes.get_mut(..value.len()).ok_or_else(short)?;
        place.copy_from_slice(value);
        Ok(())
    };
    match processor {
        Processor::X86_64 => {
            let signed = |value: i64| i32::try_from(value).map_err(|_| far());
            match kind {
                elf::R_X86_64_NONE => Ok(()),
                elf::R_X86_64_64 => put(&to.to_le_bytes()),
                elf::R_X86_64_PC64 => put(&from(to).to_le_bytes()),
                elf::R_X86_64_PC32 => put(&signed(from(to))?.to_le_bytes()),
                elf::R_X86_64_PLT32 => put(&signed(from(called))?.to_le_bytes()),
                elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX => {
                    put(&signed(from(held))?.to_le_bytes())
                }
                elf::R_X86_64_32 => put(&u32::try_from(to).map_err(|_| far())?.to_le_bytes()),
                elf::R_X86_64_32S => put(&signed(to as i64)?.to_le_bytes()),
                _ => Err(unknown(kind)),
            }
        }
        Processor::Aarch64 => {
            match kind {
                elf::R_AARCH64_NONE => return Ok(()),
                elf::R_AARCH64_ABS64 => return put(&to.to_le_bytes()),
                elf::R_AARCH64_PREL64 => return put(&from(to).to_le_bytes()),
                elf::R_AARCH64_PREL32 => {
                    let value = i32::try_from(from(to)).map_err(|_| far())?;
                    return put(&value.to_le_bytes());
                }
                _ => {}
            }
            let field = field(kind, to, called, held, at).ok_or_else(|| unknown(kind))?;
            let limit = 1_i64 << (field.bits - 1);
            if field.is_signed && !(-limit..limit).contains(&field.value) {
                return Err(far());
            }
            let word = bytes.first_chunk_mut::<4>().ok_or_else(short)?;
            *word = field.written(u32::from_le_bytes(*word)).to_le_bytes();
            Ok(())
        }
    }
}

fn unknown(kind: RelocationType) -> String {
    format!("relocation {} is not known", kind.0)
}

/// A field of an instruction of AArch64.
struct Field {
    value: i64,
    bits: u32,
    /// The lowest of its bits.
    low: u32,
    /// Whether it is a distance, which may be too long. Others hold the low bits of an address.
    is_signed: bool,
}

impl Field {
    fn written(&self, instruction: u32) -> u32 {
        let mask = (1_u32 << self.bits) - 1;
        let value = self.value as u32 & mask;
        // The address of a page has its two lowest bits elsewhere.
        if self.bits == 21 {
            let cleared = instruction & !(0b11 << 29 | 0x7_ffff << 5);
            return cleared | (value & 0b11) << 29 | (value >> 2) << 5;
        }
        instruction & !(mask << self.low) | value << self.low
    }
}

fn field(kind: RelocationType, to: u64, called: u64, held: u64, at: u64) -> Option<Field> {
    let page = |address: u64| (address & !0xfff).wrapping_sub(at & !0xfff) as i64 >> 12;
    let distance = |address: u64| address.wrapping_sub(at) as i64 >> 2;
    let signed = |value, bits, low| Field {
        value,
        bits,
        low,
        is_signed: true,
    };
    let within_page = |address: u64, scale: u32| Field {
        value: ((address & 0xfff) >> scale) as i64,
        bits: 12,
        low: 10,
        is_signed: false,
    };
    Some(match kind {
        elf::R_AARCH64_CALL26 | elf::R_AARCH64_JUMP26 => signed(distance(called), 26, 0),
        elf::R_AARCH64_CONDBR19 | elf::R_AARCH64_LD_PREL_LO19 => signed(distance(to), 19, 5),
        elf::R_AARCH64_TSTBR14 => signed(distance(to), 14, 5),
        elf::R_AARCH64_ADR_PREL_PG_HI21 => signed(page(to), 21, 5),
        elf::R_AARCH64_ADR_GOT_PAGE => signed(page(held), 21, 5),
        elf::R_AARCH64_ADD_ABS_LO12_NC | elf::R_AARCH64_LDST8_ABS_LO12_NC => within_page(to, 0),
        elf::R_AARCH64_LDST16_ABS_LO12_NC => within_page(to, 1),
        elf::R_AARCH64_LDST32_ABS_LO12_NC => within_page(to, 2),
        elf::R_AARCH64_LDST64_ABS_LO12_NC => within_page(to, 3),
        elf::R_AARCH64_LDST128_ABS_LO12_NC => within_page(to, 4),
        elf::R_AARCH64_LD64_GOT_LO12_NC => within_page(held, 3),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(
        processor: Processor,
        kind: RelocationType,
        places: Places,
        word: u32,
    ) -> Result<u32, String> {
        let mut bytes = word.to_le_bytes();
        relocate(processor, kind, places, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    const NEAR: Places = Places {
        at: 0x10_0000,
        symbol: 0x10_3458,
        addend: 0,
        slot: None,
    };

    #[test]
    fn distances_and_addresses_are_written_on_x86_64() {
        let x86 = |kind, places| written(Processor::X86_64, kind, places, 0xffff_ffff);
        let less = Places { addend: -4, ..NEAR };
        assert_eq!(x86(elf::R_X86_64_PC32, less), Ok(0x3454));
        assert_eq!(x86(elf::R_X86_64_PLT32, less), Ok(0x3454));
        assert_eq!(x86(elf::R_X86_64_32, less), Ok(0x10_3454));
        let slot = Some(0x10_0808);
        let by_slot = Places { slot, ..less };
        assert_eq!(x86(elf::R_X86_64_PLT32, by_slot), Ok(0x7fc));
        assert_eq!(x86(elf::R_X86_64_GOTPCREL, by_slot), Ok(0x804));
        let symbol = 1 << 40;
        let far = Places { symbol, ..NEAR };
        assert!(x86(elf::R_X86_64_PC32, far).is_err_and(|why| why.contains("too far")));
        assert!(x86(elf::R_X86_64_TPOFF64, NEAR).is_err_and(|why| why.contains("not known")));
        // Eight bytes do not fit into four.
        assert!(x86(elf::R_X86_64_64, NEAR).is_err_and(|why| why.contains("beyond")));
    }

    /// Instructions as `llvm-mc` encodes them.
    #[test]
    fn fields_are_written_on_aarch64() {
        let arm = |kind, places, word| written(Processor::Aarch64, kind, places, word);
        // bl 0x3458
        assert_eq!(
            arm(elf::R_AARCH64_CALL26, NEAR, 0x9400_0000),
            Ok(0x9400_0d16)
        );
        // adrp x1, 0x3000
        let page = elf::R_AARCH64_ADR_PREL_PG_HI21;
        assert_eq!(arm(page, NEAR, 0x9000_0001), Ok(0xf000_0001));
        // add x1, x1, 0x458
        let low = elf::R_AARCH64_ADD_ABS_LO12_NC;
        assert_eq!(arm(low, NEAR, 0x9100_0021), Ok(0x9111_6021));
        // ldr x1, [x1, 0x458]
        let low = elf::R_AARCH64_LDST64_ABS_LO12_NC;
        assert_eq!(arm(low, NEAR, 0xf940_0021), Ok(0xf942_2c21));
        // b.eq 0x3458
        let branch = elf::R_AARCH64_CONDBR19;
        assert_eq!(arm(branch, NEAR, 0x5400_0000), Ok(0x5401_a2c0));
        let slot = Some(0x10_0808);
        // bl 0x800
        let by_slot = Places { slot, ..NEAR };
        assert_eq!(
            arm(elf::R_AARCH64_CALL26, by_slot, 0x9400_0000),
            Ok(0x9400_0200)
        );
        // ldr x1, [x1, 0x808]
        let low = elf::R_AARCH64_LD64_GOT_LO12_NC;
        assert_eq!(arm(low, by_slot, 0xf940_0021), Ok(0xf944_0421));
        let symbol = 1 << 40;
        let far = Places { symbol, ..NEAR };
        assert!(arm(elf::R_AARCH64_CALL26, far, 0).is_err_and(|why| why.contains("too far")));
        assert!(arm(page, far, 0).is_err_and(|why| why.contains("too far")));
    }
}
