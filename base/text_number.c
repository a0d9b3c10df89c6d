/* Doubles to the shortest text and back; the rest of text.h is in text.c. */
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"

enum { INTEGER_MAX_DIGIT = 20 };

static const char PAIR[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                           "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                           "8081828384858687888990919293949596979899";

/* Eight digits with leading zeros; the steps do not wait for each other, which is what makes it quick. */
static void write_eight(uint32_t value, char *text)
{
    uint32_t high = value / 10000, low = value % 10000;
    memcpy(text, PAIR + 2 * (high / 100), 2);
    memcpy(text + 2, PAIR + 2 * (high % 100), 2);
    memcpy(text + 4, PAIR + 2 * (low / 100), 2);
    memcpy(text + 6, PAIR + 2 * (low % 100), 2);
}

/* Below 10^8, without leading zeros; how many digits there are. */
static size_t write_few(uint32_t value, char *text)
{
    char eight[8];
    size_t skip = 0;
    write_eight(value, eight);
    while (skip < 7 && eight[skip] == '0')
        skip++;
    memcpy(text, eight + skip, 8 - skip);
    return 8 - skip;
}

/* The digits of `value` into text[0 ..]; how many there are. */
static size_t write_digits(uint64_t value, char *text)
{
    const uint32_t chunk = 100000000;
    if (value < chunk)
        return write_few((uint32_t)value, text);
    size_t n = write_digits(value / chunk, text);
    write_eight((uint32_t)(value % chunk), text + n);
    return n + 8;
}

static char *put(char *to, const char *from, size_t n)
{
    memcpy(to, from, n);
    return to + n;
}

/* Lay out digits as 0.00123, 123000, 12.3 or 1.23e-09; plain when the exponent is in -4 .. 15. Returns the
 * end. */
static char *lay_out(const char *digit, size_t n, int exponent, char *to)
{
    if (exponent < -4 || exponent > 15) {
        unsigned size = exponent < 0 ? 0u - (unsigned)exponent : (unsigned)exponent;
        *to++ = digit[0];
        if (n > 1)
            *to++ = '.';
        to = put(to, digit + 1, n - 1);
        *to++ = 'e';
        *to++ = exponent < 0 ? '-' : '+';
        if (size < 10)
            *to++ = '0';
        return to + write_digits(size, to);
    }
    if (exponent < 0) {
        to = put(to, "0.0000", (size_t)(1 - exponent));
        return put(to, digit, n);
    }
    size_t whole = (size_t)exponent + 1;
    if (n <= whole) {
        to = put(to, digit, n);
        return put(to, "0000000000000000", whole - n);
    }
    to = put(to, digit, whole);
    *to++ = '.';
    return put(to, digit + whole, n - whole);
}

/* Value finite and > 0. Returns the end. */
static char *write_number(double value, int shift, char *to)
{
    char digit[INTEGER_MAX_DIGIT];
    int exponent = 0;
    uint64_t digits;
    if (value < 0x1p53 && (double)(uint64_t)value == value) { /* no other decimal as short is as near */
        digits = (uint64_t)value;
        if (shift == 0) /* below 10^16: plain */
            return to + write_digits(digits, to);
    } else {
        digits = decimal_shortest(value, &exponent);
    }
    size_t n = write_digits(digits, digit);
    exponent += (int)n - 1;
    while (n > 1 && digit[n - 1] == '0')
        n--;
    return lay_out(digit, n, exponent + shift, to);
}

size_t text_double_bytes(double value, int shift, char *to)
{
    char *at = to;
    if (isnan(value))
        return (size_t)(put(to, "nan", 3) - to);
    if (signbit(value))
        *at++ = '-';
    if (isinf(value))
        at = put(at, "inf", 3);
    else if (value == 0)
        *at++ = '0';
    else
        at = write_number(fabs(value), shift, at);
    return (size_t)(at - to);
}

char *text_double_shifted(double value, int shift, char *buffer, size_t size)
{
    char number[TEXT_DOUBLE_MAX];
    size_t n = text_double_bytes(value, shift, number);
    if (size == 0)
        return buffer;
    n = n < size ? n : size - 1;
    memcpy(buffer, number, n);
    buffer[n] = '\0';
    return buffer;
}

size_t text_u64_bytes(uint64_t value, char *to)
{
    return write_digits(value, to);
}

size_t text_hex_bytes(uint64_t value, char *to)
{
    for (int i = 0; i < 16; i++)
        to[i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
    return 16;
}

char *text_double(double value, char *buffer, size_t size)
{
    return text_double_shifted(value, 0, buffer, size);
}

/* A scan over a number: its first 19 digits as one integer, times 10^exponent. */
struct number_scan {
    uint64_t digits;
    int n; /* of digits, less leading zeros; when more than 19, the value is not known */
    int exponent;
};

/* Leading zeros move the exponent only. The loop over the digits does nothing but gather them: most of the
 * time that a cube takes for its numbers goes by here. */
static const char *scan_digits(const char *at, struct number_scan *scan, int exponent_step)
{
    const char *const begin = at;
    while (scan->n == 0 && *at == '0')
        at++;
    const char *const first = at, *const full = first + (scan->n < 19 ? 19 - scan->n : 0);
    uint64_t digits = scan->digits;
    for (; at < full && *at >= '0' && *at <= '9'; at++)
        digits = digits * 10 + (uint64_t)(*at - '0');
    scan->digits = digits;
    scan->exponent += exponent_step * (int)(at - begin);
    while (*at >= '0' && *at <= '9')
        at++;
    scan->n += (int)(at - first);
    return at;
}

/* Behind the number that `text` begins with, or NULL when it begins with none. */
static const char *scan_number(const char *text, struct number_scan *scan)
{
    const char *first = text + (*text == '-');
    const char *at = scan_digits(first, scan, 0);
    long n_digit = at - first;
    if (*at == '.') {
        const char *end = scan_digits(at + 1, scan, -1);
        n_digit += end - at - 1;
        at = end;
    }
    if (n_digit == 0)
        return NULL;
    if (*at == 'e' || *at == 'E') {
        int sign = at[1] == '-' ? -1 : 1, size = 0;
        at += 1 + (at[1] == '+' || at[1] == '-');
        if (*at < '0' || *at > '9')
            return NULL;
        for (; *at >= '0' && *at <= '9'; at++)
            size = size < 10000 ? size * 10 + (*at - '0') : size;
        scan->exponent += sign * size;
    }
    return at;
}

int text_parse_double(const char *text, double *value)
{
    struct number_scan scan = {0, 0, 0};
    const char *end = scan_number(text, &scan);
    double parsed = 0;
    if (!end || *end != '\0')
        return 0;
    if (scan.n > 19 || !decimal_to_double(scan.digits, scan.exponent, &parsed))
        parsed = strtod(text, NULL);
    else if (*text == '-')
        parsed = -parsed;
    if (!isfinite(parsed))
        return 0;
    *value = parsed;
    return 1;
}
