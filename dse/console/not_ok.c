/* Turns the place of a journal row ("axis=value ...") back into the words of the specification, with
 * units. */
#include "dse/console/not_ok.h"

#include <ctype.h>
#include <string.h>

#include "results/journal/journal.h"

enum { LABEL_MAX = 256 };

size_t not_ok_name_length(const struct result_coordinate *c)
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

/* Append one coordinate whose text begins at `at`; returns where it ends, or NULL when it is no value of this
 * axis. */
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
    text_append(out, "%s%.*s=%s", out->length ? " " : "", (int)not_ok_name_length(c), c->name,
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

void not_ok_place_of(const struct result_schema *schema, const uint32_t *index, struct text_buffer *out)
{
    char label[LABEL_MAX];
    size_t n = 0;
    for (size_t a = 0; a < schema->n_axis; a++)
        for (size_t k = 0; k < schema->axis[a].n_coordinate; k++) {
            const struct result_coordinate *c = &schema->axis[a].coordinate[k];
            text_append(out, "%s%.*s=%s", n++ ? " " : "", (int)not_ok_name_length(c), c->name,
                        coordinate_label(c, index[a], label, sizeof label));
        }
}

struct list {
    const struct result_schema *schema;
    FILE *stream;
    size_t n, most;
};

static bool print_one(void *user, uint64_t key, const char *place, const char *status, const char *reason)
{
    struct list *list = user;
    struct text_buffer text;
    (void)key;
    if (list->n++ >= list->most)
        return true;
    text_init(&text);
    not_ok_place(list->schema, place, &text);
    const char *shown = text.failed || !text.data ? place : text.data;
    fprintf(list->stream, "%-10s %s%s%s\n", status, shown, shown[0] ? ": " : "", reason);
    text_free(&text);
    return true;
}

enum dse_status not_ok_list(const char *out, const struct result_schema *schema, size_t most, FILE *stream,
                            struct dse_error *err)
{
    struct list list = {schema, stream, 0, most};
    DSE_TRY(journal_each_not_ok(out, print_one, &list, err));
    if (list.n > most)
        fprintf(stream, "... and %zu more\n", list.n - most);
    return DSE_OK;
}
