/* Debts of levels around arrays: they grow on the way inwards and are settled where a level asks for the
 * tensor. */
#include "engines/interstellar/blocking_debt.h"

#include <math.h>
#include <string.h>

/* Whether the iterations of reuse dimension d of a tensor count by themselves: along an axis with a stride,
 * and where each is rounded up. */
static bool is_apart(const struct blocking_model *model, uint32_t t, uint32_t d)
{
    return model->padded || !(model->reuse.tensor[t].plain >> d & 1);
}

static double together_of(const struct blocking_model *model, const struct array_choice *choice, uint32_t t)
{
    double product = 1;
    for (uint32_t left = model->reuse.tensor[t].reuse; left; left &= left - 1) {
        const uint32_t d = (uint32_t)__builtin_ctz(left);
        product *= is_apart(model, t, d) ? 1 : choice->factor[d];
    }
    return product;
}

void debt_array_of(const struct blocking_model *model, const struct array_choice *choice,
                   struct debt_array *out)
{
    memcpy(out->apart, choice->factor, sizeof out->apart);
    memcpy(out->hop, choice->hop, sizeof out->hop);
    for (uint32_t t = 0; t < model->n_tensor; t++)
        out->together[t] = together_of(model, choice, t);
}

void debt_array_least(const struct blocking_model *model, const struct array_choices *choices,
                      struct debt_array *out)
{
    debt_array_of(model, &choices->choice[0], out);
    for (uint32_t c = 1; c < choices->n; c++) {
        const struct array_choice *choice = &choices->choice[c];
        for (uint32_t d = 0; d < model->n_dim; d++)
            out->apart[d] = choice->factor[d] > out->apart[d] ? choice->factor[d] : out->apart[d];
        for (uint32_t t = 0; t < model->n_tensor; t++) {
            out->hop[t] = fmin(out->hop[t], choice->hop[t]);
            out->together[t] = fmax(out->together[t], together_of(model, choice, t));
        }
    }
}

/* One more charge, or a larger one of the same iterations. */
static void add_charge(struct blocking_debt *debt, const struct blocking_charge *charge)
{
    for (uint32_t i = 0; i < debt->n; i++) {
        struct blocking_charge *old = &debt->charge[i];
        if (old->tensor == charge->tensor && old->together == charge->together &&
            memcmp(old->apart, charge->apart, sizeof old->apart) == 0) {
            old->visit_j += charge->visit_j;
            old->word += charge->word;
            return;
        }
    }
    if (debt->n < DEBT_CHARGE_MAX)
        debt->charge[debt->n++] = *charge;
}

static void share(const struct blocking_model *model, const struct debt_array *array,
                  struct blocking_charge *charge)
{
    charge->together *= array->together[charge->tensor];
    for (uint32_t left = model->reuse.tensor[charge->tensor].reuse; left; left &= left - 1) {
        const uint32_t d = (uint32_t)__builtin_ctz(left);
        charge->apart[d] *= is_apart(model, charge->tensor, d) ? array->apart[d] : 1;
    }
}

void blocking_debt_pass(const struct blocking_model *model, uint32_t v, const struct debt_array *array,
                        const struct blocking_debt *in, struct blocking_debt *out)
{
    const struct blocking_level *level = &model->level[v];
    out->n = 0;
    for (uint32_t i = 0; i < in->n; i++) {
        struct blocking_charge charge = in->charge[i];
        if (!(level->passes >> charge.tensor & 1))
            continue; /* settled */
        if (array)
            share(model, array, &charge);
        add_charge(out, &charge);
    }
    for (uint32_t t = 0; t < model->n_tensor; t++) {
        struct blocking_charge charge;
        memset(&charge, 0, sizeof charge);
        charge.visit_j = level->lend_j[t];
        charge.word = model->pending == (int)v && level->keeps >> t & level->passes >> t & 1
                          ? model->reuse.tensor[t].size_word
                          : 0;
        charge.together = 1;
        charge.tensor = (uint8_t)t;
        for (uint32_t d = 0; d < PROBLEM_DIM_MAX; d++)
            charge.apart[d] = 1;
        if (array) {
            charge.visit_j += level->pass_hop_j[t] * array->hop[t] + level->pass_enter_j[t];
            share(model, array, &charge);
        }
        if (charge.visit_j > 0 || charge.word > 0)
            add_charge(out, &charge);
    }
}

double blocking_charge_count(const struct blocking_model *model, uint32_t v,
                             const struct blocking_charge *charge, const double *product)
{
    const bool operands = v == 0 && !model->mac_holds; /* whole ones, of each dimension */
    double left[PROBLEM_DIM_MAX];
    for (uint32_t d = 0; d < model->n_dim; d++) {
        left[d] = product[d] / charge->apart[d];
        left[d] = operands ? ceil(left[d]) : fmax(1, left[d]);
    }
    return fmax(1, reuse_count(&model->reuse.tensor[charge->tensor], model->rule, left) / charge->together);
}

double blocking_debt_energy(const struct blocking_model *model, uint32_t v, uint32_t t,
                            const struct blocking_debt *debt, const double *product)
{
    double sum = 0;
    for (uint32_t i = 0; i < debt->n; i++)
        if (debt->charge[i].tensor == t && !(model->level[v].passes >> t & 1))
            sum += debt->charge[i].visit_j * blocking_charge_count(model, v, &debt->charge[i], product);
    return sum;
}
