/* A sweep as one page of HTML that loads nothing: drawings are SVG within it, and what a small script needs
 * to show other metrics lies in it too. Without the script, and on paper, all but that is there. */
#ifndef RESULTS_PAGE_PAGE_H
#define RESULTS_PAGE_PAGE_H

#include "base/status.h"
#include "base/text.h"
#include "results/page/page_data.h"

/* Points that are not ok for one reason. Texts are borrowed, and may be anything. */
struct page_reason {
    uint64_t n;
    const char *status, *reason;
    const char *example; /* where one of them is */
};

/* What the page says that the result files do not. Texts are borrowed. */
struct page_words {
    const char *title;                /* NULL: that of the specification */
    const char *objective;            /* what was minimised; NULL: it was varied */
    const char *const *name;          /* (n_source of the data) the files, as people know them */
    const char *command, *rerun;      /* what computes the sweep anew, and what computes the files again */
    const struct page_reason *reason; /* (n_reason) most points first */
    size_t n_reason;
    uint64_t n_other; /* points of reasons that are not listed */
};

/* Append the page. The same files and words make the same bytes. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status page_write(struct page_data *data, const struct page_words *words,
                                          struct text_buffer *out, struct dse_error *err);

#endif
