/* Numbers and letters as people read them: prefixes, bytes, plurals. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

size_t text_letters(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

size_t text_letter_bytes(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t n = at[0] < 0x80 ? 1 : at[0] >= 0xc2 && at[0] < 0xe0 ? 2 : at[0] >= 0xe0 && at[0] < 0xf0 ? 3 : 0;
    n = at[0] >= 0xf0 && at[0] < 0xf5 ? 4 : n;
    for (size_t i = 1; i < n; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
    bool beyond = (at[0] == 0xed && at[1] >= 0xa0) || (at[0] == 0xf4 && at[1] >= 0x90);
    return overlong || beyond ? 0 : n;
}

const char *text_plural(unsigned long long n)
{
    return n == 1 ? "" : "s";
}

char *text_si(double value, const char *unit, char *buffer, size_t size)
{
    static const char prefix[] = "afpnum kMGTPE";
    if (!isfinite(value) || value == 0) {
        snprintf(buffer, size, value == 0 ? "0 %s" : "%s", value == 0 ? unit : "-");
        return buffer;
    }
    if (strcmp(unit, "mm2") == 0) { /* a prefix would be one of millimetres */
        snprintf(buffer, size, "%.3g %s", value, unit);
        return buffer;
    }
    int step = (int)floor(log10(fabs(value)) / 3);
    step = step < -6 ? -6 : step > 6 ? 6 : step;
    double scaled = value / pow(10, 3 * step);
    if (fabs(scaled) >= 999.5 && step < 6) {
        scaled /= 1000;
        step++;
    }
    int digits = fabs(scaled) >= 99.95 ? 0 : fabs(scaled) >= 9.995 ? 1 : 2;
    snprintf(buffer, size, "%.*f %.*s%s", digits, scaled, step != 0, &prefix[step + 6], unit);
    return buffer;
}

char *text_bytes(double value, char *buffer, size_t size)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t i = 0;
    if (!isfinite(value)) {
        snprintf(buffer, size, "-");
        return buffer;
    }
    for (; value >= 1023.95 && i + 1 < sizeof unit / sizeof unit[0]; i++)
        value /= 1024;
    snprintf(buffer, size, i == 0 || value == floor(value) ? "%.0f %s" : "%.1f %s", value, unit[i]);
    return buffer;
}
