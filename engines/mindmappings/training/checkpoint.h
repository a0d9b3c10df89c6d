/* What long work has got so far: a file of records of one size, each with its checksum. After a kill the same
 * work finds those that are whole and goes on from there. */
#ifndef ENGINES_MINDMAPPINGS_TRAINING_CHECKPOINT_H
#define ENGINES_MINDMAPPINGS_TRAINING_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { CHECKPOINT_PATH_MAX = 4096 };

struct checkpoint {
    int fd; /* -1: not open */
    uint64_t identity;
    size_t record_byte;
    char path[CHECKPOINT_PATH_MAX];
};

/* Open PATH or make it, for this process alone. `identity` is a hash of all that determines the work: records
 * of other work are not found. DSE_IO. DSE_BAD_USAGE: another process has it. DSE_BAD_INPUT: something else
 * lies there. */
DSE_MUST_CHECK enum dse_status checkpoint_open(struct checkpoint *checkpoint, const char *path,
                                               uint64_t identity, size_t record_byte, struct dse_error *err);

/* Read record `number` (record_byte); false when it is not there, not whole, or of other work. */
bool checkpoint_get(const struct checkpoint *checkpoint, uint64_t number, void *record);

/* Write it. DSE_IO. */
DSE_MUST_CHECK enum dse_status checkpoint_put(const struct checkpoint *checkpoint, uint64_t number,
                                              const void *record, struct dse_error *err);

/* Close it; `finished`: and remove it, the work being done. */
void checkpoint_close(struct checkpoint *checkpoint, bool finished);

#endif
