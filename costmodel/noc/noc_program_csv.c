/* A program of transactions as CSV, for other simulators and for reading. */
#include "costmodel/noc/noc.h"

static void append_list(struct text_buffer *out, const uint32_t *value, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        text_append(out, i ? " %u" : "%u", value[i]);
}

void noc_program_write_csv(const struct noc_program *program, struct text_buffer *out)
{
    for (uint32_t id = 0; id < program->n_transaction; id++) {
        const struct noc_transaction *t = &program->transaction[id];
        text_append(out, "%u,%u,%d,%u,%u,", id, t->actor, (int)t->operation, t->size, t->actor);
        append_list(out, program->destination + t->first_destination, t->n_destination);
        text_append_bytes(out, ",", 1);
        append_list(out, program->dependency + t->first_dependency, t->n_dependency);
        text_append_bytes(out, "\n", 1);
    }
}
