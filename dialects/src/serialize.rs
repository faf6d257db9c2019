//! Serialization to the binary formats of MLIR: bytecode, and SPIR-V.

use crate::ir::Op;
use melior::ir::Module;
use std::ffi::c_void;

/// A module as bytecode; none if MLIR cannot write it.
pub fn bytecode(module: &Module<'_>) -> Option<Vec<u8>> {
    unsafe extern "C" fn take(part: mlir_sys::MlirStringRef, data: *mut c_void) {
        // Safety: MLIR hands over a string, and `data` as it got it.
        unsafe {
            let all = data.cast::<Vec<u8>>();
            (*all).extend_from_slice(std::slice::from_raw_parts(part.data.cast(), part.length));
        }
    }
    let mut all: Vec<u8> = Vec::new();
    // Safety: the module is valid; `take` is called before the call returns, and
    // the configuration is destroyed once.
    let failed = unsafe {
        let config = mlir_sys::mlirBytecodeWriterConfigCreate();
        let data = std::ptr::from_mut(&mut all).cast();
        let result = mlir_sys::mlirOperationWriteBytecodeWithConfig(
            module.as_operation().to_raw(),
            config,
            Some(take),
            data,
        );
        mlir_sys::mlirBytecodeWriterConfigDestroy(config);
        result.value == 0
    };
    (!failed).then_some(all)
}

/// The newest version of bytecode that this MLIR reads; it writes it, too.
pub const BYTECODE_VERSION: u64 = 6;

/// The magic number of bytecode of any version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BytecodeHeader {
    /// Of the encoding.
    pub version: u64,
    /// The producer, such as `MLIR22.1.8`.
    pub producer: String,
}

impl BytecodeHeader {
    /// That of these bytes, if they are bytecode and go so far.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(b"ML\xEFR")?;
        // As many bytes follow as the first one has zeros at its low end.
        let more = rest.first()?.trailing_zeros() as usize;
        let (number, rest) = rest.split_at_checked(more + 1)?;
        let mut word = [0; 16];
        word[..=more].copy_from_slice(number);
        let version = u128::from_le_bytes(word) >> (more + 1).min(8);
        let producer = rest.split(|byte| *byte == 0).next()?;
        Some(Self {
            version: version as u64,
            producer: String::from_utf8_lossy(producer).into_owned(),
        })
    }
}

/// The words of a `spirv.module`; none, with diagnostics, if it has no binary
/// form.
pub fn spirv(module: Op<'_>) -> Option<Vec<u32>> {
    unsafe extern "C" fn take(words: *const u32, count: usize, data: *mut c_void) {
        // Safety: the shim hands over as many words, and `data` as it got it.
        unsafe {
            let all = data.cast::<Vec<u32>>();
            (*all).extend_from_slice(std::slice::from_raw_parts(words, count));
        }
    }
    let mut all: Vec<u32> = Vec::new();
    let data = std::ptr::from_mut(&mut all).cast();
    // Safety: the operation is valid; `take` is called before this returns.
    let made = unsafe { qd_sys::qdSerializeSpirv(module.to_raw(), take, data) };
    made.then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_of_the_newest_version() {
        let context = crate::context();
        let module = Module::parse(&context, "qd.grid.kernel @k() {}").expect("it parses");
        let header = BytecodeHeader::of(&bytecode(&module).expect("it has a binary form"));
        let header = header.expect("it has a header");
        assert_eq!(header.version, BYTECODE_VERSION);
        assert!(header.producer.starts_with("MLIR"), "{header:?}");
    }

    #[test]
    fn numbers_are_as_long_as_their_first_byte_says() {
        let header = |rest: &[u8]| BytecodeHeader::of(&[b"ML\xEFR", rest].concat());
        let version = |rest| header(rest).map(|header| (header.version, header.producer));
        assert_eq!(version(&[0x0D, b'x', 0, 1]), Some((6, "x".into())));
        assert_eq!(version(&[0x02, 0x04, 0]), Some((256, "".into())));
        let longest = [&[0][..], &[0xFF; 8], &[0]].concat();
        assert_eq!(version(&longest), Some((u64::MAX, "".into())));
        assert_eq!(version(&[0x02]), None);
        assert_eq!(version(&[]), None);
        assert_eq!(BytecodeHeader::of(b"module {}"), None);
    }
}
