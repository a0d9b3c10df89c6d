/* Scales of colours and charts: logarithmic where values span more than a factor of 6. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/page/page_html.h"
#include "results/page/page_parts.h"

struct page_scale page_scale_of(double low, double high)
{
    const struct page_scale scale = {low, high, low > 0 && high / low > 6};
    if (high > low)
        return scale;
    const double room = low == 0 ? 1 : 0.1 * fabs(low); /* one value: give it some */
    return (struct page_scale){low - room, low + room, false};
}

double page_scale_place(const struct page_scale *scale, double value)
{
    if (scale->log)
        return log(value / scale->low) / log(scale->high / scale->low);
    return (value - scale->low) / (scale->high - scale->low);
}

static size_t log_ticks(const struct page_scale *scale, double *tick, size_t most)
{
    static const double step[] = {1, 2, 5};
    const double decades = log10(scale->high / scale->low);
    const size_t n_step = decades > 3 ? 1 : 3;
    const int every = decades > (double)most ? (int)ceil(decades / (double)most) : 1;
    size_t n = 0;
    for (int power = (int)floor(log10(scale->low)); power <= (int)ceil(log10(scale->high)); power += every)
        for (size_t s = 0; s < n_step && n < most; s++) {
            const double value = step[s] * pow(10, power);
            if (value >= scale->low * (1 - 1e-9) && value <= scale->high * (1 + 1e-9))
                tick[n++] = value;
        }
    return n;
}

size_t page_ticks(const struct page_scale *scale, double *tick, size_t most)
{
    if (scale->log)
        return log_ticks(scale, tick, most);
    const double room = (scale->high - scale->low) / (double)(most > 1 ? most - 1 : 1);
    const double power = pow(10, floor(log10(room))), times = room / power;
    const double step = power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
    size_t n = 0;
    for (double at = ceil(scale->low / step - 1e-9); n < most && at * step <= scale->high + 1e-9 * step; at++)
        tick[n++] = at * step;
    return n;
}

/* What the prefix of a unit as html_value writes it stands for. */
static double factor_of(const char *shown, const char *unit)
{
    static const char decimal[] = "afpnum kMGTPE", binary[] = " KMGTP";
    const bool is_byte = strcmp(unit, "byte") == 0;
    const size_t plain = is_byte || strcmp(unit, "byte/s") == 0 ? strlen(unit) - 3 : strlen(unit);
    const char *at = strlen(shown) > plain ? strchr(is_byte ? binary : decimal, shown[0]) : NULL;
    if (!at)
        return 1;
    return is_byte ? pow(1024, (double)(at - binary)) : pow(10, 3 * (double)(at - decimal - 6));
}

char *page_tick_text(double value, const char *unit, char *buffer, size_t size)
{
    if (!unit) {
        snprintf(buffer, size, value >= 1000 ? "%.0f\xc3\x97" : "%.3g\xc3\x97", value);
        return buffer;
    }
    char prefixed[64];
    html_value(value, unit, prefixed, sizeof prefixed);
    const char *end = strchr(prefixed, ' ');
    snprintf(buffer, size, "%.6g%s", value / (end ? factor_of(end + 1, unit) : 1), end ? end : "");
    return buffer;
}
