/* Searches of Interstellar's authors' program and what they found, for tests and benchmarks of the engine. */
#ifndef TESTS_SUPPORT_INTERSTELLAR_SEARCH_H
#define TESTS_SUPPORT_INTERSTELLAR_SEARCH_H

#include "engines/driver/engine.h"

enum { INTERSTELLAR_SEARCH_MAX = 320, INTERSTELLAR_NAME_MAX = 48 };

/* A row of tests/known/interstellar/public.csv. */
struct interstellar_search {
    char arch[INTERSTELLAR_NAME_MAX], layer[INTERSTELLAR_NAME_MAX], schedule[INTERSTELLAR_NAME_MAX];
    uint32_t bound[8]; /* as interstellar_layer takes them */
    bool feasible;
    double energy_pj; /* without MACs */
    double n_point;   /* points that the search prices; 0: not known */
    double python_s;  /* CPU seconds of the authors' program; 0: not run */
};

/* Returns how many. */
int interstellar_searches_load(struct interstellar_search *search, int max);

/* Machine, layer and, unless `free`, the row's schedule. */
struct interstellar_task {
    struct architecture arch;
    struct problem problem;
    struct mapspace_constraints *constraints; /* NULL: none; owned */
};
void interstellar_task_init(struct interstellar_task *task, const struct interstellar_search *search,
                            bool free);
void interstellar_task_free(struct interstellar_task *task);

/* Search for the least energy by the engine with one option set ("mode=enumerate") or NULL. */
enum dse_status interstellar_task_solve(const struct interstellar_task *task, bool compat, const char *option,
                                        const struct objective *objective, struct engine_budget budget,
                                        struct engine_result *result, struct dse_error *err);

#endif
