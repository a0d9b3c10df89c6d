/* Whole networks cut with one tile size for all layers, and what an independent program (Python, with
 * MAESTRO's cycles, 1000 words a cycle) says of their uops. */
#ifndef TESTS_SUPPORT_UOP_KNOWN_H
#define TESTS_SUPPORT_UOP_KNOWN_H

#include "costmodel/uop/uop_graph.h"

enum { UOP_KNOWN_N = 8 };

/* Numbers of cores. */
extern const uint32_t uop_known_core[3];

struct uop_known_row {
    const char *network;
    struct uop_cut cut;
    uint32_t n_segment;
    double bound[3]; /* by uop_known_core, to four digits: by work alone, so no more than ours */
    double list[3];  /* b-level list schedules over it */
};
extern const struct uop_known_row uop_known_row[UOP_KNOWN_N];

/* A graph of a network of experiments/networks. */
struct uop_known {
    struct network network;
    struct uop_network uops;
    struct uop_graph graph;
    struct arena arena; /* the test's, too */
};

/* Ends the program, with the message, when something fails. */
void uop_known_open(const char *network, struct uop_cut cut, struct uop_known *known);
void uop_known_close(struct uop_known *known);

#endif
