/* Arithmetic of AMD's pseudocode: values are bits, floats included. Compiled instructions include
 * this; FLUSH_* say which widths flush denormals. */
#ifndef QD_AMD_ORACLE_ARITH_H
#define QD_AMD_ORACLE_ARITH_H

#include "ops.h"
#include <math.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"

enum { FLUSH_IN_32 = 1, FLUSH_OUT_32 = 2, FLUSH_IN_64 = 4, FLUSH_OUT_64 = 8 };

static inline u64 ones(unsigned w) { return w >= 64 ? ~(u64)0 : ((u64)1 << w) - 1; }
static inline i64 sx(u64 x, unsigned w) { return w >= 64 ? (i64)x : (i64)(x << (64 - w)) >> (64 - w); }
static inline u64 shl(u64 x, u64 n) { return n > 63 ? 0 : x << n; }
static inline u64 shr(u64 x, u64 n) { return n > 63 ? 0 : x >> n; }
static inline u64 sar(i64 x, u64 n) { return (u64)(x >> (n > 63 ? 63 : n)); }
static inline u64 any(u64 u, unsigned w) { return u ? ones(w) : 0; }
/* A sum's bits above the lowest unwritten one are unknown. */
static inline u64 smear(u64 u) { return u | -u; }
static inline u128 smear_wide(u128 u) { return u | -u; }
static inline u64 eq_undefined(u64 a, u64 ua, u64 b, u64 ub) { return (ua | ub) && !((a ^ b) & ~(ua | ub)); }
static inline u64 lt_undefined(u64 a, u64 ua, u64 b, u64 ub) {
    return !((a | ua) < (b & ~ub)) && ((a & ~ua) < (b | ub));
}
static inline u64 floor_div(i64 a, i64 b) { i64 q; if (!b) return 0; q = a / b; return (u64)(q - (a % b && (a < 0) != (b < 0))); }
static inline u64 floor_mod(i64 a, i64 b) { return b ? (u64)(a - (i64)floor_div(a, b) * b) : 0; }
static inline u64 reverse(u64 x, unsigned w) { u64 y = 0; for (unsigned i = 0; i < w; i++) y |= ((x >> i) & 1) << (w - 1 - i); return y; }
static inline u64 saturate_u(i128 x, unsigned w) { return x < 0 ? 0 : x > (i128)ones(w) ? ones(w) : (u64)x; }
static inline u64 saturate_i(i128 x, unsigned w) {
    i128 top = ((i128)1 << (w - 1)) - 1;
    return (u64)(x > top ? top : x < -top - 1 ? -top - 1 : x) & ones(w);
}

/* Floats. Exponent and mantissa bits by width. */
static inline unsigned mantissa_bits(unsigned w) { return w == 16 ? 10 : w == 32 ? 23 : 52; }
static inline unsigned exponent_bits(unsigned w) { return w == 16 ? 5 : w == 32 ? 8 : 11; }
static inline u64 exponent_of(u64 x, unsigned w) { return (x >> mantissa_bits(w)) & ones(exponent_bits(w)); }
static inline u64 fraction_of(u64 x, unsigned w) { return x & ones(mantissa_bits(w)); }
static inline int is_nan(u64 x, unsigned w) { return exponent_of(x, w) == ones(exponent_bits(w)) && fraction_of(x, w); }
static inline int is_quiet(u64 x, unsigned w) { return is_nan(x, w) && (x >> (mantissa_bits(w) - 1) & 1); }
static inline int is_signal(u64 x, unsigned w) { return is_nan(x, w) && !is_quiet(x, w); }
static inline int is_denorm(u64 x, unsigned w) { return !exponent_of(x, w) && fraction_of(x, w); }
static inline u64 quiet(u64 x, unsigned w) { return is_nan(x, w) ? x | (u64)1 << (mantissa_bits(w) - 1) : x; }
static inline double f64_of(u64 x) { double d; memcpy(&d, &x, 8); return d; }
static inline u64 of_f64(double d) { u64 x; memcpy(&x, &d, 8); return x; }
static inline float f32_of(u64 x) { uint32_t y = (uint32_t)x; float f; memcpy(&f, &y, 4); return f; }
static inline u64 of_f32(float f) { uint32_t y; memcpy(&y, &f, 4); return y; }

