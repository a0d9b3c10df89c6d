/* Transactions from short texts of numbers, and a run of the simulator over them. */
#include "tests/support/noc_case.h"

#include <stdlib.h>

void noc_case_init(struct noc_case *c, uint32_t pe_columns, uint32_t pe_rows)
{
    *c = (struct noc_case){0};
    noc_config_init(&c->config, pe_columns, pe_rows);
}

/* Append the numbers of a text. */
static uint32_t add_list(const char *text, uint32_t *list, size_t *n)
{
    uint32_t added = 0;
    char *end;
    for (unsigned long number = strtoul(text, &end, 10); end != text; number = strtoul(text, &end, 10)) {
        list[(*n)++] = (uint32_t)number;
        text = end;
        added++;
    }
    return added;
}

static uint32_t add(struct noc_case *c, enum noc_operation operation, uint32_t actor, uint32_t size,
                    const char *destinations, const char *dependencies)
{
    struct noc_program *program = &c->program;
    uint32_t id = program->n_transaction++;
    struct noc_transaction *t = &c->transaction[id];
    *t = (struct noc_transaction){.operation = operation, .actor = actor, .size = size};
    t->first_destination = (uint32_t)program->n_destination;
    t->first_dependency = (uint32_t)program->n_dependency;
    t->n_destination = add_list(destinations, c->destination, &program->n_destination);
    t->n_dependency = add_list(dependencies, c->dependency, &program->n_dependency);
    return id;
}

uint32_t noc_case_send(struct noc_case *c, bool multicast, uint32_t actor, uint32_t packets,
                       const char *destinations, const char *dependencies)
{
    return add(c, multicast ? NOC_MULTICAST : NOC_UNICAST, actor, packets, destinations, dependencies);
}

uint32_t noc_case_count(struct noc_case *c, uint32_t actor, uint32_t cycles, const char *dependencies)
{
    return add(c, NOC_COUNT, actor, cycles, "", dependencies);
}

enum dse_status noc_case_run(struct noc_case *c, uint64_t max_cycle, struct dse_error *err)
{
    struct noc_trace trace = {c->start, c->finish};
    struct arena arena;
    arena_init(&arena);
    c->program.transaction = c->transaction;
    c->program.destination = c->destination;
    c->program.dependency = c->dependency;
    enum dse_status status =
        noc_simulate(&c->config, &c->program, max_cycle, NULL, &arena, &trace, &c->result, err);
    arena_free(&arena);
    return status;
}
