/* Doubles to the shortest text and back; the rest of text.h is in text.c. */
#include "base/text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIGIT_MAX = 17 };

/* The shortest digits d1d2.. and exponent e with d1.d2.. x 10^e == value; value finite and > 0. */
static size_t shortest_digits(double value, char digit[DIGIT_MAX + 1], int *exponent)
{
    /* At most 15 digits are recovered exactly by printing 15, so fewer need no trial; subnormals hold less. */
    int precision = value < DBL_MIN ? 1 : 15;
    char text[40];
    for (; precision <= DIGIT_MAX; precision++) {
        snprintf(text, sizeof text, "%.*e", precision - 1, value);
        if (strtod(text, NULL) == value)
            break;
    }
    size_t n = 0;
    const char *at = text;
    for (; *at != 'e' && *at != '\0'; at++)
        if (*at >= '0' && *at <= '9' && n < DIGIT_MAX)
            digit[n++] = *at;
    *exponent = *at == 'e' ? (int)strtol(at + 1, NULL, 10) : 0;
    while (n > 1 && digit[n - 1] == '0')
        n--;
    digit[n] = '\0';
    return n;
}

/* Lay out digits as 0.00123, 123000, 12.3 or 1.23e-09; plain when the exponent is in -4 .. 15. */
static void lay_out(const char *sign, const char *digit, size_t n, int exponent, char *buffer, size_t size)
{
    int count = (int)n;
    if (exponent < -4 || exponent > 15)
        snprintf(buffer, size, "%s%c%s%se%c%02d", sign, digit[0], n > 1 ? "." : "", digit + 1,
                 exponent < 0 ? '-' : '+', abs(exponent));
    else if (exponent < 0)
        snprintf(buffer, size, "%s0.%.*s%s", sign, -exponent - 1, "0000", digit);
    else if (count <= exponent + 1)
        snprintf(buffer, size, "%s%s%.*s", sign, digit, exponent + 1 - count, "0000000000000000");
    else
        snprintf(buffer, size, "%s%.*s.%s", sign, exponent + 1, digit, digit + exponent + 1);
}

char *text_double_shifted(double value, int shift, char *buffer, size_t size)
{
    char digit[DIGIT_MAX + 1];
    int exponent = 0;
    const char *sign = signbit(value) ? "-" : "";
    if (isnan(value))
        snprintf(buffer, size, "nan");
    else if (isinf(value))
        snprintf(buffer, size, "%sinf", sign);
    else if (value == 0)
        snprintf(buffer, size, "%s0", sign);
    else {
        size_t n = shortest_digits(fabs(value), digit, &exponent);
        lay_out(sign, digit, n, exponent + shift, buffer, size);
    }
    return buffer;
}

char *text_double(double value, char *buffer, size_t size)
{
    return text_double_shifted(value, 0, buffer, size);
}

static const char *skip_digits(const char *at)
{
    while (*at >= '0' && *at <= '9')
        at++;
    return at;
}

int text_parse_double(const char *text, double *value)
{
    const char *first = text + (*text == '-');
    const char *at = skip_digits(first);
    long n_digit = at - first;
    if (*at == '.') {
        const char *end = skip_digits(at + 1);
        n_digit += end - at - 1;
        at = end;
    }
    if (n_digit == 0)
        return 0;
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '+' || *at == '-';
        const char *end = skip_digits(at);
        if (end == at)
            return 0;
        at = end;
    }
    if (*at != '\0')
        return 0;
    double parsed = strtod(text, NULL);
    if (!isfinite(parsed))
        return 0;
    *value = parsed;
    return 1;
}
