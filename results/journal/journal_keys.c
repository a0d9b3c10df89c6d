/* An array sorted by key, with the last line that has it. */
#include "results/journal/journal_keys.h"

#include <stdlib.h>

#include "base/array.h"
#include "results/journal/journal_read.h"

static int by_key(const void *a, const void *b)
{
    const struct journal_key *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static enum dse_status read_all(struct journal_keys *keys, struct line_reader *reader, struct dse_error *err)
{
    size_t capacity = 0;
    bool more;
    for (;;) {
        uint64_t key;
        DSE_TRY(line_reader_next(reader, &more, err));
        if (!more)
            return DSE_OK;
        /* A damaged line has no layers: those that were its own are nobody's. */
        if (!csv_seal_holds(reader->line, reader->length) ||
            !csv_line_key(reader->line, reader->length, &key))
            continue;
        struct journal_key *grown = array_grow(keys->entry, keys->n + 1, &capacity, sizeof *grown);
        if (!grown)
            return dse_fail(err, DSE_NO_MEMORY, "out of memory for %zu point keys", keys->n);
        keys->entry = grown;
        keys->entry[keys->n++] = (struct journal_key){key, (uint64_t)reader->number};
    }
}

enum dse_status journal_keys_read(struct journal_keys *keys, const char *csv_path, struct dse_error *err)
{
    struct line_reader reader;
    *keys = (struct journal_keys){0};
    DSE_TRY(line_reader_open(&reader, csv_path, err));
    enum dse_status status = read_all(keys, &reader, err);
    line_reader_close(&reader);
    if (status != DSE_OK)
        journal_keys_free(keys);
    else if (keys->n > 0)
        qsort(keys->entry, keys->n, sizeof *keys->entry, by_key);
    return status;
}

void journal_keys_free(struct journal_keys *keys)
{
    free(keys->entry);
    *keys = (struct journal_keys){0};
}

uint64_t journal_keys_last(const struct journal_keys *keys, uint64_t key)
{
    size_t low = 0, high = keys->n; /* the first entry with a greater key */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (keys->entry[middle].key <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && keys->entry[low - 1].key == key ? keys->entry[low - 1].line : 0;
}
