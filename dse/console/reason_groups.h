/* Points that are not ok, or have a note, grouped by why: numbers and the names of layers, architectures and
 * networks do not count, so that 500 points with one cause are one line. */
#ifndef DSE_CONSOLE_REASON_GROUPS_H
#define DSE_CONSOLE_REASON_GROUPS_H

#include <stdint.h>

#include "base/text.h"
#include "results/record/schema.h"

enum {
    REASON_GROUP_MAX = 128, /* kept; the rarest make room for new ones */
    REASON_TEXT_MAX = 400,  /* longer reasons are cut */
    REASON_PLACE_MAX = 400,
    REASON_SLOT_MAX = 24 /* words and numbers that may differ within a group */
};

/* Points with one status and one kind of reason. */
struct reason_group {
    uint64_t hash; /* of status and folded reason */
    uint64_t n;
    uint64_t order; /* of the example: the lowest seen */
    enum result_status status;
    uint32_t n_slot, differs; /* bit i: slot i is not the same in all points */
    uint16_t begin[REASON_SLOT_MAX], length[REASON_SLOT_MAX]; /* in `reason` */
    char reason[REASON_TEXT_MAX];                             /* of the first */
    char place[REASON_PLACE_MAX];                             /* of the example */
};

/* Constant in size. All zero is empty. */
struct reason_groups {
    size_t n;
    struct reason_group group[REASON_GROUP_MAX];
    uint64_t n_other; /* points of groups that made room */
    uint64_t n_status[RESULT_STATUS_COUNT];
};

void reason_groups_clear(struct reason_groups *groups);

/* Add a point. Returns its group when this is the point to show as its example (it has the lowest `order` so
 * far): the caller fills in `place`. Else NULL. */
struct reason_group *reason_groups_add(struct reason_groups *groups, enum result_status status,
                                       const char *reason, uint64_t order);

/* The group that such a point is in; NULL: none, or it made room. */
const struct reason_group *reason_groups_find(const struct reason_groups *groups, enum result_status status,
                                              const char *reason);

/* Set the example's place; too long a text is cut. */
void reason_group_place(struct reason_group *group, const char *place);

/* Notes of what is ok last; largest first; ties by status and text. */
void reason_groups_sort(struct reason_groups *groups);

/* The reason with "*" for what is not the same in all points of the group. */
void reason_group_text(const struct reason_group *group, struct text_buffer *out);

/* Two lines for each of the first `most` groups, and a line about the others. Sorts. Nothing when there are
 * no groups. */
void reason_groups_print(struct reason_groups *groups, size_t most, const char *indent,
                         struct text_buffer *out);

#endif
