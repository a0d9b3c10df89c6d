/* A record holds all that struct mlp_fit says a checkpoint keeps. */
#include "engines/mindmappings/training/mm_keeper.h"

#include <string.h>

#include "base/clock.h"

/* A piece of it. */
struct kept {
    void *value;
    size_t byte;
};

enum { KEPT_MAX = 10 };

static size_t list_kept(struct mlp_fit *fit, struct kept kept[KEPT_MAX])
{
    size_t n_parameter = fit->mlp->n_parameter * sizeof(float),
           n_epoch = fit->options.n_epoch * sizeof(double);
    const struct kept all[KEPT_MAX] = {
        {&fit->step, sizeof fit->step},
        {&fit->loss_sum, sizeof fit->loss_sum},
        {&fit->best_epoch, sizeof fit->best_epoch},
        {fit->rule.decay, sizeof fit->rule.decay},
        {fit->train_loss, n_epoch},
        {fit->test_loss, n_epoch},
        {fit->mlp->parameter, n_parameter},
        {fit->rule.moment[0], fit->rule.moment[0] ? n_parameter : 0},
        {fit->rule.moment[1], fit->rule.moment[1] ? n_parameter : 0},
        {fit->best, fit->best ? n_parameter : 0},
    };
    size_t n = 0;
    memcpy(kept, all, sizeof all);
    for (int i = 0; i < KEPT_MAX; i++)
        n += all[i].byte;
    return n;
}

static void pack(struct mlp_fit *fit, char *record, bool unpack)
{
    struct kept kept[KEPT_MAX];
    (void)list_kept(fit, kept);
    for (int i = 0; i < KEPT_MAX; i++) {
        if (kept[i].byte > 0)
            memcpy(unpack ? kept[i].value : record, unpack ? record : kept[i].value, kept[i].byte);
        record += kept[i].byte;
    }
}

enum dse_status mm_keeper_keep(struct mm_keeper *keeper, struct mlp_fit *fit, struct dse_error *err)
{
    pack(fit, keeper->record, false);
    keeper->last_s = clock_wall_s();
    enum dse_status status =
        checkpoint_put(&keeper->file, 2 * keeper->net + (uint64_t)keeper->turn, keeper->record, err);
    keeper->turn = !keeper->turn;
    return status;
}

enum dse_status mm_keeper_restore(struct mm_keeper *keeper, uint32_t net, struct mlp_fit *fit,
                                  struct arena *arena, struct dse_error *err)
{
    if (!keeper->record) {
        struct kept kept[KEPT_MAX];
        keeper->file.record_byte = list_kept(fit, kept);
        keeper->record = arena_alloc(arena, keeper->file.record_byte, 1);
        keeper->other = arena_alloc(arena, keeper->file.record_byte, 1);
        DSE_TRY(arena_check(arena, "a checkpoint", err));
    }
    bool first = checkpoint_get(&keeper->file, 2 * (uint64_t)net, keeper->record);
    bool second = checkpoint_get(&keeper->file, 2 * (uint64_t)net + 1, keeper->other);
    uint64_t step[2] = {0, 0};
    /* the step stands at the beginning of a record */
    memcpy(&step[0], keeper->record, sizeof step[0]);
    memcpy(&step[1], keeper->other, sizeof step[1]);
    keeper->net = net;
    keeper->turn = 0;
    keeper->last_s = clock_wall_s();
    if (second && (!first || step[1] > step[0])) {
        pack(fit, keeper->other, true);
    } else if (first) {
        keeper->turn = 1;
        pack(fit, keeper->record, true);
    }
    return DSE_OK;
}
