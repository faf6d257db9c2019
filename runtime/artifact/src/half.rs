//! Floats of 16 bits: `f16` and `bf16`.

use crate::Dtype;

/// A sign, an exponent and a fraction.
struct Format {
    /// Bits of the fraction.
    fraction: u32,
    /// The exponent of the smallest normal number.
    least: i32,
}

impl Dtype {
    fn format(self) -> Format {
        let (fraction, least) = match self {
            Dtype::BF16 => (7, -126),
            _ => (10, -14),
        };
        Format { fraction, least }
    }

    /// What the bits of a float of this type, which [is of 16](Self::is_half), stand for.
    pub fn of_half(self, bits: u16) -> f64 {
        let Format { fraction, least } = self.format();
        let magnitude = i32::from(bits & 0x7FFF);
        let (exponent, digits) = (magnitude >> fraction, magnitude & ((1 << fraction) - 1));
        let value = if exponent > 2 - 2 * least {
            if digits == 0 { f64::INFINITY } else { f64::NAN }
        } else {
            let hidden = i32::from(exponent > 0) << fraction;
            let unit = exponent.max(1) - 1 + least - fraction as i32;
            f64::from(digits + hidden) * 2f64.powi(unit)
        };
        if bits & 0x8000 == 0 { value } else { -value }
    }

    /// The bits of the float of this type, which [is of 16](Self::is_half), that is nearest;
    /// of two the even one.
    pub fn to_half(self, value: f64) -> u16 {
        let Format { fraction, least } = self.format();
        let sign = u16::from(value.is_sign_negative()) << 15;
        let infinity = 0x7FFF & !((1 << fraction) - 1);
        if value.is_nan() {
            return sign | infinity | 1 << (fraction - 1);
        }
        // Beyond the largest there is infinity alone.
        let exponent = (value.to_bits() >> 52 & 0x7FF) as i32 - 1023;
        let exponent = exponent.clamp(least, 2 - least);
        let digits = (value.abs() / 2f64.powi(exponent - fraction as i32)).round_ties_even();
        let bits = f64::from((exponent - least) << fraction) + digits;
        sign | bits.min(infinity.into()) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::Dtype;

    #[test]
    fn numbers_are_their_bits() {
        for (dtype, infinity) in [(Dtype::F16, 0x7C00), (Dtype::BF16, 0x7F80)] {
            for bits in 0..=u16::MAX {
                let value = dtype.of_half(bits);
                match bits & 0x7FFF > infinity {
                    true => assert!(value.is_nan(), "{dtype} {bits:x}"),
                    false => assert_eq!(dtype.to_half(value), bits, "{dtype} {bits:x}"),
                }
            }
        }
    }

    #[test]
    fn what_is_halfway_becomes_even() {
        let next = 2f64.powi(-52);
        for (value, bits) in [
            (1.0 + 2f64.powi(-11), 0x3C00),
            (1.0 + 3.0 * 2f64.powi(-11), 0x3C02),
            (1.0 + 2f64.powi(-11) + next, 0x3C01),
            (65519.0, 0x7BFF),
            (65520.0, 0x7C00),
            (1e300, 0x7C00),
            (-2f64.powi(-25), 0x8000),
            (2f64.powi(-25) * (1.0 + next), 1),
        ] {
            assert_eq!(Dtype::F16.to_half(value), bits, "{value}");
        }
        assert_eq!(Dtype::BF16.to_half(1.0 + 2f64.powi(-8)), 0x3F80);
        assert_eq!(Dtype::BF16.to_half(3.4e38), 0x7F80);
    }
}
