/* Doubles to the shortest decimal digits and back, without big numbers; text.h has the text forms. No C
 * library of Debian 12 offers this (double-conversion and fast_float are C++), and printf with strtod costs
 * more than 1 us a number. */
#ifndef BASE_DECIMAL_H
#define BASE_DECIMAL_H

#include <stdint.h>

enum { DECIMAL_DIGIT_MAX = 17, DECIMAL_POWER_FIRST = -292, DECIMAL_POWER_LAST = 324 };

/* 10^k in 126 bits: high * 2^63 + low = floor(10^k * 2^-r) + 1 with r = floor(log2(10^k)) - 125. */
struct decimal_power {
    uint64_t high, low; /* below 2^63 both */
};

/* k = DECIMAL_POWER_FIRST .. DECIMAL_POWER_LAST */
extern const struct decimal_power DECIMAL_POWER[DECIMAL_POWER_LAST - DECIMAL_POWER_FIRST + 1];

/* The shortest digits that read back to `value` (finite, > 0), of these the nearest, as digits * 10^exponent
 * with digits up to 17 places and perhaps zeros at its end. R. Giulietti, "The Schubfach way to render
 * doubles" (2020), figure 7. */
uint64_t decimal_shortest(double value, int *exponent);

/* The same by trial with printf and strtod: slow, for the few powers of two where a shorter decimal lies in
 * the wider half of the rounding interval but the nearest of that length does not, and for tests. */
uint64_t decimal_shortest_by_trial(double value, int *exponent);

/* digits * 10^exponent to the nearest double, ties to even; 0 when this quick way cannot tell (then strtod
 * can), else 1. */
int decimal_to_double(uint64_t digits, int exponent, double *value);

#endif
