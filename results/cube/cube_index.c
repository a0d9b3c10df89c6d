/* An external merge sort: sorted runs go to a scratch file, and a step takes the smallest entry of all
 * runs. */
#include "results/cube/cube_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "results/journal/scratch_file.h"

enum { FIRST_CAPACITY = 1024, RUN_ENTRY_MIN = 64 };

struct cube_run {
    uint64_t next, end;    /* entries in the file that are not in memory yet */
    struct cube_entry *at; /* in its part of the buffer */
    size_t used, n;        /* of that part */
};

void cube_index_init(struct cube_index *index, size_t n_max, const char *near)
{
    *index = (struct cube_index){
        .n_max = n_max > FIRST_CAPACITY ? n_max : FIRST_CAPACITY, .near = near, .in_order = 1};
}

void cube_index_free(struct cube_index *index)
{
    if (index->file)
        fclose(index->file);
    free(index->entry);
    free(index->run);
    *index = (struct cube_index){0};
}

static int by_cell(const void *a, const void *b)
{
    const struct cube_entry *x = a, *y = b;
    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static void sort_run(const struct cube_index *index)
{
    if (!index->in_order)
        qsort(index->entry, index->n, sizeof *index->entry, by_cell);
}

static enum dse_status fail_io(const struct cube_index *index, struct dse_error *err)
{
    return dse_fail_at(err, DSE_IO, index->near, 0, "the temporary file beside it: %s",
                       strerror(errno ? errno : EIO));
}

/* Put the entries in memory into the file as one more run. */
static enum dse_status spill(struct cube_index *index, struct dse_error *err)
{
    struct cube_run *run = realloc(index->run, (index->n_run + 1) * sizeof *run);
    if (!run)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the order of the points");
    index->run = run;
    if (!index->file)
        DSE_TRY(scratch_file_open(index->near, &index->file, err));
    sort_run(index);
    errno = 0;
    if (fwrite(index->entry, sizeof *index->entry, index->n, index->file) != index->n)
        return fail_io(index, err);
    uint64_t begin = index->n_run ? run[index->n_run - 1].end : 0;
    run[index->n_run++] = (struct cube_run){.next = begin, .end = begin + index->n};
    index->n = 0;
    index->in_order = 1;
    return DSE_OK;
}

enum dse_status cube_index_add(struct cube_index *index, const struct cube_entry *entry,
                               struct dse_error *err)
{
    if (index->n == index->capacity && index->capacity < index->n_max) {
        size_t capacity = index->capacity ? 2 * index->capacity : FIRST_CAPACITY;
        capacity = capacity < index->n_max ? capacity : index->n_max;
        struct cube_entry *grown = realloc(index->entry, capacity * sizeof *grown);
        if (!grown)
            return dse_fail(err, DSE_NO_MEMORY, "out of memory for %zu points", capacity);
        index->entry = grown;
        index->capacity = capacity;
    } else if (index->n == index->capacity) {
        DSE_TRY(spill(index, err));
    }
    if (index->n && entry->cell < index->entry[index->n - 1].cell)
        index->in_order = 0;
    index->entry[index->n++] = *entry;
    index->n_all++;
    index->n_exchanged += entry->exchanged;
    return DSE_OK;
}

enum dse_status cube_index_finish(struct cube_index *index, struct dse_error *err)
{
    if (!index->file) {
        sort_run(index);
        return DSE_OK;
    }
    DSE_TRY(spill(index, err));
    errno = 0;
    if (fflush(index->file) != 0)
        return fail_io(index, err);
    size_t part = index->capacity / index->n_run;
    if (part < RUN_ENTRY_MIN) {
        part = RUN_ENTRY_MIN;
        free(index->entry);
        index->entry = malloc(index->n_run * part * sizeof *index->entry);
        if (!index->entry)
            return dse_fail(err, DSE_NO_MEMORY, "out of memory for the order of the points");
    }
    for (size_t r = 0; r < index->n_run; r++)
        index->run[r].at = index->entry + r * part;
    index->capacity = part;
    return DSE_OK;
}

/* Read on in a run whose part of the buffer is used up. */
static enum dse_status refill(const struct cube_index *index, struct cube_run *run, struct dse_error *err)
{
    uint64_t left = run->end - run->next;
    run->n = left < index->capacity ? (size_t)left : index->capacity;
    run->used = 0;
    if (run->n == 0)
        return DSE_OK;
    errno = 0;
    if (fseeko(index->file, (off_t)(run->next * sizeof *run->at), SEEK_SET) != 0 ||
        fread(run->at, sizeof *run->at, run->n, index->file) != run->n)
        return fail_io(index, err);
    run->next += run->n;
    return DSE_OK;
}

enum dse_status cube_index_next(struct cube_index *index, const struct cube_entry **entry,
                                struct dse_error *err)
{
    struct cube_run *lowest = NULL;
    *entry = NULL;
    if (!index->file) {
        if (index->next < index->n)
            *entry = &index->entry[index->next++];
        return DSE_OK;
    }
    for (size_t r = 0; r < index->n_run; r++) {
        struct cube_run *run = &index->run[r];
        if (run->used == run->n)
            DSE_TRY(refill(index, run, err));
        if (run->n && (!lowest || run->at[run->used].cell < lowest->at[lowest->used].cell))
            lowest = run;
    }
    if (lowest)
        *entry = &lowest->at[lowest->used++];
    return DSE_OK;
}
