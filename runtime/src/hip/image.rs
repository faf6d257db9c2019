//! A look at code objects. HIP takes an address without a size, and reads as far as the object's
//! headers say: those of a damaged one may lead anywhere.

use crate::Error;

/// ELF's number of AMD's devices.
const AMDGPU: u64 = 224;
/// Of a section that has no bytes in the file.
const NO_BITS: u64 = 8;
/// Sizes of the header and of a section's.
const HEADER: usize = 64;
const SECTION: usize = 64;

/// That all parts that the headers describe are within the image.
pub(super) fn check(image: &[u8]) -> Result<(), Error> {
    // 64 bits, little-endian.
    if image.len() < HEADER
        || !image.starts_with(b"\x7fELF\x02\x01")
        || number(image, 18, 2) != AMDGPU
    {
        return Err(Error::Load("it is not an AMD code object".into()));
    }
    let sections = Table {
        at: number(image, 40, 8),
        size: number(image, 58, 2),
        count: number(image, 60, 2),
    };
    let cut = || Error::Load("the AMD code object is cut short".into());
    if sections.count > 0 && sections.size != SECTION as u64 {
        return Err(Error::Load(
            "the AMD code object's headers are damaged".into(),
        ));
    }
    let end = sections.size * sections.count;
    let headers = part(image, sections.at, end).ok_or_else(cut)?;
    for section in headers.chunks_exact(SECTION) {
        let (at, bytes) = (number(section, 24, 8), number(section, 32, 8));
        if number(section, 4, 4) != NO_BITS {
            part(image, at, bytes).ok_or_else(cut)?;
        }
    }
    Ok(())
}

/// Where the sections' headers are.
struct Table {
    at: u64,
    size: u64,
    count: u64,
}

/// The number of `size` bytes at a place, which is there.
fn number(bytes: &[u8], at: usize, size: usize) -> u64 {
    let digits = bytes[at..at + size].iter().rev();
    digits.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn part(image: &[u8], at: u64, bytes: u64) -> Option<&[u8]> {
    let (at, bytes) = (usize::try_from(at).ok()?, usize::try_from(bytes).ok()?);
    image.get(at..at.checked_add(bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A code object with one section of 8 bytes.
    fn image() -> Vec<u8> {
        let mut image = vec![0; HEADER + 8 + SECTION];
        let mut put = |at: usize, bytes: &[u8]| image[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, b"\x7fELF\x02\x01\x01");
        put(18, &[224, 0]);
        put(40, &[72]);
        put(58, &[64, 0, 1, 0]);
        put(72 + 4, &[1]);
        put(72 + 24, &[64]);
        put(72 + 32, &[8]);
        image
    }

    #[test]
    fn what_leads_out_of_the_image_is_refused() {
        assert!(check(&image()).is_ok());
        for length in 0..image().len() {
            assert!(check(&image()[..length]).is_err(), "{length}");
        }
        for (at, value) in [
            (0, 1),
            (4, 1),
            (18, 62),
            (46, 1),
            (58, 63),
            (60, 2),
            (72 + 32, 73),
        ] {
            let mut image = image();
            image[at] = value;
            assert!(check(&image).is_err(), "{at}");
        }
        let mut image = image();
        image[72 + 32..72 + 40].fill(0xff);
        assert!(check(&image).is_err());
        // What is not in the file may be of any size.
        image[72 + 4] = NO_BITS as u8;
        assert!(check(&image).is_ok());
    }
}
