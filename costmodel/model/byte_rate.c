/* Finds the ratio of whole numbers behind a bandwidth, which architectures hold as a double, and multiplies
 * by it in 128 bits. */
#include "costmodel/model/byte_rate.h"

#include <math.h>

__extension__ typedef unsigned __int128 wide;

static const double rounding = 1e-15; /* of a bandwidth that was divided by a clock and a word */

static struct byte_rate reduced(uint64_t byte, uint64_t cycle)
{
    uint64_t a = byte, b = cycle;
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return (struct byte_rate){byte / a, cycle / a};
}

/* Below 2^49 the whole number next to one with that error is the right one. */
static bool whole(double value, uint64_t *number)
{
    double nearest = round(value);
    *number = nearest >= 1 && nearest < 0x1p49 ? (uint64_t)nearest : 0;
    return *number > 0 && fabs(value - nearest) <= rounding * value;
}

/* The first convergent within the error: with p'/q' before p/q, a digit a makes (p' + a p) / (q' + a q). */
static struct byte_rate convergent(double value)
{
    int exponent;
    uint64_t over = 1, rest = (uint64_t)ldexp(frexp(value, &exponent), 53), p = 1, q = 0, p_old = 0,
             q_old = 1;
    exponent -= 53;
    if (exponent >= 0)
        return (struct byte_rate){rest << exponent, 1};
    over <<= -exponent;
    do {
        uint64_t digit = rest / over, after = rest % over;
        uint64_t p_new = p_old + digit * p, q_new = q_old + digit * q;
        p_old = p, q_old = q;
        p = p_new, q = q_new;
        rest = over, over = after;
    } while (over != 0 && fabs((double)p - value * (double)q) > rounding * (double)p);
    return (struct byte_rate){p, q};
}

bool byte_rate_of(double byte_per_cycle, double clock_hz, struct byte_rate *rate)
{
    uint64_t byte, hertz;
    if (!isfinite(byte_per_cycle) || byte_per_cycle * BYTE_RATE_SLOWEST < 1 - rounding ||
        byte_per_cycle > BYTE_RATE_FASTEST)
        return false;
    if (whole(byte_per_cycle * clock_hz, &byte) && whole(clock_hz, &hertz))
        *rate = reduced(byte, hertz);
    else
        *rate = convergent(byte_per_cycle);
    return true;
}

uint64_t byte_rate_scaled(uint64_t n, uint64_t by, uint64_t over, bool up)
{
    wide product = (wide)n * by;
    if ((product >> 64) == 0)
        return (uint64_t)product / over + (up && (uint64_t)product % over != 0);
    wide quotient = product / over + (up && product % over != 0);
    return quotient > UINT64_MAX ? UINT64_MAX : (uint64_t)quotient;
}
