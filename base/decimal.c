/* Shortest digits after R. Giulietti's Schubfach ("The Schubfach way to render doubles"); reading back by
 * an interval of 128-bit products. Both use the table of powers of ten in decimal_powers.c. */
#include "base/decimal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum { SIGNIFICAND_BITS = 52, EXPONENT_BIAS = 1075, EXPONENT_MASK = 0x7FF };

#define HIDDEN_BIT (UINT64_C(1) << SIGNIFICAND_BITS)
#define LOW_63 ((UINT64_C(1) << 63) - 1)

/* floor(e log10(2)), floor(e log10(2) + log10(3/4)) and floor(e log2(10)), exact for |e| of doubles (the
 * paper, section 9.4; >> of a negative number keeps the sign with every compiler this builds with). */
static int log10_of_pow2(int e)
{
    return (int)(((int64_t)e * INT64_C(661971961083)) >> 41);
}

static int log10_of_three_quarters_pow2(int e)
{
    return (int)(((int64_t)e * INT64_C(661971961083) - INT64_C(274743187321)) >> 41);
}

static int log2_of_pow10(int e)
{
    return (int)(((int64_t)e * INT64_C(913124641741)) >> 38);
}

/* g * c / 2^127 rounded to odd (section 9.9: the bits left out do not matter). */
static uint64_t round_to_odd(const struct decimal_power *g, uint64_t c)
{
    uint64_t low = (uint64_t)(((wide)g->low * c) >> 64);
    wide product = (wide)g->high * c;
    uint64_t middle = ((uint64_t)product >> 1) + low;
    uint64_t high = (uint64_t)(product >> 64) + (middle >> 63);
    return high | ((middle & LOW_63) != 0);
}

uint64_t decimal_shortest_by_trial(double value, int *exponent)
{
    /* At most 15 digits are recovered exactly by printing 15, so fewer need no trial; subnormals hold
     * less. */
    int precision = value < DBL_MIN ? 1 : 15;
    char text[40];
    for (; precision <= DECIMAL_DIGIT_MAX; precision++) {
        snprintf(text, sizeof text, "%.*e", precision - 1, value);
        if (strtod(text, NULL) == value)
            break;
    }
    uint64_t digits = 0;
    int n = 0;
    const char *at = text;
    for (; *at != 'e' && *at != '\0'; at++)
        if (*at >= '0' && *at <= '9' && n < DECIMAL_DIGIT_MAX) {
            digits = digits * 10 + (uint64_t)(*at - '0');
            n++;
        }
    *exponent = (*at == 'e' ? (int)strtol(at + 1, NULL, 10) : 0) - (n - 1);
    return digits;
}

/* Of the multiples `below` and `below` + `step` of the last digit, which lie in lower .. upper (in quarters)?
 * Exactly one: `*found` is it, and `*nearest` whether `middle` (the value), rounded to that digit as printf
 * does (ties to even), gives it. */
static int only_one_inside(uint64_t below, uint64_t step, uint64_t lower, uint64_t middle, uint64_t upper,
                           uint64_t *found, int *nearest)
{
    int below_inside = lower <= 4 * below;
    int above_inside = 4 * (below + step) <= upper;
    uint64_t half = 4 * below + 2 * step;
    int rounds_up = middle > half || (middle == half && (below / step & 1) != 0);
    *found = above_inside ? below + step : below;
    *nearest = above_inside == rounds_up;
    return below_inside != above_inside;
}