/* The same value in 64 bits; a signalling NaN stays one. */
static inline u64 widen(u64 x, unsigned w) {
    if (w == 64) return x;
    u64 sign = x >> (w - 1) & 1, e = exponent_of(x, w), m = fraction_of(x, w);
    unsigned mb = mantissa_bits(w), bias = (unsigned)ones(exponent_bits(w) - 1);
    if (e == ones(exponent_bits(w))) return sign << 63 | (u64)0x7ff << 52 | m << (52 - mb);
    if (!e) {
        if (!m) return sign << 63;
        return of_f64(ldexp((double)m, 1 - (int)bias - (int)mb)) | sign << 63;
    }
    return sign << 63 | (e + 1023 - bias) << 52 | m << (52 - mb);
}
/* Rounds to a width, to nearest even or (`round` 3) towards zero. */
static inline u64 narrow(double d, unsigned w, u64 round) {
    u64 x = of_f64(d), sign = x >> 63;
    if (w == 64) return x;
    if (w == 32 && round != 3) return d != d ? (sign << 31 | 0x7fc00000 | fraction_of(x, 64) >> 29) : of_f32((float)d);
    unsigned mb = mantissa_bits(w), bias = (unsigned)ones(exponent_bits(w) - 1);
    u64 top = ones(exponent_bits(w)) << mb;
    if (d != d) return sign << (w - 1) | top | (u64)1 << (mb - 1) | fraction_of(x, 64) >> (52 - mb);
    int e; double m = frexp(fabs(d), &e);
    if (m == 0) return sign << (w - 1);
    if (isinf(d)) return sign << (w - 1) | top;
    /* Units in the last place of the result. */
    int last = (e - 1 < 1 - (int)bias ? 1 - (int)bias : e - 1) - (int)mb;
    double scaled = ldexp(fabs(d), -last);
    double r = round == 3 ? floor(scaled) : rint(scaled);
    u64 units = (u64)r;
    u64 raw = units >> mb ? ((u64)(last + (int)mb + (int)bias) << mb) + (units - ((u64)1 << mb)) : units;
    if (raw >= top) raw = round == 3 ? top - 1 : top;
    return sign << (w - 1) | raw;
}
static inline u64 flush_bit(unsigned w, int out) { return w == 32 ? (out ? FLUSH_OUT_32 : FLUSH_IN_32) : (out ? FLUSH_OUT_64 : FLUSH_IN_64); }
static inline u64 flushed(oracle_operands *o, u64 x, unsigned w, int out) {
    return (o->flush & flush_bit(w, out)) && is_denorm(x, w) ? x & (u64)1 << (w - 1) : x;
}
static inline double fin(oracle_operands *o, u64 x, unsigned w) { return f64_of(widen(quiet(flushed(o, x, w, 0), w), w)); }
static inline u64 fout(oracle_operands *o, double d, unsigned w) { return flushed(o, narrow(d, w, o->round), w, 1); }
#define FLOAT_OP(name, expression) \
    static inline u64 name(oracle_operands *o, u64 x, u64 y, unsigned w) { double a = fin(o, x, w), b = fin(o, y, w); return fout(o, expression, w); }
FLOAT_OP(f_add, a + b)
FLOAT_OP(f_sub, a - b)
FLOAT_OP(f_mul, a * b)
FLOAT_OP(f_div, a / b)
FLOAT_OP(f_pow, pow(a, b))
#define FLOAT_ONE(name, expression) \
    static inline u64 name(oracle_operands *o, u64 x, unsigned w) { double a = fin(o, x, w); return fout(o, expression, w); }
