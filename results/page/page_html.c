/* HTML is written as text; nothing of a result file gets into it but through html_text and html_json. */
#include "results/page/page_html.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char replacement[] = "\xef\xbf\xbd";

/* Bytes of the letter, or 0 for what no page may hold. */
static size_t letter(const char *at)
{
    const unsigned char c = (unsigned char)*at;
    const bool control =
        (c < ' ' && c != '\n' && c != '\t') || c == 0x7f || (c == 0xc2 && (unsigned char)at[1] < 0xa0);
    return control ? 0 : text_letter_bytes(at);
}

void html_text(struct text_buffer *out, const char *text)
{
    static const struct {
        char letter;
        const char *name;
    } entity[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    for (const char *at = text; *at;) {
        const size_t n = letter(at);
        const char *name = n == 0 ? replacement : NULL;
        for (size_t i = 0; i < sizeof entity / sizeof *entity; i++)
            name = *at == entity[i].letter ? entity[i].name : name;
        if (name)
            text_append_string(out, name);
        else
            text_append_bytes(out, at, n);
        at += n ? n : 1;
    }
}

void html_json(struct text_buffer *out, const char *text)
{
    text_append_string(out, "\"");
    for (const char *at = text; *at;) {
        const size_t n = letter(at);
        /* U+2028 and U+2029 are line ends to old scripts */
        const bool line_end = strncmp(at, "\xe2\x80\xa8", 3) == 0 || strncmp(at, "\xe2\x80\xa9", 3) == 0;
        if (n == 0)
            text_append_string(out, replacement);
        else if (line_end)
            text_append_string(out, " ");
        else if (n == 1 && strchr("\"\\<>&'\n\t", *at))
            text_append(out, "\\u%04x", (unsigned char)*at);
        else
            text_append_bytes(out, at, n);
        at += n ? n : 1;
    }
    text_append_string(out, "\"");
}

void html_doubles(struct text_buffer *out, const double *value, size_t n)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0;
    unsigned n_bit = 0;
    size_t n_digit = 0;
    char *to = text_room(out, 11 * n + 4);
    if (!to)
        return;
    for (size_t i = 0; i < n; i++) {
        uint64_t word;
        memcpy(&word, &value[i], sizeof word);
        if (isnan(value[i]))
            word = UINT64_C(0x7ff8000000000000); /* there are many; the page has one */
        for (unsigned byte = 0; byte < 8; byte++) {
            bits = bits << 8 | (uint32_t)(word >> 8 * byte & 0xff);
            for (n_bit += 8; n_bit >= 6; n_bit -= 6)
                to[n_digit++] = digit[bits >> (n_bit - 6) & 63];
        }
    }
    if (n_bit > 0)
        to[n_digit++] = digit[bits << (6 - n_bit) & 63];
    while (n_digit % 4 != 0)
        to[n_digit++] = '=';
    text_wrote(out, to + n_digit);
}

/* Units that take decimal prefixes. */
static bool has_prefix(const char *unit)
{
    static const char *const known[] = {"s", "J", "J s", "W", "Hz", "byte/s"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(unit, known[i]) == 0)
            return true;
    return false;
}

char *html_value(double value, const char *unit, char *buffer, size_t size)
{
    char whole[40];
    if (!isfinite(value))
        snprintf(buffer, size, "-");
    else if (strcmp(unit, "byte") == 0)
        return text_bytes(value, buffer, size);
    else if (has_prefix(unit))
        return text_si(value, strcmp(unit, "byte/s") == 0 ? "B/s" : unit, buffer, size);
    else if (value == floor(value) && value >= 0 && value < 1e15)
        snprintf(buffer, size, "%s%s%s", text_thousands((uint64_t)value, whole, sizeof whole),
                 strcmp(unit, "1") == 0 ? "" : " ", strcmp(unit, "1") == 0 ? "" : unit);
    else
        snprintf(buffer, size, "%.*g%s%s", 4, value, strcmp(unit, "1") == 0 ? "" : " ",
                 strcmp(unit, "1") == 0 ? "" : unit);
    return buffer;
}

void html_element(struct text_buffer *out, const char *tag, const char *text)
{
    text_append(out, "<%s>", tag);
    html_text(out, text);
    text_append(out, "</%s>", tag);
}

void html_number(struct text_buffer *out, double value, const char *unit)
{
    char text[96];
    text_append_string(out, "<td class=\"r\">");
    html_text(out, html_value(value, unit, text, sizeof text));
    text_append_string(out, "</td>");
}

void html_table(struct text_buffer *out, const char *caption, const char *const *title, size_t n,
                size_t n_text)
{
    text_append_string(out, "<div class=\"wide\"><table>");
    if (caption)
        html_element(out, "caption", caption);
    text_append_string(out, "<thead><tr>");
    for (size_t i = 0; i < n; i++) {
        text_append(out, "<th scope=\"col\"%s>", i < n_text ? "" : " class=\"r\"");
        html_text(out, title[i]);
        text_append_string(out, "</th>");
    }
    text_append_string(out, "</tr></thead><tbody>\n");
}

void html_table_end(struct text_buffer *out)
{
    text_append_string(out, "</tbody></table></div>\n");
}

void html_bar(struct text_buffer *out, double share)
{
    const double width = share > 0 ? 160 * fmin(share, 1) : 0;
    text_append(
        out,
        "<td><svg class=\"bar\" width=\"160\" height=\"12\" viewBox=\"0 0 160 12\" aria-hidden=\"true\">"
        "<rect class=\"bar\" width=\"%.1f\" height=\"12\"/></svg></td>",
        width);
}
