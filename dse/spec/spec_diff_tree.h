/* Differences of two YAML trees as lines of text: for spec_diff.c. */
#ifndef DSE_SPEC_SPEC_DIFF_TREE_H
#define DSE_SPEC_SPEC_DIFF_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/text.h"
#include "base/yaml.h"

enum { DIFF_SHOWN_MAX = 60, DIFF_LINE_MAX = 12 };

enum change_kind { CHANGE_RESULT, CHANGE_AXIS, CHANGE_COSMETIC, CHANGE_KIND_COUNT };

/* Lines of each kind, at most DIFF_LINE_MAX, and how many there would be. Starts as all zero with an empty
 * arena. */
struct diff {
    struct text_buffer line[CHANGE_KIND_COUNT];
    size_t n[CHANGE_KIND_COUNT];
    struct arena arena;
    bool failed;  /* out of memory */
    bool too_big; /* a list was longer than what is compared */
};

/* One more line. */
void diff_add(struct diff *diff, enum change_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A user's text for a line, cut to DIFF_SHOWN_MAX, which is the size of `shown`. Returns `shown`. */
const char *diff_show(const char *text, char *shown);

/* Two nodes at the same path, either of which may be NULL. Mappings are compared key by key whatever their
 * order, lists by what is new and gone. */
void diff_node(struct diff *diff, enum change_kind kind, const char *path, const struct ynode *was,
               const struct ynode *is);

/* Two mappings (NULL: empty); `path` goes before each key. */
void diff_keys(struct diff *diff, enum change_kind kind, const char *path, const struct ynode *was,
               const struct ynode *is);

/* Two lists (or the keys of two mappings; NULL: empty): "WHAT: A, B are new; C is gone". */
void diff_list(struct diff *diff, enum change_kind kind, const char *what, const struct ynode *was,
               const struct ynode *is);

#endif
