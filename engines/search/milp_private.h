/* What a model is made of, for milp.c (building) and milp_solve.c (solving) only. */
#ifndef ENGINES_SEARCH_MILP_PRIVATE_H
#define ENGINES_SEARCH_MILP_PRIVATE_H

#include "engines/search/milp.h"

enum { MILP_NAME_MAX = 48 };

struct milp_variable {
    enum milp_kind kind;
    double lowest, highest, cost;
    char name[MILP_NAME_MAX];
};

struct milp_row {
    double lowest, highest;
    uint32_t first, n_term; /* in milp.term */
    char name[MILP_NAME_MAX];
};

/* Arrays that grow in the arena: n_... of ..._room items are used. */
struct milp {
    struct arena *arena;
    uint32_t n_variable, variable_room;
    struct milp_variable *variable;
    uint32_t n_row, row_room;
    struct milp_row *row;
    uint32_t n_term, term_room;
    struct milp_term *term;
};

#endif
