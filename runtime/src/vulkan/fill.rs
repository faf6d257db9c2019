//! A fill as commands: a word that is repeated where the elements are aligned to
//! one and look alike, copies of a pattern otherwise.

use crate::actions::Fill;

/// A part of a fill, `at` bytes into its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// The word again and again; `at` and `bytes` are multiples of 4.
    Word { at: u64, bytes: u64, word: u32 },
    /// Bytes from `from` on in the constants.
    Copy { at: u64, bytes: u64, from: u64 },
}

/// Bytes of a pattern that is copied: many elements, so that few copies are
/// enough.
const PATTERN: std::ops::RangeInclusive<u64> = 4 << 10..=1 << 20;

/// The pieces of a fill that begins `at` bytes into its buffer. What is copied
/// is appended to `constants`.
pub(super) fn pieces(at: u64, fill: &Fill, constants: &mut Vec<u8>) -> Vec<Piece> {
    let size = fill.size as u64;
    let total = size * fill.count;
    if total == 0 {
        return Vec::new();
    }
    let element = &fill.value.to_le_bytes()[..fill.size];
    // What follows from any byte on, round and round.
    let from = |first: u64| {
        let bytes = element.iter().copied().cycle();
        bytes.skip((first % size) as usize)
    };
    let mut constant = |first: u64, bytes: u64| {
        let place = constants.len() as u64;
        constants.extend(from(first).take(bytes as usize));
        place
    };

    if fill.size == 8 && element[..4] != element[4..] {
        let pattern = (total / 256)
            .clamp(*PATTERN.start(), *PATTERN.end())
            .min(total)
            / 8
            * 8;
        let place = constant(0, pattern);
        return (0..total)
            .step_by(pattern as usize)
            .map(|done| Piece::Copy {
                at: at + done,
                bytes: pattern.min(total - done),
                from: place,
            })
            .collect();
    }

    let head = (at.next_multiple_of(4) - at).min(total);
    let words = (total - head) / 4 * 4;
    let tail = total - head - words;
    let mut pieces = Vec::new();
    for (done, bytes) in [(0, head), (head + words, tail)] {
        if bytes > 0 {
            pieces.push(Piece::Copy {
                at: at + done,
                bytes,
                from: constant(done, bytes),
            });
        }
    }
    if words > 0 {
        let mut word = [0; 4];
        for (to, byte) in word.iter_mut().zip(from(head)) {
            *to = byte;
        }
        pieces.push(Piece::Word {
            at: at + head,
            bytes: words,
            word: u32::from_le_bytes(word),
        });
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What pieces set in memory that held `0xEE`.
    fn memory(at: u64, fill: &Fill) -> Vec<u8> {
        let mut constants = vec![0xCC; 3];
        let mut memory = vec![0xEE; at as usize + fill.size * fill.count as usize + 8];
        for piece in pieces(at, fill, &mut constants) {
            let (at, bytes): (u64, Vec<u8>) = match piece {
                Piece::Word { at, bytes, word } => {
                    assert_eq!((at % 4, bytes % 4), (0, 0));
                    let bytes = word.to_le_bytes().repeat(bytes as usize / 4);
                    (at, bytes)
                }
                Piece::Copy { at, bytes, from } => {
                    let from = from as usize;
                    (at, constants[from..from + bytes as usize].into())
                }
            };
            let place = &mut memory[at as usize..][..bytes.len()];
            assert!(place.iter().all(|byte| *byte == 0xEE), "set twice");
            place.copy_from_slice(&bytes);
        }
        memory
    }

    #[test]
    fn every_element_is_set_and_no_more() {
        for size in [1, 2, 4, 8] {
            for at in 0..9 {
                for count in [0, 1, 2, 3, 5, 1000, 5000] {
                    for value in [0x0102_0304_0506_0708, 0x0505_0505_0505_0505_u64] {
                        let fill = Fill {
                            address: 0,
                            size,
                            count,
                            value,
                        };
                        let mut expected = vec![0xEE; at as usize];
                        let element = &value.to_le_bytes()[..size];
                        expected.extend(element.repeat(count as usize));
                        expected.extend([0xEE; 8]);
                        assert_eq!(memory(at, &fill), expected, "{size} bytes at {at}");
                    }
                }
            }
        }
    }
}
