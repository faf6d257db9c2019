//! The processor that this runs on, as far as it can be told without LLVM.

#[cfg_attr(target_arch = "x86_64", path = "machine/x86_64.rs")]
#[cfg_attr(not(target_arch = "x86_64"), path = "machine/other.rs")]
mod processor;

use std::sync::OnceLock;

/// A hash of what LLVM looks at where it tells this machine's name and features: an LLVM says the same
/// of machines with the same one.
pub fn fingerprint() -> &'static str {
    static KNOWN: OnceLock<String> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let mut hasher = blake3::Hasher::new();
        for word in processor::words() {
            hasher.update(&word.to_le_bytes());
        }
        hasher.finalize().to_hex().to_string()
    })
}

/// What it is called, for people.
pub fn name() -> String {
    processor::name()
}

/// What it has, as LLVM names it. Where LLVM's list is not all that code may use, it is one name that only the
/// same processors have.
pub fn features() -> &'static [String] {
    static KNOWN: OnceLock<Vec<String>> = OnceLock::new();
    KNOWN.get_or_init(processor::features)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_core_says_the_same() {
        let first = processor::words();
        assert!(first.iter().any(|word| *word != 0));
        // A thread may be on another core, and a core's number is in what CPUID says.
        let threads: Vec<_> = (0..16)
            .map(|_| std::thread::spawn(processor::words))
            .collect();
        for thread in threads {
            assert_eq!(thread.join().expect("it ends"), first);
        }
        assert_eq!(fingerprint().len(), 64);
    }
}
