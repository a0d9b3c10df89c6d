/* A list with lengths and hashes: a point has some hundred layers at most that differ. */
#include "results/record/same_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct same_text_row {
    const char *text, *name;
    size_t length;
    uint64_t hash;
};

void same_text_init(struct same_text *same)
{
    *same = (struct same_text){0};
}

void same_text_clear(struct same_text *same)
{
    same->n = 0;
}

void same_text_free(struct same_text *same)
{
    free(same->row);
    same_text_init(same);
}

const char *same_text_find(struct same_text *same, const char *text, const char *name)
{
    enum { FIRST_CAPACITY = 64 };
    if (!text || !text[0])
        return NULL;
    struct same_text_row one = {.text = text, .name = name, .length = strlen(text)};
    one.hash = hash_of_bytes(text, one.length);
    for (size_t i = 0; i < same->n; i++) {
        const struct same_text_row *row = &same->row[i];
        if (row->hash == one.hash && row->length == one.length && memcmp(row->text, text, one.length) == 0)
            return row->name;
    }
    if (same->n == same->capacity) {
        size_t capacity = same->capacity ? 2 * same->capacity : FIRST_CAPACITY;
        struct same_text_row *row = realloc(same->row, capacity * sizeof *row);
        if (!row)
            return NULL;
        same->row = row;
        same->capacity = capacity;
    }
    same->row[same->n++] = one;
    return NULL;
}
