/* Blocks of draws in waves: each block has a random stream of its own and is filled by any thread, then
 * blocks are taken in order, so that the rows do not depend on threads. */
#include "dse/solve/sample.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "engines/mapspace/mapspace.h"

enum {
    BLOCK_DRAWS = 64, /* of one random stream */
    /* blocks between two looks at the limits; one where mappings are measured, which takes long */
    WAVE_PER_THREAD = 8,
    BLOCK_MAX = UINT32_MAX / 2
};

/* One call of the sampler. */
struct draw {
    uint16_t n_rejected; /* tries before it that were thrown away */
    bool valid;          /* then the next of the block's mappings is its */
    struct misfit_info fit;
};

struct block {
    uint32_t n_draw, n_valid;
    struct draw draw[BLOCK_DRAWS];
    struct mapping mapping[BLOCK_DRAWS];       /* (n_valid) */
    struct evaluation evaluation[BLOCK_DRAWS]; /* (n_valid) */
    struct measure_values measured[BLOCK_DRAWS];
    enum dse_status status;
    struct dse_error err;
};

struct sampler {
    const struct problem *problem;
    const struct architecture *arch;
    const struct sample_settings *settings;
    struct evaluator *evaluator;
    const struct mapspace *space;
    const void *vectors; /* the space of vectors, with SAMPLE_VECTORS */
    uint64_t key;
    uint32_t n_block;    /* of a wave */
    struct block *block; /* (n_block) */
    struct sample_summary *summary;
    struct sample_misfit *misfit; /* (SAMPLE_MISFIT_MAX) by what and level */
};

/* ---------------------------------------- drawing a block */

static bool draw_one(const struct sampler *sampler, struct random_stream *stream, struct mapping *mapping,
                     struct draw *draw)
{
    uint64_t n_rejected = 0;
    *draw = (struct draw){0};
    if (sampler->settings->draw == SAMPLE_VECTORS) {
        sampler->settings->vectors->draw(sampler->vectors, stream, mapping);
        return true;
    }
    if (sampler->settings->draw == SAMPLE_PRIMES)
        return mapspace_sample(sampler->space, stream, mapping, &draw->fit);
    bool drawn = mapspace_draw(sampler->space, stream, mapping, &n_rejected, &draw->fit);
    /* A failed draw is its last try. */
    draw->n_rejected = (uint16_t)(drawn || n_rejected == 0 ? n_rejected : n_rejected - 1);
    return drawn;
}

static bool is_cancelled(const struct sampler *sampler)
{
    const atomic_int *cancel = sampler->settings->cancel;
    return cancel && atomic_load_explicit(cancel, memory_order_relaxed);
}

static enum dse_status fill_block(const struct sampler *sampler, struct eval_workspace *workspace,
                                  struct arena *arena, uint32_t number, struct block *block)
{
    struct random_stream stream = random_stream_make(sampler->settings->seed, sampler->key, number);
    block->n_draw = block->n_valid = 0;
    while (block->n_draw < BLOCK_DRAWS && !is_cancelled(sampler) &&
           !(sampler->settings->n_valid && block->n_valid == sampler->settings->n_valid)) {
        struct draw *draw = &block->draw[block->n_draw++];
        struct mapping *mapping = &block->mapping[block->n_valid];
        struct evaluation *evaluation = &block->evaluation[block->n_valid];
        if (!draw_one(sampler, &stream, mapping, draw))
            continue;
        draw->valid = evaluator_run(sampler->evaluator, workspace, mapping, evaluation);
        draw->fit = evaluation->fit;
        if (!draw->valid)
            continue;
        arena_reset(arena);
        DSE_TRY(measure_mapping(&sampler->settings->measure, sampler->problem, sampler->arch, mapping, NULL,
                                sampler->settings->cancel, arena, &block->measured[block->n_valid],
                                &block->err));
        block->n_valid++;
    }
    return DSE_OK;
}

static void fill_wave(struct sampler *sampler, uint32_t first)
{
#pragma omp parallel num_threads(sampler->settings->n_thread)
    {
        struct eval_workspace *workspace = NULL;
        struct arena arena;
        struct dse_error err = {0};
        arena_init(&arena);
        enum dse_status status = eval_workspace_new(sampler->evaluator, &workspace, &err);
#pragma omp for schedule(dynamic, 1)
        for (uint32_t b = 0; b < sampler->n_block; b++) {
            struct block *block = &sampler->block[b];
            block->status = status;
            block->err = err;
            if (status == DSE_OK)
                block->status = fill_block(sampler, workspace, &arena, first + b, block);
        }
        eval_workspace_delete(workspace);
        arena_free(&arena);
    }
}

/* ---------------------------------------- taking what is drawn */

static bool is_over(const struct sampler *sampler)
{
    const struct sample_settings *s = sampler->settings;
    return (s->n_valid && sampler->summary->n_valid >= s->n_valid) ||
           (s->max_draws && sampler->summary->n_draw >= s->max_draws);
}

static void count_misfit(struct sampler *sampler, const struct misfit_info *fit, uint64_t n)
{
    if (n == 0)
        return;
    struct sample_misfit *count =
        &sampler->misfit[(size_t)fit->what * (ARCH_LEVEL_MAX + 1) + (size_t)(fit->level + 1)];
    if (count->n == 0)
        count->first = *fit;
    count->n += n;
}

