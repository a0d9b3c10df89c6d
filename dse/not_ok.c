#include "dse/not_ok.h"

#include <ctype.h>
#include <string.h>

#include "results/journal.h"

enum { LIST_MAX = 20, LABEL_MAX = 256 };

/* Letters of a column's name without the unit: "DRAM.bandwidth" of "DRAM.bandwidth_byte_per_s". */
static size_t length_without_unit(const struct result_coordinate *c)
{
    char ending[64] = "_";
    size_t n = 1, length = strlen(c->name);
    for (const char *at = c->unit; *at && n + 6 < sizeof ending; at++) {
        if (*at == '/') {
            memcpy(ending + n, "_per_", 5);
            n += 5;
        } else {
            ending[n++] = (char)tolower((unsigned char)*at);
        }
    }
    ending[n] = '\0';
    return n > 1 && length > n && strcmp(c->name + length - n, ending) == 0 ? length - n : length;
}

/* Append one coordinate whose text begins at `at`; returns where it ends, or NULL when it is no value of this axis. */
static const char *append_coordinate(const struct result_axis *axis, const struct result_coordinate *c,
                                     const char *at, struct text_buffer *out)
{
    char buffer[LABEL_MAX];
    size_t name = strlen(c->name), longest = 0, found = 0;
    if (strncmp(at, c->name, name) != 0 || at[name] != '=')
        return NULL;
    at += name + 1;
    for (size_t i = 0; i < axis->n_value; i++) {
        const char *text = coordinate_text(c, i, buffer, sizeof buffer);
        size_t length = strlen(text);
        if (length > longest && strncmp(at, text, length) == 0 && (at[length] == ' ' || at[length] == '\0')) {
            longest = length;
            found = i;
        }
    }
    if (longest == 0)
        return NULL;
    text_append(out, "%s%.*s=%s", out->length ? " " : "", (int)length_without_unit(c), c->name,
                coordinate_label(c, found, buffer, sizeof buffer));
    return at[longest] == ' ' ? at + longest + 1 : at + longest;
}

void not_ok_place(const struct result_schema *schema, const char *place, struct text_buffer *out)
{
    struct text_buffer text;
    const char *at = place;
    text_init(&text);
    for (size_t a = 0; at && schema && a < schema->n_axis; a++)
        for (size_t k = 0; at && k < schema->axis[a].n_coordinate; k++)
            at = append_coordinate(&schema->axis[a], &schema->axis[a].coordinate[k], at, &text);
    text_append(out, "%s", at && *at == '\0' && text.data && !text.failed ? text.data : place);
    text_free(&text);
}

struct list {
    const struct result_schema *schema;
    const char *before, *indent;
    FILE *stream;
    size_t n;
};

static bool print_one(void *user, uint64_t key, const char *place, const char *status, const char *reason)
{
    struct list *list = user;
    struct text_buffer text;
    (void)key;
    if (list->n++ == 0)
        fputs(list->before, list->stream);
    if (list->n > LIST_MAX)
        return true;
    text_init(&text);
    not_ok_place(list->schema, place, &text);
    const char *shown = text.failed || !text.data ? place : text.data;
    fprintf(list->stream, "%s%-10s %s%s%s\n", list->indent, status, shown, shown[0] ? ": " : "", reason);
    text_free(&text);
    return true;
}

enum dse_status not_ok_list(const char *out, const struct result_schema *schema, const char *before,
                            const char *indent, FILE *stream, struct dse_error *err)
{
    struct list list = {schema, before, indent, stream, 0};
    DSE_TRY(journal_each_not_ok(out, print_one, &list, err));
    if (list.n > LIST_MAX)
        fprintf(stream, "%s... and %zu more: see the columns status and reason\n", indent, list.n - LIST_MAX);
    return DSE_OK;
}
