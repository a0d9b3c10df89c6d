/* Puts the parts of the page together: head, style, sections, data, script. */
#include "results/page/page.h"

#include <inttypes.h>
#include <string.h>

#include "page_assets.h"
#include "results/page/page_html.h"
#include "results/page/page_parts.h"

/* Viridis (S. van der Walt, N. Smith; CC0): even steps for every kind of colour vision, and in grey. */
static const unsigned char viridis[][3] = {
    {0x44, 0x01, 0x54}, {0x48, 0x28, 0x78}, {0x3e, 0x4a, 0x89}, {0x31, 0x68, 0x8e}, {0x26, 0x82, 0x8e},
    {0x1f, 0x9e, 0x89}, {0x35, 0xb7, 0x79}, {0x6e, 0xce, 0x58}, {0xb5, 0xde, 0x2b}, {0xfd, 0xe7, 0x25}};

static void put_shades(struct text_buffer *out)
{
    const size_t last = sizeof viridis / sizeof *viridis - 1;
    for (int i = 0; i < PAGE_SHADES; i++) {
        const double at = (double)last * i / (PAGE_SHADES - 1);
        const size_t from = (size_t)at < last ? (size_t)at : last - 1;
        text_append(out, ".v%d{fill:#", i);
        for (size_t c = 0; c < 3; c++)
            text_append(out, "%02x",
                        (unsigned)(viridis[from][c] +
                                   (at - (double)from) * (viridis[from + 1][c] - viridis[from][c]) + 0.5));
        text_append_string(out, "}\n");
    }
}

static const char *title_of(const struct page_data *data, const struct page_words *words)
{
    const struct result_schema *schema = &data->plot.schema;
    return words->title ? words->title : schema->title[0] ? schema->title : schema->name;
}

static void put_head(const struct page_data *data, const struct page_words *words, struct text_buffer *out)
{
    text_append_string(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                            "<meta name=\"color-scheme\" content=\"light dark\">\n");
    html_element(out, "title", title_of(data, words));
    text_append_string(out, "\n<style>\n");
    text_append_string(out, page_css);
    put_shades(out);
    text_append_string(out, "</style>\n</head>\n<body>\n<header>\n");
    html_element(out, "h1", title_of(data, words));
    text_append_string(out, "\n");
}

/* How many points there are, and how they ended. */
static void put_counts(const struct page_data *data, struct text_buffer *out)
{
    struct text_buffer fixed;
    char n[40], expected[40];
    size_t count[RESULT_STATUS_COUNT] = {0};
    for (size_t i = 0; i < data->n_mark; i++) {
        enum result_status status;
        if (result_status_find(data->plot.status[data->mark[i]], &status))
            count[status]++;
    }
    if (data->n_expected > data->n_done)
        text_append(out,
                    "<p class=\"warn\" role=\"note\"><strong>Unfinished:</strong> %s of %s points are here; "
                    "what the page says is about these.</p>\n",
                    text_thousands(data->n_done, n, sizeof n),
                    text_thousands(data->n_expected, expected, sizeof expected));
    text_append(out, "<p>%s point%s", text_thousands(data->n_mark, n, sizeof n), text_plural(data->n_mark));
    for (int s = 0; s < RESULT_STATUS_COUNT; s++)
        if (count[s])
            text_append(out, ", %s %s", text_thousands(count[s], n, sizeof n),
                        result_status_text((enum result_status)s));
    text_init(&fixed);
    plot_fixed_text(&data->plot, &fixed);
    if (fixed.length) {
        text_append_string(out, "; ");
        html_text(out, fixed.data);
    }
    text_free(&fixed);
    text_append_string(out, ".</p>\n");
}

static void put_links(const struct page_data *data, struct text_buffer *out)
{
    text_append_string(out, "<nav><a href=\"#varied\">What was varied</a> <a href=\"#best\">The best</a> ");
    if (!page_is_single(data))
        text_append_string(out, "<a href=\"#map\">All points</a> <a href=\"#front\">Compromises</a> ");
    text_append_string(out, "<a href=\"#breakdown\">What the best is made of</a> "
                            "<a href=\"#gaps\">Gaps</a> <a href=\"#failures\">Failures</a> "
                            "<a href=\"#origin\">Repeat it</a></nav>\n</header>\n<main>\n");
}

enum dse_status page_write(struct page_data *data, const struct page_words *words, struct text_buffer *out,
                           struct dse_error *err)
{
    put_head(data, words, out);
    put_counts(data, out);
    put_links(data, out);
    DSE_TRY(page_varied(data, words, out, err));
    DSE_TRY(page_best_points(data, out, err));
    DSE_TRY(page_map(data, out, err));
    if (!page_is_single(data))
        DSE_TRY(page_front(data, out, err));
    DSE_TRY(page_breakdown(data, out, err));
    DSE_TRY(page_gaps(data, out, err));
    page_failures(data, words, out);
    page_origin(data, words, out);
    text_append_string(out, "</main>\n");
    if (!page_is_single(data)) {
        DSE_TRY(page_map_data(data, out, err));
        text_append_string(out, "<script>\n");
        text_append_string(out, page_js);
        text_append_string(out, "</script>\n");
    }
    text_append_string(out, "</body>\n</html>\n");
    return text_check(out, "the page", err);
}
