//! NumPy's `.npy` files, versions 1 to 3: strict about what kernels take.
//!
//! The format is NumPy's own enhancement proposal 1: a magic number, a Python
//! dictionary of three entries as text, the elements.

use crate::array::Array;
use qd_artifact::Dtype;
use std::{
    fs::File,
    io::{self, Read, Write},
    path::Path,
};

const MAGIC: &[u8] = b"\x93NUMPY";

/// A header's text is short; a long one is no header.
const LONGEST_HEADER: usize = 1 << 16;

/// What a header says.
#[derive(Debug, PartialEq)]
struct Header {
    dtype: Dtype,
    /// Whether the bytes of an element come highest first.
    big_endian: bool,
    fortran_order: bool,
    shape: Vec<u64>,
}

/// Reads a file's elements, in row-major order and the machine's byte order.
pub fn read(path: &Path) -> Result<Array, String> {
    let mut file = File::open(path).map_err(|e| said(&e))?;
    let header = read_header(&mut file)?;
    if header.fortran_order && header.shape.len() > 1 {
        return Err("it is in Fortran order: save numpy.ascontiguousarray of the array".into());
    }
    let expected = header
        .shape
        .iter()
        .try_fold(header.dtype.size() as u64, |bytes, extent| {
            bytes.checked_mul(*extent)
        })
        .ok_or("its shape has more elements than there can be")?;
    // Compared before memory is taken for what a header claims.
    let found = remaining(&file).map_err(|e| said(&e))?;
    if let Some(found) = found.filter(|found| *found != expected) {
        return Err(if found < expected {
            format!("it is cut short: {found} bytes of data instead of {expected}")
        } else {
            format!("{} bytes stand behind its data", found - expected)
        });
    }
    let mut array = Array::filled(header.dtype, &header.shape, 0)?;
    file.read_exact(array.bytes_mut()).map_err(|e| said(&e))?;
    if header.dtype == Dtype::Bool && array.bytes().iter().any(|byte| *byte > 1) {
        return Err("its truth values are not all 0 or 1".into());
    }
    if header.big_endian {
        for element in array.bytes_mut().chunks_exact_mut(header.dtype.size()) {
            element.reverse();
        }
    }
    Ok(array)
}

/// An input error as people say it.
fn said(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        io::ErrorKind::PermissionDenied => "it may not be read".into(),
        io::ErrorKind::UnexpectedEof => "it is cut short".into(),
        _ => error.to_string(),
    }
}

/// Bytes after the current position; `None` where that cannot be told.
fn remaining(mut file: &File) -> io::Result<Option<u64>> {
    use std::io::Seek;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(None);
    }
    Ok(Some(metadata.len().saturating_sub(file.stream_position()?)))
}

fn read_header(file: &mut impl Read) -> Result<Header, String> {
    let mut start = [0; 8];
    match file.read_exact(&mut start) {
        Ok(()) if start.starts_with(MAGIC) => {}
        Ok(()) => return Err("it is no .npy file".into()),
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
            return Err("it is no .npy file".into());
        }
        Err(e) => return Err(said(&e)),
    }
    let mut length = [0; 4];
    let width = match start[6] {
        1 => 2,
        2 | 3 => 4,
        version => {
            return Err(format!(
                "it is of version {version} of the format; 1 to 3 are known"
            ));
        }
    };
    file.read_exact(&mut length[..width])
        .map_err(|e| said(&e))?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST_HEADER {
        return Err(format!("its header claims to be {length} bytes long"));
    }
    let mut text = vec![0; length];
    file.read_exact(&mut text).map_err(|e| said(&e))?;
    let text = String::from_utf8(text).map_err(|_| "its header is no text")?;
    header(&text)
}

/// Reads `{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }`.
fn header(text: &str) -> Result<Header, String> {
    let malformed = || format!("its header is malformed: {}", text.trim());
    let inside = text
        .trim()
        .strip_prefix('{')
        .and_then(|t| t.strip_suffix('}'))
        .ok_or_else(malformed)?;
    let (mut descr, mut fortran_order, mut shape) = (None, None, None);
    let mut rest = inside.trim();
    while !rest.is_empty() {
        let (key, value) = rest.split_once(':').ok_or_else(malformed)?;
        let value = value.trim_start();
        // A shape has commas of its own, a structured type brackets.
        let end = match value.chars().next() {
            Some('(') => value.find(')').map(|i| i + 1),
            Some('[') => value.rfind(']').map(|i| i + 1),
            _ => Some(value.find(',').unwrap_or(value.len())),
        };
        let (value, behind) = value.split_at(end.ok_or_else(malformed)?);
        match key.trim().trim_matches(['\'', '"']) {
            "descr" => descr = Some(value.trim()),
            "fortran_order" => fortran_order = Some(value.trim() == "True"),
            "shape" => shape = Some(read_shape(value).ok_or_else(malformed)?),
            _ => return Err(malformed()),
        }
        rest = behind.trim_start().trim_start_matches(',').trim_start();
    }
    let descr = descr.ok_or_else(malformed)?;
    let (dtype, big_endian) = read_descr(descr)
        .ok_or_else(|| format!("its elements are {descr}, which no kernel takes"))?;
    Ok(Header {
        dtype,
        big_endian,
        fortran_order: fortran_order.ok_or_else(malformed)?,
        shape: shape.ok_or_else(malformed)?,
    })
}

fn read_shape(text: &str) -> Option<Vec<u64>> {
    let inside = text.strip_prefix('(')?.strip_suffix(')')?.trim();
    let inside = inside.strip_suffix(',').unwrap_or(inside);
    if inside.is_empty() {
        return Some(Vec::new());
    }
    inside
        .split(',')
        .map(|extent| extent.trim().parse().ok())
        .collect()
}

