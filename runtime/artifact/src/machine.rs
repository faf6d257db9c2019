//! The processor that this runs on, as far as it can be told without LLVM.

use std::sync::OnceLock;

/// A hash of what LLVM looks at where it tells this machine's name and features: an LLVM says the same
/// of machines with the same one.
pub fn fingerprint() -> &'static str {
    static KNOWN: OnceLock<String> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let mut hasher = blake3::Hasher::new();
        for word in words() {
            hasher.update(&word.to_le_bytes());
        }
        hasher.finalize().to_hex().to_string()
    })
}

/// Answers of CPUID: the maker and the most leaves, the model, the features, and which registers the
/// system saves. What differs between cores and processes is left out.
#[cfg(target_arch = "x86_64")]
fn words() -> Vec<u32> {
    use std::arch::x86_64::{__cpuid_count, _xgetbv};

    /// Leaf, subleaf, and the bits of the four registers that count.
    const LEAVES: [(u32, u32, [u32; 4]); 13] = [
        (0x0, 0, [u32::MAX; 4]),
        // Not the stepping; the number of this core is in the second.
        (0x1, 0, [!0xf, 0, u32::MAX, u32::MAX]),
        (0x7, 0, [u32::MAX; 4]),
        (0x7, 1, [u32::MAX; 4]),
        (0x7, 2, [u32::MAX; 4]),
        (0xd, 1, [u32::MAX, 0, 0, 0]),
        (0x14, 0, [u32::MAX; 4]),
        (0x19, 0, [u32::MAX; 4]),
        (0x1e, 1, [u32::MAX; 4]),
        (0x24, 0, [u32::MAX; 4]),
        (0x8000_0000, 0, [u32::MAX; 4]),
        (0x8000_0001, 0, [0, 0, u32::MAX, u32::MAX]),
        (0x8000_0008, 0, [0, u32::MAX, 0, 0]),
    ];
    const HAS_XGETBV: u32 = 1 << 27;

    let of = |leaf: u32, subleaf: u32| {
        // A leaf beyond the last is another's answer.
        let last = __cpuid_count(leaf & 0x8000_0000, 0).eax;
        let found = (leaf <= last).then(|| __cpuid_count(leaf, subleaf));
        found.map_or([0; 4], |all| [all.eax, all.ebx, all.ecx, all.edx])
    };
    let mut words = Vec::new();
    for (leaf, subleaf, masks) in LEAVES {
        let all = of(leaf, subleaf).into_iter().zip(masks);
        words.extend(all.map(|(word, mask)| word & mask));
    }
    if of(1, 0)[2] & HAS_XGETBV != 0 {
        // Safety: the processor has it.
        let saved = unsafe { saved_registers() };
        words.extend([saved as u32, (saved >> 32) as u32]);
    }
    return words;

    /// # Safety
    ///
    /// The processor and the system must have `xgetbv`.
    #[target_feature(enable = "xsave")]
    unsafe fn saved_registers() -> u64 {
        // Safety: by contract.
        unsafe { _xgetbv(0) }
    }
}

/// What Linux says of the processors, without what differs between them and between boots.
#[cfg(not(target_arch = "x86_64"))]
fn words() -> Vec<u32> {
    const VARIES: [&str; 3] = ["processor", "BogoMIPS", "cpu MHz"];
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let counts = |line: &&str| !VARIES.iter().any(|name| line.starts_with(name));
    let lines: std::collections::BTreeSet<&str> = text.lines().filter(counts).collect();
    lines
        .into_iter()
        .flat_map(str::bytes)
        .map(u32::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_core_says_the_same() {
        let first = words();
        assert!(first.iter().any(|word| *word != 0));
        // A thread may be on another core, and a core's number is in what CPUID says.
        let threads: Vec<_> = (0..16).map(|_| std::thread::spawn(words)).collect();
        for thread in threads {
            assert_eq!(thread.join().expect("it ends"), first);
        }
        assert_eq!(fingerprint().len(), 64);
    }
}