/* Up to the limit. */
static enum dse_status take_block(struct sampler *sampler, const struct block *block, sample_visit *visit,
                                  void *user, struct dse_error *err)
{
    static const struct misfit_info untold = {.what = FITS, .level = -1};
    uint32_t at = 0;
    for (uint32_t i = 0; i < block->n_draw && !is_over(sampler); i++) {
        const struct draw *draw = &block->draw[i];
        uint64_t left = sampler->settings->max_draws ? sampler->settings->max_draws - sampler->summary->n_draw
                                                     : UINT64_MAX;
        uint64_t n_rejected = draw->n_rejected < left ? draw->n_rejected : left;
        sampler->summary->n_draw += n_rejected;
        count_misfit(sampler, &untold, n_rejected);
        if (is_over(sampler))
            return DSE_OK;
        sampler->summary->n_draw++;
        if (!draw->valid) {
            count_misfit(sampler, &draw->fit, 1);
            continue;
        }
        sampler->summary->n_valid++;
        struct sample_row row = {sampler->summary->n_draw, &block->mapping[at], &block->evaluation[at],
                                 &block->measured[at]};
        at++;
        DSE_TRY(visit(user, &row, err));
    }
    return DSE_OK;
}

static int by_count(const void *a, const void *b)
{
    const struct sample_misfit *x = a, *y = b;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    if (x->first.what != y->first.what)
        return x->first.what < y->first.what ? -1 : 1;
    return (x->first.level > y->first.level) - (x->first.level < y->first.level);
}

static void summarise(struct sampler *sampler)
{
    struct sample_summary *summary = sampler->summary;
    for (size_t i = 0; i < SAMPLE_MISFIT_MAX; i++)
        if (sampler->misfit[i].n)
            summary->misfit[summary->n_misfit++] = sampler->misfit[i];
    qsort(summary->misfit, summary->n_misfit, sizeof summary->misfit[0], by_count);
}

static enum dse_status run(struct sampler *sampler, sample_visit *visit, void *user, struct dse_error *err)
{
    for (uint32_t first = 0; !is_over(sampler); first += sampler->n_block) {
        if (first > BLOCK_MAX)
            return dse_fail(err, DSE_LIMIT, "more draws than there are random streams");
        fill_wave(sampler, first);
        if (is_cancelled(sampler))
            return dse_fail(err, DSE_INTERRUPTED, "interrupted");
        for (uint32_t b = 0; b < sampler->n_block && !is_over(sampler); b++) {
            const struct block *block = &sampler->block[b];
            if (block->status != DSE_OK) {
                if (err)
                    *err = block->err;
                return block->status;
            }
            DSE_TRY(take_block(sampler, block, visit, user, err));
        }
    }
    summarise(sampler);
    return DSE_OK;
}

static enum dse_status prepare(struct sampler *sampler, struct arena *arena, struct dse_error *err)
{
    const struct sample_settings *s = sampler->settings;
    if (s->n_valid == 0 && s->max_draws == 0)
        return dse_fail(err, DSE_BAD_USAGE, "a limit of mappings or of draws is needed");
    const struct accounting *accounting =
        s->accounting ? s->accounting : accounting_standard(ACCOUNTING_MAPPING, sampler->arch);
    DSE_TRY(evaluator_new(accounting, sampler->problem, sampler->arch, &sampler->evaluator, err));
    sampler->problem = evaluator_problem(sampler->evaluator);
    sampler->arch = evaluator_architecture(sampler->evaluator);
    DSE_TRY(mapspace_new(sampler->problem, sampler->arch, s->constraints, s->search_bypass, arena,
                         &sampler->space, err));
    if (s->draw == SAMPLE_VECTORS)
        DSE_TRY(s->vectors->space(sampler->arch, sampler->problem, s->mode, arena, &sampler->vectors,
                                  &sampler->summary->log10_size, err));
    const char *empty = mapspace_is_empty(sampler->space);
    if (empty)
        return dse_fail(err, DSE_BAD_INPUT, "there is no mapping: %s", empty);
    sampler->n_block = (uint32_t)s->n_thread * (s->measure.what ? 1 : WAVE_PER_THREAD);
    sampler->block = arena_alloc(arena, sampler->n_block, sizeof *sampler->block);
    sampler->misfit = arena_alloc(arena, SAMPLE_MISFIT_MAX, sizeof *sampler->misfit);
    return arena_check(arena, "the samples", err);
}

enum dse_status sample_space(const struct problem *problem, const struct architecture *arch,
                             const struct sample_settings *settings, sample_visit *visit, void *user,
                             struct sample_summary *summary, struct dse_error *err)
{
    struct sampler sampler = {.problem = problem,
                              .arch = arch,
                              .settings = settings,
                              .key = problem_hash(problem),
                              .summary = summary};
    struct arena arena;
    arena_init(&arena);
    memset(summary, 0, sizeof *summary);
    enum dse_status status = prepare(&sampler, &arena, err);
    if (status == DSE_OK)
        status = run(&sampler, visit, user, err);
    evaluator_delete(sampler.evaluator);
    arena_free(&arena);
    return status;
}
