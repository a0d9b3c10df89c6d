/* Quoting, with bytes that are no UTF-8 replaced, and numbers, for all that writes JSON. */
#include "dse/console/json_text.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

static void escape(struct text_buffer *out, unsigned char c)
{
    static const char letter[] = "btn?fr"; /* of 8 to 13; 11 has none */
    if (c == '"' || c == '\\')
        text_append(out, "\\%c", c);
    else if (c >= 8 && c <= 13 && c != 11)
        text_append(out, "\\%c", letter[c - 8]);
    else
        text_append(out, "\\u%04x", (unsigned)c);
}

void json_text_quote(struct text_buffer *out, const char *text)
{
    const unsigned char *at = (const unsigned char *)(text ? text : ""), *from = at;
    text_append_bytes(out, "\"", 1);
    while (*at) {
        size_t n = text_letter_bytes((const char *)at);
        if (n > 0 && *at >= ' ' && *at != '"' && *at != '\\' && *at != 0x7f) {
            at += n;
            continue;
        }
        text_append_bytes(out, (const char *)from, (size_t)(at - from));
        if (n == 0)
            text_append_string(out, "\xef\xbf\xbd");
        else
            escape(out, *at);
        from = ++at;
    }
    text_append_bytes(out, (const char *)from, (size_t)(at - from));
    text_append_bytes(out, "\"", 1);
}

void json_text_number(struct text_buffer *out, double value)
{
    char *at = text_room(out, TEXT_DOUBLE_MAX);
    if (!isfinite(value))
        text_append_string(out, "null");
    else if (at)
        text_wrote(out, at + text_double_bytes(value, 0, at));
}
