//! Processors that CPUID describes.

use std::arch::x86_64::{__cpuid_count, _xgetbv};

/// A leaf's registers: EAX, EBX, ECX, EDX.
const A: usize = 0;
const B: usize = 1;
const C: usize = 2;
const D: usize = 3;

/// A leaf's answer; zeros for one that there is not.
fn leaf(leaf: u32, subleaf: u32) -> [u32; 4] {
    // A leaf beyond the last would have another's answer.
    let last = __cpuid_count(leaf & 0x8000_0000, 0).eax;
    let found = (leaf <= last).then(|| __cpuid_count(leaf, subleaf));
    found.map_or([0; 4], |all| [all.eax, all.ebx, all.ecx, all.edx])
}

/// Which registers the system saves, a bit each.
fn saved() -> u64 {
    const HAS_XGETBV: u32 = 1 << 27;

    /// # Safety
    ///
    /// The processor and the system must have `xgetbv`.
    #[target_feature(enable = "xsave")]
    unsafe fn read() -> u64 {
        // Safety: by contract.
        unsafe { _xgetbv(0) }
    }
    match leaf(1, 0)[C] & HAS_XGETBV {
        0 => 0,
        // Safety: they have it.
        _ => unsafe { read() },
    }
}

/// The maker and the most leaves, the model, the features, and which registers the system saves. What
/// differs between cores and processes is left out.
pub fn words() -> Vec<u32> {
    const ALL: u32 = u32::MAX;
    /// Leaf, subleaf, and the bits of the registers that count.
    const LEAVES: [(u32, u32, [u32; 4]); 13] = [
        (0x0, 0, [ALL; 4]),
        // Not the stepping; the number of this core is in the second.
        (0x1, 0, [!0xf, 0, ALL, ALL]),
        (0x7, 0, [ALL; 4]),
        (0x7, 1, [ALL; 4]),
        (0x7, 2, [ALL; 4]),
        (0xd, 1, [ALL, 0, 0, 0]),
        (0x14, 0, [ALL; 4]),
        (0x19, 0, [ALL; 4]),
        (0x1e, 1, [ALL; 4]),
        (0x24, 0, [ALL; 4]),
        (0x8000_0000, 0, [ALL; 4]),
        (0x8000_0001, 0, [0, 0, ALL, ALL]),
        (0x8000_0008, 0, [0, ALL, 0, 0]),
    ];
    let mut words = Vec::new();
    for (number, subleaf, masks) in LEAVES {
        let all = leaf(number, subleaf).into_iter().zip(masks);
        words.extend(all.map(|(word, mask)| word & mask));
    }
    let saved = saved();
    words.extend([saved as u32, (saved >> 32) as u32]);
    words
}

/// As the processor calls itself.
pub fn name() -> String {
    let leaves = [0x8000_0002, 0x8000_0003, 0x8000_0004];
    let words = leaves.into_iter().flat_map(|number| leaf(number, 0));
    let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    let text = String::from_utf8_lossy(&bytes);
    let name = text.trim_matches(|c: char| c == '\0' || c.is_whitespace());
    match name.is_empty() {
        true => "x86-64".into(),
        false => name.into(),
    }
}

/// What the system has to save for a feature to be of use: bits of [`saved`].
#[derive(Clone, Copy, PartialEq)]
enum Saves {
    Nothing,
    /// The registers of AVX.
    Avx,
    /// And those of AVX-512.
    Avx512,
    Tiles,
    /// 32 general registers.
    Apx,
}

impl Saves {
    fn bits(self) -> u64 {
        match self {
            Saves::Nothing => 0,
            Saves::Avx => 0b110,
            Saves::Avx512 => 0b1110_0110,
            Saves::Tiles => 0b11 << 17,
            Saves::Apx => 1 << 19,
        }
    }
}

/// Leaf, subleaf, register, what has to be saved; and features with their bits.
type Row = (u32, u32, usize, Saves, &'static [(&'static str, u32)]);

