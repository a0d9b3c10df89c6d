/* Numbers the machines by the axes that change them, and builds one only when the number is another. A
 * point's key is made of the keys of settings, loop nests and machine, and of its coordinates; a task's key
 * has no coordinates. */
#include "dse/spec/keys.h"

#include <string.h>

#include "base/hash.h"

void machine_init(struct machine *machine, const struct sweep *sweep)
{
    memset(machine, 0, sizeof *machine);
    machine->sweep = sweep;
}

/* The position on all dimensions that change the machine, as one number. */
static uint64_t machine_number(const struct sweep *sweep, const struct sweep_point *point)
{
    const struct sweep_spec *spec = sweep->spec;
    uint64_t number = 0;
    for (size_t d = 0; d < spec->n_dimension; d++) {
        bool changes = false;
        for (size_t k = 0; k < spec->dimension[d].n_variable && !changes; k++) {
            enum spec_target target = spec->variable[spec->dimension[d].first + k].kind->target;
            changes = target == SPEC_QUANTITY || target == SPEC_ARCHITECTURE;
        }
        if (changes)
            number = number * spec->dimension[d].n_value + point->index[d];
    }
    return number;
}

enum dse_status machine_of(struct machine *machine, const struct sweep_point *point)
{
    uint64_t number = machine_number(machine->sweep, point);
    if (machine->known && machine->number == number)
        return machine->status;
    machine->n_built++;
    machine->number = number;
    machine->key = 0;
    machine->status = sweep_point_build(point, &machine->arch, &machine->why);
    machine->known = machine->status != DSE_NO_MEMORY; /* that says nothing about the machine */
    return machine->status;
}

/* The coordinates are part of the key: two cells never share one, even when their results cannot differ. */
static uint64_t key_with_place(const struct sweep *sweep, const struct sweep_point *point,
                               const struct point_keys *keys)
{
    struct hash_state state;
    hash_begin(&state);
    hash_u64(&state, keys->settings);
    hash_u64(&state, keys->arch);
    hash_u64(&state,
             solve_is_scheduler(&point->settings) ? point->workload->network_hash : point->workload->hash);
    for (size_t i = 0; i < sweep->spec->n_variable; i++) {
        const struct sweep_variable *v = &sweep->variable[i];
        uint32_t at = point->index[sweep->spec->variable[i].dimension];
        hash_text(&state, v->column);
        if (v->numeric)
            hash_double(&state, v->number[at]);
        else
            hash_text(&state, v->text[at]);
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
        if (machine->key == 0)
            machine->key = solve_arch_key(&machine->arch);
        keys->arch = machine->key;
        if (keys->arch == 0)
            return false;
    }
    keys->settings = solve_settings_key(&point->settings, status == DSE_OK ? &machine->arch : NULL);
    keys->point = keys->settings ? key_with_place(machine->sweep, point, keys) : 0;
    return keys->point != 0;
}

uint64_t keys_of_task(const struct point_keys *keys, const struct sweep_point *point, uint32_t task)
{
    return solve_key(keys->settings, sweep_point_task_hash(point, task), keys->arch);
}
