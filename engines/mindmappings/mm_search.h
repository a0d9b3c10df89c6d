/* What the engines over Mind Mappings' map space share: the space of a task, and its members as a search
 * space whose moves draw or exchange whole attributes. */
#ifndef ENGINES_MINDMAPPINGS_MM_SEARCH_H
#define ENGINES_MINDMAPPINGS_MM_SEARCH_H

#include "engines/driver/driver.h"
#include "engines/mindmappings/mm_space.h"
#include "engines/search/search_space.h"

/* The first option of every engine here. */
#define MM_OPTION_MODE                                                                                       \
    {                                                                                                        \
        "mode", "what becomes of a tile that does not fit its banks: its buffer is bypassed, or no mapping", \
            "", OPTION_CHOICE, MM_AUTOBYPASS, 0, MM_MODE_COUNT - 1, mm_mode_name                             \
    }

/* What they take (struct engine, takes_only). */
#define MM_TAKES_ONLY                                                                                        \
    "machines such as mindmappings_banks, for convolutions without stride, groups and dilation, and "        \
    "mindmappings_mttkrp_banks, for MTTKRP; no constraints"

struct mm_search {
    struct engine_context *context;
    struct mm_machine machine;
    const struct mm_space *space;
    struct mapping decoded; /* of the point priced last */
    bool trial;             /* prices are trials (engine_context_try) */
    /* points are struct mm_mapping; `self` is this struct, which must stay where it is */
    struct search_space hooks;
};

/* The hooks of the engines (struct engine): the machine is one of Mind Mappings', the loop nest one of its
 * algorithm, and there are no constraints, which vectors do not know. */
DSE_MUST_CHECK enum dse_status mm_takes_machine(const struct engine_question *question,
                                                struct dse_error *err);
DSE_MUST_CHECK enum dse_status mm_takes_task(const struct engine_question *question, struct dse_error *err);

/* Find machine and problem, which the task has, and fill in the hooks. */
DSE_MUST_CHECK enum dse_status mm_search_init(struct mm_search *search, struct engine_context *context,
                                              enum mm_mode mode, struct dse_error *err);

/* Price a member as evaluate does. */
enum search_outcome mm_search_price(struct mm_search *search, const struct mm_mapping *mapping, double *cost);

#endif
