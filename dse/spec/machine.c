/* Numbers the machines by the axes that change them, and builds one only when the number is another. */
#include "dse/spec/machine.h"

#include <string.h>

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
            enum spec_target target = spec->variable[spec->dimension[d].variable[k]].kind->target;
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

uint64_t machine_key(struct machine *machine)
{
    if (machine->status == DSE_OK && machine->key == 0)
        machine->key = solve_arch_key(&machine->arch);
    return machine->status == DSE_OK ? machine->key : 0;
}
