/* Which of the texts of a point's rows are the same: a mapping that several layers share is stored once, and
 * the others name the layer that has it. */
#ifndef RESULTS_RECORD_SAME_TEXT_H
#define RESULTS_RECORD_SAME_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct same_text_row;

/* The different texts of one point so far; reused from point to point. */
struct same_text {
    struct same_text_row *row; /* (capacity) owned */
    size_t n, capacity;
};

void same_text_init(struct same_text *same);
void same_text_clear(struct same_text *same); /* the next point */
void same_text_free(struct same_text *same);

/* The name of the first row that had this text; NULL: none had, and this one is remembered as `name`. Both
 * are borrowed until same_text_clear. NULL or "" is like no other. NULL also where there is no memory, as a
 * text that is stored twice does no harm. */
const char *same_text_find(struct same_text *same, const char *text, const char *name);

#endif