fn read_descr(text: &str) -> Option<(Dtype, bool)> {
    let text = text.trim_matches(['\'', '"']);
    let (order, kind) = text.split_at_checked(1)?;
    let dtype = match kind {
        "b1" => Dtype::Bool,
        "i1" => Dtype::I8,
        "u1" => Dtype::U8,
        "i2" => Dtype::I16,
        "u2" => Dtype::U16,
        "i4" => Dtype::I32,
        "u4" => Dtype::U32,
        "i8" => Dtype::I64,
        "u8" => Dtype::U64,
        "f2" => Dtype::F16,
        // As `ml_dtypes` writes it: NumPy itself has no such type.
        "V2" => Dtype::BF16,
        "f4" => Dtype::F32,
        "f8" => Dtype::F64,
        _ => return None,
    };
    match order {
        "<" | "=" | "|" => Some((dtype, false)),
        ">" => Some((dtype, true)),
        _ => None,
    }
}

/// Writes the first `rows` rows of an array; an array of rank 0 as a whole.
pub fn write(to: &mut impl Write, array: &Array, rows: u64) -> io::Result<()> {
    let dtype = array.dtype();
    let mut shape = array.shape().to_vec();
    if let Some(extent) = shape.first_mut() {
        *extent = rows;
    }
    let letter = match dtype {
        Dtype::Bool => 'b',
        Dtype::BF16 => 'V',
        Dtype::F16 | Dtype::F32 | Dtype::F64 => 'f',
        Dtype::U8 | Dtype::U16 | Dtype::U32 | Dtype::U64 => 'u',
        Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64 => 'i',
    };
    let order = if dtype.size() == 1 { '|' } else { '<' };
    let extents: String = shape.iter().map(|extent| format!("{extent},")).collect();
    let mut header = format!(
        "{{'descr': '{order}{letter}{}', 'fortran_order': False, 'shape': ({extents}), }}",
        dtype.size()
    );
    // The data begins at a multiple of 64 bytes.
    let padding = 63 - (MAGIC.len() + 4 + header.len()) % 64;
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    to.write_all(MAGIC)?;
    to.write_all(&[1, 0])?;
    to.write_all(&(header.len() as u16).to_le_bytes())?;
    to.write_all(header.as_bytes())?;
    let elements: u64 = shape.iter().product();
    to.write_all(&array.bytes()[..elements as usize * dtype.size()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(bytes: &[u8]) -> Result<Array, String> {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(bytes).expect("written");
        read(file.path())
    }

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn what_is_written_is_read() {
        for shape in [&[][..], &[0], &[5], &[3, 2]] {
            let mut array = Array::filled(Dtype::U16, shape, 0).expect("memory");
            array.set_elements(|i| i + 1);
            let mut bytes = Vec::new();
            write(&mut bytes, &array, array.rows()).expect("written");
            assert_eq!((bytes.len() - array.bytes().len()) % 64, 0);
            let read = round_trip(&bytes).expect("read");
            assert_eq!((read.shape(), read.bytes()), (shape, array.bytes()));
        }
    }

    #[test]
    fn a_prefix_is_so_many_rows() {
        let mut array = Array::filled(Dtype::I64, &[3], 0).expect("memory");
        array.set_elements(|i| i + 1);
        let mut bytes = Vec::new();
        write(&mut bytes, &array, 2).expect("written");
        let read = round_trip(&bytes).expect("read");
        assert_eq!(read.shape(), [2]);
        assert_eq!([0, 1].map(|i| read.element(i)), [Some(1), Some(2)]);
    }

    #[test]
    fn bytes_are_put_in_the_machines_order() {
        let header = "{'descr': '>i4', 'fortran_order': False, 'shape': (1,), }";
        let read = round_trip(&file(header, &[0, 0, 1, 2])).expect("read");
        assert_eq!(read.element(0), Some(0x102));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let ints =
            |shape: &str| format!("{{'descr': '<i4', 'fortran_order': False, 'shape': {shape}, }}");
        let message = |bytes: &[u8]| round_trip(bytes).expect_err("wrong");
        assert_eq!(message(b"text"), "it is no .npy file");
        assert_eq!(message(b"0123456789"), "it is no .npy file");
        assert_eq!(
            message(&file(&ints("(2,)"), &[0; 7])),
            "it is cut short: 7 bytes of data instead of 8"
        );
        assert_eq!(
            message(&file(&ints("(2,)"), &[0; 9])),
            "1 bytes stand behind its data"
        );
        assert_eq!(message(&file(&ints("(2,)"), &[])[..20]), "it is cut short");
        let too_many = ints("(4294967296, 4294967296, 2)");
        assert!(
            message(&file(&too_many, &[])).contains("more elements"),
            "{too_many}"
        );
        let complex = ints("(2,)").replace("<i4", "<c8");
        assert_eq!(
            message(&file(&complex, &[0; 4])),
            "its elements are '<c8', which no kernel takes"
        );
        let structured = ints("(2,)").replace("'<i4'", "[('a', '<i4'), ('b', '<f4')]");
        assert!(message(&file(&structured, &[0; 16])).contains("which no kernel takes"));
        let fortran = ints("(2, 2)").replace("False", "True");
        assert!(message(&file(&fortran, &[0; 16])).contains("Fortran order"));
        for malformed in [
            "",
            "{",
            "{'descr'}",
            "{'shape': (}",
            "{'shape': (1,), }",
            "{'a': 1}",
        ] {
            assert!(
                message(&file(malformed, &[])).contains("malformed"),
                "{malformed}"
            );
        }
        let mut future = file(&ints("(0,)"), &[]);
        future[6] = 9;
        assert!(message(&future).contains("version 9"));
    }
}
