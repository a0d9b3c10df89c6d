/* A point's key is made of the keys of settings, loop nests and machine, and of its coordinates; a task's
 * key has no coordinates. */
#include "dse/spec/keys.h"

#include "base/hash.h"

/* The coordinates are part of the key: two cells never share one, even when their results cannot differ. */
static uint64_t key_with_place(const struct sweep *sweep, const struct sweep_point *point,
                               const struct point_keys *keys)
{
    struct hash_state state;
    if (!hash_begin(&state))
        return 0;
    hash_u64(&state, keys->settings);
    hash_u64(&state, keys->arch);
    hash_u64(&state,
             solve_is_scheduler(&point->settings) ? point->workload->network_hash : point->workload->hash);
    for (size_t d = 0; d < sweep->spec->n_dimension; d++)
        for (size_t k = 0; k < sweep->spec->dimension[d].n_variable; k++) {
            const struct sweep_variable *v = &sweep->variable[sweep->spec->dimension[d].variable[k]];
            hash_text(&state, v->column);
            if (v->numeric)
                hash_double(&state, v->number[point->index[d]]);
            else
                hash_text(&state, v->text[point->index[d]]);
        }
    return hash_end(&state);
}

bool keys_of_point(struct machine *machine, const struct sweep_point *point, struct point_keys *keys)
{
    keys->arch = 0;
    enum dse_status status = machine_of(machine, point);
    if (status == DSE_NO_MEMORY)
        return false;
    if (status == DSE_OK) {
        keys->arch = machine_key(machine);
        if (keys->arch == 0)
            return false;
    }
    keys->settings = solve_settings_key(&point->settings);
    keys->point = keys->settings ? key_with_place(machine->sweep, point, keys) : 0;
    return keys->point != 0;
}

uint64_t keys_of_task(const struct point_keys *keys, const struct sweep_point *point, uint32_t task)
{
    return solve_key(keys->settings, sweep_point_task_hash(point, task), keys->arch);
}
