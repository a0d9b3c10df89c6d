/* A list of errors in the order of their places. */
#include "dse/spec/spec_faults.h"

#include <stdlib.h>
#include <string.h>

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

void spec_faults_print(struct dse_faults *faults, const char *path, struct text_buffer *out)
{
    char text[DSE_ERROR_FILE_MAX + DSE_ERROR_TEXT_MAX + 32];
    struct placed placed[DSE_FAULT_MAX];
    size_t n = faults->n < DSE_FAULT_MAX ? faults->n : DSE_FAULT_MAX;
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
