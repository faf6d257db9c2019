//! How keys order: as unsigned integers, after their bits have been mapped.

use qd_dialects::{
    builder::{Builder, V},
    ir::{bit_width, is_float},
    melior::ir::Type,
};

/// Maps keys to unsigned integers, and back.
#[derive(Clone, Copy)]
pub(in crate::algorithms) struct KeyOrder<'c> {
    key: Type<'c>,
    mapped: Type<'c>,
    form: Form,
}

#[derive(Clone, Copy)]
enum Form {
    Unsigned,
    /// The sign bit is flipped.
    Signed,
    /// The sign bit of positives is flipped, and all bits of negatives:
    /// −NaN, −∞, …, −0, +0, …, +∞, NaN.
    Float,
}

impl<'c> KeyOrder<'c> {
    /// Of keys of this type; integers are signed unless `unsigned`.
    pub fn of(b: &Builder<'c>, key: Type<'c>, unsigned: bool) -> Self {
        Self {
            key,
            mapped: b.int_type(bit_width(key)),
            form: match (is_float(key), unsigned) {
                (true, _) => Form::Float,
                (_, true) => Form::Unsigned,
                (_, false) => Form::Signed,
            },
        }
    }

    /// Bits of a key.
    pub fn width(&self) -> u32 {
        bit_width(self.key)
    }

    fn sign<'b>(&self, like: V<'b, 'c>) -> V<'b, 'c> {
        like.same(i64::MIN >> (64 - self.width()))
    }

    /// Maps a key to bits that order as unsigned integers do.
    pub fn map<'b>(&self, key: V<'b, 'c>) -> V<'b, 'c> {
        let bits = key.bitcast(self.mapped);
        match self.form {
            Form::Unsigned => bits,
            Form::Signed => bits ^ self.sign(bits),
            Form::Float => {
                let if_negative = bits.shr_signed(i64::from(self.width()) - 1);
                bits ^ (if_negative | self.sign(bits))
            }
        }
    }

    /// The key whose bits were mapped to these.
    pub fn unmap<'b>(&self, bits: V<'b, 'c>) -> V<'b, 'c> {
        let bits = match self.form {
            Form::Unsigned => bits,
            Form::Signed => bits ^ self.sign(bits),
            Form::Float => {
                let if_negative = (bits >> (i64::from(self.width()) - 1)) - 1;
                bits ^ (if_negative | self.sign(bits))
            }
        };
        bits.bitcast(self.key)
    }
}
