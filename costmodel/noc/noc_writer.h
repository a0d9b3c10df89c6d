/* What the writers of a program share: the state of a walk, and one transaction. Private to noc_program.c and
 * noc_deliver.c. */
#ifndef COSTMODEL_NOC_NOC_WRITER_H
#define COSTMODEL_NOC_NOC_WRITER_H

#include "costmodel/noc/noc_plan.h"

enum { HISTORY = 3 /* this step and the two before it */ };

/* Where the tiles of a buffer stand. Tile n is in place n % 2. */
struct noc_tiles {
    uint32_t n;      /* that came in so far */
    uint32_t before; /* first NOC_COUNT of the last step that used the tile before this one, or NOC_NONE */
};

/* noc_deliver.c */
struct noc_delivery {
    struct noc_tiles pe[PROBLEM_TENSOR_MAX], buffer[PROBLEM_TENSOR_MAX];
    uint32_t fetched[PROBLEM_TENSOR_MAX]; /* the last transfer into the buffer, or NOC_NONE */
    uint32_t counts, old_counts;          /* first NOC_COUNT of this step and the one before, or NOC_NONE */
    uint32_t stores[2];                   /* first store of the last outputs in that place of the PEs */
    uint32_t written[2];                  /* when the last outputs in that place of the buffer had left */
};

/* The state of one pass over the walk. The first pass counts (`fill` false), the second writes. */
struct noc_writer {
    const struct noc_plan *plan;
    const struct noc_walk *walk;
    struct noc_program *program;
    const atomic_int *cancel;
    bool fill;
    uint32_t *first_count; /* of each step, or NULL */
    uint64_t position[NOC_LOOP_MAX], digit[NOC_LOOP_MAX];
    uint64_t outer_step, inner_step;       /* outside the network's level, and inside one of those */
    uint32_t counts[HISTORY];              /* first NOC_COUNT of inner step s at s % HISTORY */
    uint32_t last_counts[HISTORY];         /* the same of the last inner step of an outer step */
    uint32_t sent[PROBLEM_TENSOR_MAX];     /* first transaction of a stream in this step, or NOC_NONE */
    uint32_t *fetched[PROBLEM_TENSOR_MAX]; /* transfers into the buffer so far */
    uint32_t n_fetched[PROBLEM_TENSOR_MAX];
    uint32_t *left[HISTORY]; /* (n_pe) what took a PE's outputs away in inner step s, or NOC_NONE */
    uint32_t first_link;     /* of this step */
    uint32_t store,
        old_store; /* first store of this step and of the one before in this outer step, or NOC_NONE */
    struct noc_delivery delivery; /* not compat */
};

static inline void noc_begin(struct noc_writer *w, enum noc_operation operation, uint32_t actor,
                             uint32_t size)
{
    struct noc_program *p = w->program;
    if (w->fill)
        p->transaction[p->n_transaction] =
            (struct noc_transaction){.operation = operation,
                                     .actor = actor,
                                     .size = size,
                                     .first_destination = (uint32_t)p->n_destination,
                                     .first_dependency = (uint32_t)p->n_dependency};
}

static inline void noc_to(struct noc_writer *w, uint32_t port)
{
    struct noc_program *p = w->program;
    if (w->fill) {
        p->destination[p->n_destination] = port;
        p->transaction[p->n_transaction].n_destination++;
    }
    p->n_destination++;
}

static inline void noc_after(struct noc_writer *w, uint32_t id)
{
    struct noc_program *p = w->program;
    if (w->fill) {
        p->dependency[p->n_dependency] = id;
        p->transaction[p->n_transaction].n_dependency++;
    }
    p->n_dependency++;
}

static inline uint32_t noc_end(struct noc_writer *w)
{
    return w->program->n_transaction++;
}

/* The transactions of one step where the traffic is the cost model's. `advanced`: the loop that went on to
 * come here (n_loop: the first step); `next`: the one that will go on behind it (n_loop: the end). */
void noc_deliver_init(struct noc_writer *w);
void noc_deliver_step(struct noc_writer *w, uint32_t advanced, uint32_t next);

#endif