/// LLVM's names for what the manuals of Intel and AMD list.
const FEATURES: &[Row] = &[
    (
        1,
        0,
        D,
        Saves::Nothing,
        &[
            ("cx8", 8),
            ("cmov", 15),
            ("mmx", 23),
            ("fxsr", 24),
            ("sse", 25),
            ("sse2", 26),
        ],
    ),
    (
        1,
        0,
        C,
        Saves::Nothing,
        &[
            ("sse3", 0),
            ("pclmul", 1),
            ("ssse3", 9),
            ("cx16", 13),
            ("sse4.1", 19),
            ("sse4.2", 20),
            ("crc32", 20),
            ("movbe", 22),
            ("popcnt", 23),
            ("aes", 25),
            ("rdrnd", 30),
        ],
    ),
    (
        1,
        0,
        C,
        Saves::Avx,
        &[("fma", 12), ("xsave", 26), ("avx", 28), ("f16c", 29)],
    ),
    (
        7,
        0,
        B,
        Saves::Nothing,
        &[
            ("fsgsbase", 0),
            ("sgx", 2),
            ("bmi", 3),
            ("bmi2", 8),
            ("invpcid", 10),
            ("rtm", 11),
            ("rdseed", 18),
            ("adx", 19),
            ("clflushopt", 23),
            ("clwb", 24),
            ("sha", 29),
        ],
    ),
    (7, 0, B, Saves::Avx, &[("avx2", 5)]),
    (
        7,
        0,
        B,
        Saves::Avx512,
        &[
            ("avx512f", 16),
            ("avx512dq", 17),
            ("avx512ifma", 21),
            ("avx512cd", 28),
            ("avx512bw", 30),
            ("avx512vl", 31),
        ],
    ),
    (
        7,
        0,
        C,
        Saves::Nothing,
        &[
            ("pku", 4),
            ("waitpkg", 5),
            ("shstk", 7),
            ("gfni", 8),
            ("rdpid", 22),
            ("kl", 23),
            ("cldemote", 25),
            ("movdiri", 27),
            ("movdir64b", 28),
            ("enqcmd", 29),
        ],
    ),
    (7, 0, C, Saves::Avx, &[("vaes", 9), ("vpclmulqdq", 10)]),
    (
        7,
        0,
        C,
        Saves::Avx512,
        &[
            ("avx512vbmi", 1),
            ("avx512vbmi2", 6),
            ("avx512vnni", 11),
            ("avx512bitalg", 12),
            ("avx512vpopcntdq", 14),
        ],
    ),
    (
        7,
        0,
        D,
        Saves::Nothing,
        &[
            ("uintr", 5),
            ("serialize", 14),
            ("tsxldtrk", 16),
            ("pconfig", 18),
        ],
    ),
    (
        7,
        0,
        D,
        Saves::Avx512,
        &[("avx512vp2intersect", 8), ("avx512fp16", 23)],
    ),
    (
        7,
        0,
        D,
        Saves::Tiles,
        &[("amx-bf16", 22), ("amx-tile", 24), ("amx-int8", 25)],
    ),
    (
        7,
        1,
        A,
        Saves::Nothing,
        &[
            ("raoint", 3),
            ("cmpccxadd", 7),
            ("hreset", 22),
            ("movrs", 31),
        ],
    ),
    (
        7,
        1,
        A,
        Saves::Avx,
        &[
            ("sha512", 0),
            ("sm3", 1),
            ("sm4", 2),
            ("avxvnni", 4),
            ("avxifma", 23),
        ],
    ),
    (7, 1, A, Saves::Avx512, &[("avx512bf16", 5)]),
    (7, 1, A, Saves::Tiles, &[("amx-fp16", 21)]),
    (
        7,
        1,
        D,
        Saves::Nothing,
        &[("prefetchi", 14), ("usermsr", 15)],
    ),
    (
        7,
        1,
        D,
        Saves::Avx,
        &[
            ("avxvnniint8", 4),
            ("avxneconvert", 5),
            ("avxvnniint16", 10),
        ],
    ),
    (7, 1, D, Saves::Tiles, &[("amx-complex", 8)]),
    (
        7,
        1,
        D,
        Saves::Apx,
        &[
            ("egpr", 21),
            ("push2pop2", 21),
            ("ppx", 21),
            ("ndd", 21),
            ("ccmp", 21),
            ("nf", 21),
            ("cf", 21),
            ("zu", 21),
        ],
    ),
    (
        0xd,
        1,
        A,
        Saves::Avx,
        &[("xsaveopt", 0), ("xsavec", 1), ("xsaves", 3)],
    ),
    (0x14, 0, B, Saves::Nothing, &[("ptwrite", 4)]),
    (0x19, 0, B, Saves::Nothing, &[("widekl", 2)]),
    (
        0x1e,
        1,
        A,
        Saves::Tiles,
        &[
            ("amx-fp8", 4),
            ("amx-tf32", 6),
            ("amx-avx512", 7),
            ("amx-movrs", 8),
        ],
    ),
    (
        0x8000_0001,
        0,
        C,
        Saves::Nothing,
        &[
            ("sahf", 0),
            ("lzcnt", 5),
            ("sse4a", 6),
            ("prfchw", 8),
            ("lwp", 15),
            ("tbm", 21),
            ("mwaitx", 29),
        ],
    ),
    (0x8000_0001, 0, C, Saves::Avx, &[("xop", 11), ("fma4", 16)]),
    (0x8000_0001, 0, D, Saves::Nothing, &[("64bit", 29)]),
    (
        0x8000_0008,
        0,
        B,
        Saves::Nothing,
        &[("clzero", 0), ("rdpru", 4), ("wbnoinvd", 9)],
    ),
];

pub fn features() -> Vec<String> {
    let saved = saved();
    let is_saved = |saves: Saves| saved & saves.bits() == saves.bits();
    let mut all = Vec::new();
    for (number, subleaf, register, saves, features) in FEATURES {
        let word = leaf(*number, *subleaf)[*register];
        let has = |(_, bit): &&(&str, u32)| word >> bit & 1 == 1 && is_saved(*saves);
        all.extend(
            features
                .iter()
                .filter(has)
                .map(|(name, _)| (*name).to_owned()),
        );
    }
    // A version, not bits.
    let avx10 = match leaf(7, 1)[D] >> 19 & 1 == 1 && is_saved(Saves::Avx512) {
        true => leaf(0x24, 0)[B] & 0xff,
        false => 0,
    };
    let of_version = ["avx10.1", "avx10.2"].into_iter().zip(1..);
    all.extend(
        of_version
            .filter(|(_, n)| *n <= avx10)
            .map(|(name, _)| name.into()),
    );
    all.sort();
    all
}
