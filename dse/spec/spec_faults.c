/* A list of errors without repeats: what is wrong with an axis is wrong with each of its values. */
#include "dse/spec/spec_faults.h"

#include <stdlib.h>
#include <string.h>

static bool is_of_input(enum dse_status status)
{
    return status == DSE_BAD_INPUT || status == DSE_BAD_USAGE || status == DSE_IO || status == DSE_LIMIT;
}

enum dse_status spec_note(struct spec_faults *faults, enum dse_status status, struct dse_error *err)
{
    if (!faults || !is_of_input(status))
        return status;
    size_t n_kept = faults->n < SPEC_FAULT_MAX ? faults->n : SPEC_FAULT_MAX;
    bool is_there = false;
    for (size_t i = 0; i < n_kept; i++)
        is_there |=
            strcmp(faults->fault[i].text, err->text) == 0 && strcmp(faults->fault[i].file, err->file) == 0;
    if (!is_there && faults->n < SPEC_FAULT_MAX)
        faults->fault[faults->n] = *err;
    faults->n += !is_there;
    *err = (struct dse_error){0};
    return DSE_OK;
}

/* A fault with the place that it has among those of other files. */
struct placed {
    const struct dse_error *fault;
    size_t file, i;
};

static int by_place(const void *a, const void *b)
{
    const struct placed *p = a, *q = b;
    if (p->file != q->file)
        return p->file < q->file ? -1 : 1;
    if (p->fault->line != q->fault->line)
        return p->fault->line < q->fault->line ? -1 : 1;
    return p->i < q->i ? -1 : p->i > q->i;
}

void spec_faults_print(struct spec_faults *faults, const char *path, struct text_buffer *out)
{
    char text[DSE_ERROR_FILE_MAX + DSE_ERROR_TEXT_MAX + 32];
    struct placed placed[SPEC_FAULT_MAX];
    size_t n = faults->n < SPEC_FAULT_MAX ? faults->n : SPEC_FAULT_MAX;
    size_t shown = n < SPEC_FAULT_SHOWN ? n : SPEC_FAULT_SHOWN;
    for (size_t i = 0; i < n; i++) {
        const struct dse_error *fault = &faults->fault[i];
        placed[i] = (struct placed){fault, i + 1, i};
        for (size_t k = i; k-- > 0;)
            if (strcmp(faults->fault[k].file, fault->file) == 0)
                placed[i].file = placed[k].file;
        if (path && strcmp(fault->file, path) == 0)
            placed[i].file = 0;
    }
    qsort(placed, n, sizeof *placed, by_place);
    for (size_t i = 0; i < shown; i++)
        text_append(out, "dse: %s\n", dse_error_print(placed[i].fault, text, sizeof text));
    if (faults->n > shown)
        text_append(out, "dse: and %zu more\n", faults->n - shown);
}
