/* What levels around an array still owe for tensors that pass by the levels inside it. An array shares their
 * words: a level around it serves as many visits as the level further in asks for, less the iterations of
 * the arrays between that use the same words. So its energy is known only further in, and the ways into a
 * tile differ in what they owe there. */
#ifndef ENGINES_INTERSTELLAR_BLOCKING_DEBT_H
#define ENGINES_INTERSTELLAR_BLOCKING_DEBT_H

#include "engines/interstellar/array_choice.h"

enum { DEBT_CHARGE_MAX = 24 };

/* visit_j for each visit of every word of a tensor, counted without the iterations of the arrays passed. */
struct blocking_charge {
    double visit_j;
    double word;                     /* what the model's pending level serves in each such visit */
    double together;                 /* of dimensions whose iterations need not be told apart */
    uint32_t apart[PROBLEM_DIM_MAX]; /* of each other one (n_dim); else 1 */
    uint8_t tensor;
};

struct blocking_debt {
    uint32_t n;
    struct blocking_charge charge[DEBT_CHARGE_MAX]; /* (n) */
};

/* What an array does to debts: iterations and hops of one choice, or most iterations and least hops of all.
 */
struct debt_array {
    double together[PROBLEM_TENSOR_MAX], hop[PROBLEM_TENSOR_MAX]; /* (n_tensor) */
    uint32_t apart[PROBLEM_DIM_MAX];                              /* (n_dim) */
};

void debt_array_of(const struct blocking_model *model, const struct array_choice *choice,
                   struct debt_array *out);
/* Over all choices (n > 0). */
void debt_array_least(const struct blocking_model *model, const struct array_choices *choices,
                      struct debt_array *out);

/* The debts in front of the next level further in, behind the array below level v (NULL: there is none), when
 * those in front of level v are `in`; `out` is another object. */
void blocking_debt_pass(const struct blocking_model *model, uint32_t v, const struct debt_array *array,
                        const struct blocking_debt *in, struct blocking_debt *out);

/* The visits of a charge that is settled at level v, where product[d] (n_dim) iterations of its tensor's
 * reuse are left, as for reuse_count. */
double blocking_charge_count(const struct blocking_model *model, uint32_t v,
                             const struct blocking_charge *charge, const double *product);

/* The energy of what is owed for tensor t and asked for at level v. */
double blocking_debt_energy(const struct blocking_model *model, uint32_t v, uint32_t t,
                            const struct blocking_debt *debt, const double *product);

#endif