uint64_t decimal_shortest(double value, int *exponent)
{
    uint64_t bits = 0, found;
    memcpy(&bits, &value, sizeof bits);
    uint64_t fraction = bits & (HIDDEN_BIT - 1);
    int biased = (int)(bits >> SIGNIFICAND_BITS) & EXPONENT_MASK;
    uint64_t c = biased ? fraction | HIDDEN_BIT : fraction;
    int q = (biased ? biased : 1) - EXPONENT_BIAS;
    int narrow = fraction == 0 && biased > 1; /* a power of two: the neighbour below is nearer */
    int k = narrow ? log10_of_three_quarters_pow2(q) : log10_of_pow2(q);
    int h = q + log2_of_pow10(-k) + 2;
    int nearest = 1;
    const struct decimal_power *g = &DECIMAL_POWER[-k - DECIMAL_POWER_FIRST];
    uint64_t middle = round_to_odd(g, (4 * c) << h);
    uint64_t lower = round_to_odd(g, (4 * c - 2 + (uint64_t)narrow) << h) + (c & 1); /* bounds of odd ones */
    uint64_t upper = round_to_odd(g, (4 * c + 2) << h) - (c & 1);                    /* are not inside */
    uint64_t s = middle / 4, tens = s / 10 * 10;
    *exponent = k;
    if (s >= 10 && only_one_inside(tens, 10, lower, middle, upper, &found, &nearest))
        return nearest || !narrow ? found : decimal_shortest_by_trial(value, exponent);
    if (only_one_inside(s, 1, lower, middle, upper, &found, &nearest))
        return nearest || !narrow ? found : decimal_shortest_by_trial(value, exponent);
    uint64_t half = 4 * s + 2;
    return s + (middle > half || (middle == half && (s & 1) != 0));
}

static double make_double(uint64_t significand, int exponent)
{
    uint64_t bits =
        ((uint64_t)(exponent + EXPONENT_BIAS) << SIGNIFICAND_BITS) | (significand & (HIDDEN_BIT - 1));
    double value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* digits * 10^exponent lies within 6 units of 2^-127 above or below a product of the table; unless a halfway
 * point between two doubles does as well, all of that interval rounds to the same double. */
static int by_interval(uint64_t digits, int exponent, double *value)
{
    const struct decimal_power *g = &DECIMAL_POWER[exponent - DECIMAL_POWER_FIRST];
    uint64_t high = (g->high << 1) | (g->low >> 62), low = g->low << 2; /* 2^127 .. 2^128, too large by < 4 */
    int shift = __builtin_clzll(digits);
    uint64_t w = digits << shift;
    /* the upper 128 of 192 bits; the 4 above and what is dropped change it by at most 5 */
    wide product = (wide)high * w + (((wide)low * w) >> 64);
    int two = (int)(product >> 127); /* whether it is 2^191 or more */
    int drop = 128 - (SIGNIFICAND_BITS + 1) - !two;
    wide half = (wide)1 << (drop - 1), rest = product & (2 * half - 1);
    uint64_t significand = (uint64_t)(product >> drop);
    if (rest + 8 > half && rest < half + 8)
        return 0;
    significand += rest >= half;
    /* 10^exponent = (high:low) 2^(log2 - 127), and the product is in units of 2^64 of these */
    int e = log2_of_pow10(exponent) - 127 + 64 - shift + drop;
    if (significand == 2 * HIDDEN_BIT) {
        significand = HIDDEN_BIT;
        e++;
    }
    if (e + EXPONENT_BIAS < 1 || e + EXPONENT_BIAS >= EXPONENT_MASK)
        return 0;
    *value = make_double(significand, e);
    return 1;
}

int decimal_to_double(uint64_t digits, int exponent, double *value)
{
    static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (digits == 0) {
        *value = 0;
        return 1;
    }
    /* Both are doubles without rounding, so one division or product rounds once: W. Clinger, "How to read
     * floating point numbers accurately" (1990). */
    if (digits <= 2 * HIDDEN_BIT && exponent >= -22 && exponent <= 22) {
        *value = exponent < 0 ? (double)digits / ten[-exponent] : (double)digits * ten[exponent];
        return 1;
    }
    if (exponent < DECIMAL_POWER_FIRST || exponent > DECIMAL_POWER_LAST)
        return 0;
    return by_interval(digits, exponent, value);
}
