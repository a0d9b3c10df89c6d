/* What runs where: engines asked about machines and networks without a search (solve_takes), as
 * `dse list engines --matrix` and docs/engines.md show it. */
#ifndef DSE_REPORT_ENGINE_MATRIX_H
#define DSE_REPORT_ENGINE_MATRIX_H

#include <stddef.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "costmodel/accounting/accounting.h"
#include "dse/console/cli.h"
#include "dse/console/report_print.h"
#include "engines/driver/engine.h"

/* Who is asked about what. Without machines those of `dse list architectures`; without networks machines are
 * asked about by themselves, and where no machine is named either, networks of `dse list networks` on
 * whatever machine takes them. With machines alone: all those networks on each. */
struct engine_matrix_request {
    const struct engine *engine;         /* NULL: all */
    const struct accounting *accounting; /* NULL: each engine's own choice */
    const char *const *architecture;     /* (n_architecture) names or paths */
    size_t n_architecture;
    const char *const *network; /* (n_network) */
    size_t n_network;
    const struct cli_args *set; /* whose --set options the machines and networks take, each all; NULL: none */
};

/* One question: a machine, a network on a machine, or (any_machine) on one of all of them. */
struct engine_matrix_case {
    const char *architecture; /* NULL: any */
    const char *network;      /* NULL: none */
};

/* One answer. */
struct engine_matrix_answer {
    const char *architecture; /* asked about; of any machine the one that takes it, or the first to refuse */
    const char *reason;       /* NULL: ok */
};

/* All answers; memory in `arena`. */
struct engine_matrix {
    size_t n_engine, n_case;
    const struct engine **engine;        /* (n_engine) */
    struct engine_matrix_case *question; /* (n_case), machines before networks */
    struct engine_matrix_answer *answer; /* (n_engine, n_case) */
    struct arena arena;
};

/* Ask. Errors of reading the files; DSE_BAD_INPUT: unknown names; DSE_NO_MEMORY. Release with
 * engine_matrix_free, also after a failure. */
DSE_MUST_CHECK enum dse_status engine_matrix_init(struct engine_matrix *matrix,
                                                  const struct engine_matrix_request *request,
                                                  struct dse_error *err);
void engine_matrix_free(struct engine_matrix *matrix);

/* For people: engines with equal answers are one column, equal reasons one footnote; a single question is a
 * list. CSV and JSON: a row per engine and question. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status engine_matrix_print(const struct engine_matrix *matrix,
                                                   enum report_format format, struct text_buffer *out,
                                                   struct dse_error *err);

#endif
