/* One row a storage, then the MACs. */
#include "dse/report/machine_report.h"

#include <math.h>

#include "base/report.h"

const char machine_report_name[] = "machine";
const char machine_report_sentence[] =
    "what its storages and MACs take: energies, areas, leakage and their sources";

static const struct cell_column columns[] = {
    CELL_COLUMN("component", "component", LOOK_TEXT),
    CELL_COLUMN("instances", "instances", LOOK_COUNT),
    CELL_COLUMN("capacity_byte", "capacity", LOOK_BYTE),
    CELL_COLUMN("access_bit", "bits", LOOK_COUNT),
    CELL_ENERGY("read_energy_j", "read"),
    CELL_ENERGY("write_energy_j", "write"),
    CELL_ENERGY("update_energy_j", "update"),
    {.name = "area_mm2", .title = "mm2 of one", .look = LOOK_DIGITS, .digit = 4},
    {.name = "total_area_mm2", .title = "mm2 of all", .look = LOOK_DIGITS, .digit = 4},
    {.name = "leakage_w", .title = "one leaks", .look = LOOK_UNIT, .unit = "W"},
    CELL_COLUMN("source", "source", LOOK_TEXT),
};

static double known(double value)
{
    return value > 0 ? value : NAN;
}

static void add_level(const struct architecture *arch, uint32_t l, struct cells *rows)
{
    const struct storage_level *level = &arch->level[l];
    const double area_mm2 = architecture_level_area_mm2(arch, l);
    const bool unlimited = level->size_word == ARCH_UNLIMITED;
    cells_text(rows, level->name);
    cells_count(rows, level->instances);
    cells_real(rows, unlimited ? NAN : (double)level->size_word * level->word_bit / 8);
    cells_whole(rows, (int64_t)level->block_word * level->word_bit);
    cells_real(rows, level->read_energy_j);
    cells_real(rows, level->write_energy_j);
    cells_real(rows, level->update_energy_j);
    cells_real(rows, known(area_mm2));
    cells_real(rows, known(area_mm2 * (double)level->instances));
    cells_real(rows, known(level->leakage_w));
    cells_text(rows, level->source ? level->source : "the file");
}

static void add_macs(const struct mac_array *mac, struct cells *rows)
{
    cells_text(rows, mac->name);
    cells_count(rows, mac->instances);
    cells_none(rows);
    cells_whole(rows, mac->word_bit);
    cells_real(rows, mac->energy_j);
    cells_none(rows);
    cells_none(rows);
    cells_real(rows, known(mac->area_mm2));
    cells_real(rows, known(mac->area_mm2 * (double)mac->instances));
    cells_real(rows, known(mac->leakage_w));
    cells_text(rows, mac->source ? mac->source : "the file");
}

enum dse_status machine_report(const struct architecture *arch, enum report_format format,
                               struct text_buffer *out, struct dse_error *err)
{
    struct report report;
    report_init(&report, machine_report_name);
    cells_list_text(&report.about, "architecture", arch->name);
    cells_list_real(&report.about, "area_mm2", architecture_area_mm2(arch));
    cells_list_real(&report.about, "leakage_w", known(architecture_all_leakage_w(arch)));
    cells_init(&report.rows, columns, sizeof columns / sizeof columns[0]);
    for (uint32_t l = arch->n_level; l-- > 0;)
        add_level(arch, l, &report.rows);
    add_macs(&arch->mac, &report.rows);
    enum dse_status status = report_print(&report, format, out, err);
    report_free(&report);
    return status;
}