FLOAT_ONE(f_floor, floor(a))
FLOAT_ONE(f_trunc, trunc(a))
FLOAT_ONE(f_rint, rint(a))
FLOAT_ONE(f_sqrt, sqrt(a))
FLOAT_ONE(f_log2, log2(a))
FLOAT_ONE(f_sin, sin(a))
FLOAT_ONE(f_cos, cos(a))
FLOAT_ONE(f_fract, a - floor(a))
static inline u64 f_ldexp(oracle_operands *o, u64 x, i64 n, unsigned w) {
    return fout(o, ldexp(fin(o, x, w), n > 5000 ? 5000 : n < -5000 ? -5000 : (int)n), w);
}
static inline u64 f_mantissa(oracle_operands *o, u64 x, unsigned w) { int e; return fout(o, frexp(fin(o, x, w), &e), w); }
static inline u64 f_fma(oracle_operands *o, u64 x, u64 y, u64 z, unsigned w) {
    double a = fin(o, x, w), b = fin(o, y, w), c = fin(o, z, w);
    if (w == 64) return fout(o, fma(a, b, c), w);
    /* The product is exact; the sum is rounded to odd, so that the second rounding is right. */
    double p = a * b, s = p + c, t = s - p, rest = (p - (s - t)) + (c - t);
    if (rest != 0 && s - s == 0 && !(of_f64(s) & 1)) s = nextafter(s, rest > 0 ? INFINITY : -INFINITY);
    return fout(o, s, w);
}
static inline int f_lt(oracle_operands *o, u64 x, u64 y, unsigned w) { return fin(o, x, w) < fin(o, y, w); }
static inline int f_le(oracle_operands *o, u64 x, u64 y, unsigned w) { return fin(o, x, w) <= fin(o, y, w); }
static inline int f_eq(oracle_operands *o, u64 x, u64 y, unsigned w) { return fin(o, x, w) == fin(o, y, w); }
static inline int f_lg(oracle_operands *o, u64 x, u64 y, unsigned w) { double a = fin(o, x, w), b = fin(o, y, w); return a < b || a > b; }
static inline int f_ne(oracle_operands *o, u64 x, u64 y, unsigned w) { return fin(o, x, w) != fin(o, y, w); }
static inline int f_even(u64 x, unsigned w) { return fmod(f64_of(widen(x, w)), 2) == 0; }
/* Conversions to integers saturate; a NaN is 0. */
static inline u64 f_to_i(u64 x, unsigned w, unsigned to) {
    double d = trunc(f64_of(widen(x, w))), top = ldexp(1, (int)to - 1);
    if (d != d) return 0;
    return (d >= top ? ones(to - 1) : d < -top ? (u64)1 << (to - 1) : (u64)(i64)d) & ones(to);
}
static inline u64 f_to_u(u64 x, unsigned w, unsigned to) {
    double d = trunc(f64_of(widen(x, w))), top = ldexp(1, (int)to);
    return d != d || d <= 0 ? 0 : d >= top ? ones(to) : (u64)d;
}
static inline u64 i_to_f(oracle_operands *o, i64 x, unsigned w) { return narrow((double)x, w, o->round); }
static inline u64 u_to_f(oracle_operands *o, u64 x, unsigned w) { return narrow((double)x, w, o->round); }
static inline u64 f_to_f(oracle_operands *o, u64 x, unsigned w, unsigned to) { return flushed(o, narrow(fin(o, x, w), to, o->round), to, 1); }
static inline u64 f32_to_bf(u64 x) { return is_nan(x, 32) ? (x >> 16) | 0x40 : (x + 0x7fff + ((x >> 16) & 1)) >> 16 & 0xffff; }
static inline u64 f_to_norm(u64 x, unsigned w, int is_signed) {
    double d = f64_of(widen(x, w)), low = is_signed ? -1 : 0;
    if (d != d) return 0;
    d = d < low ? low : d > 1 ? 1 : d;
    return (u64)(i64)rint(d * (is_signed ? 32767 : 65535)) & 0xffff;
}

/* A register of a lane. An index that is unknown reads an unknown value. */
static inline u64 vget(oracle_operands *o, u64 lane, u64 ulane, u64 reg, u64 *u) {
    if (lane >= ORACLE_LANES || reg >= o->registers) { o->bad_index = 1; *u = 0xffffffff; return 0; }
    *u = ulane ? 0xffffffff : o->vu[reg * ORACLE_LANES + lane];
    return o->v[reg * ORACLE_LANES + lane];
}
static inline void vset(oracle_operands *o, u64 lane, u64 ulane, u64 reg, u64 x, u64 u) {
    if (lane >= ORACLE_LANES || reg >= o->registers || ulane) { o->bad_index = 1; return; }
    o->v[reg * ORACLE_LANES + lane] = (uint32_t)x;
    o->vu[reg * ORACLE_LANES + lane] = (uint32_t)u;
}
static inline u64 dget(uint32_t data[ORACLE_WORDS][ORACLE_LANES], u64 lane, unsigned at, unsigned w) {
    u64 x = 0;
    for (unsigned i = 0; i < w;) {
        unsigned word = (at + i) / 32, bit = (at + i) % 32, n = 32 - bit < w - i ? 32 - bit : w - i;
        x |= ((u64)(data[word][lane] >> bit) & ones(n)) << i;
        i += n;
    }
    return x;
}
static inline void dset(uint32_t data[ORACLE_WORDS][ORACLE_LANES], u64 lane, unsigned at, unsigned w, u64 x) {
    for (unsigned i = 0; i < w;) {
        unsigned word = (at + i) / 32, bit = (at + i) % 32, n = 32 - bit < w - i ? 32 - bit : w - i;
        uint32_t m = (uint32_t)(ones(n) << bit);
        data[word][lane] = (data[word][lane] & ~m) | ((uint32_t)(x >> i << bit) & m);
        i += n;
    }
}
#endif
