/* Columns of mappings: energy as the authors' program has it, the dataflow, and the point in one line. */
#include "engines/interstellar/mapping_words.h"

#include <string.h>

#include "costmodel/interstellar/dataflow.h"
#include "costmodel/interstellar/points.h"

static const struct cell_column column[] = {
    {.name = "energy_no_mac_pJ"}, {.name = "dataflow", .title = "dataflow"},
    {.name = "dataflow_key"},     {.name = "loops"},
    {.name = "spatial"},
};

static void add(const struct problem *problem, const struct architecture *arch, const struct mapping *mapping,
                const struct evaluation *evaluation, struct cells *row)
{
    struct text_buffer text;
    text_init(&text);
    cells_real(row, (evaluation->energy_j - evaluation->energy_mac_j) * 1e12);
    dataflow_name(mapping, problem, arch, &text);
    cells_text(row, text.data ? text.data : "");
    text_clear(&text);
    dataflow_key(mapping, problem, arch, &text);
    cells_text(row, text.data ? text.data : "");
    text_clear(&text);
    points_write(mapping, problem, arch, &text);
    char *spatial = text.data ? strstr(text.data, " ; ") : NULL;
    if (spatial)
        *spatial = '\0';
    cells_text(row, text.data ? text.data : "");
    cells_text(row, spatial ? spatial + 3 : "");
    text_free(&text);
}

const struct mapping_columns interstellar_columns = {column, sizeof column / sizeof column[0], add};
