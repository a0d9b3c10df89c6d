/* The keys of all points of a journal, which a scan needs only when the layers do not stand beside their
 * points. */
#ifndef RESULTS_JOURNAL_JOURNAL_KEYS_H
#define RESULTS_JOURNAL_JOURNAL_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct journal_keys {
    struct journal_key {
        uint64_t key, line;
    } * entry; /* (n) by key, then line; owned */
    size_t n;
};

/* Read the keys of OUT.csv. DSE_IO, DSE_NO_MEMORY; then nothing needs to be released. */
DSE_MUST_CHECK enum dse_status journal_keys_read(struct journal_keys *keys, const char *csv_path,
                                                 struct dse_error *err);
void journal_keys_free(struct journal_keys *keys);

/* The last line that has this key; 0: none. */
uint64_t journal_keys_last(const struct journal_keys *keys, uint64_t key);

#endif
