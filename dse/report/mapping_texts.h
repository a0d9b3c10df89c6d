/* Mappings as texts, as the options of a command ask for them (costmodel/model/mapping_text.h). */
#ifndef DSE_REPORT_MAPPING_TEXTS_H
#define DSE_REPORT_MAPPING_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/model/mapping_text.h"
#include "dse/console/cli.h"
#include "dse/console/report_print.h"

enum { MAPPING_TEXT_MAX = 8 };

/* What was asked for, in the order of the registry. */
struct mapping_texts {
    const struct mapping_text *text[MAPPING_TEXT_MAX]; /* (n) */
    size_t n;
};

/* An option for each text (cli_command.more). */
bool mapping_text_flag_at(size_t i, struct cli_option *option);

void mapping_texts_asked(const struct cli_args *args, struct mapping_texts *texts);

/* Is each of them a text of at least one of the problems (n) on the machine, and to be had in the output
 * format (by name) that was chosen? Else the reason, behind the option's name; DSE_BAD_USAGE for the
 * format. */
DSE_MUST_CHECK enum dse_status mapping_texts_check(const struct mapping_texts *texts,
                                                   const struct problem *problem, size_t n,
                                                   const struct architecture *arch, const char *format,
                                                   struct dse_error *err);

/* Append every text of the mapping; for one that does not accept the problem, why. */
void mapping_texts_write(const struct mapping_texts *texts, const struct mapping *mapping,
                         const struct problem *problem, const struct architecture *arch,
                         struct text_buffer *out);

/* Append the first of them as a table of CSV with one row; it has such a form. */
void mapping_texts_row(const struct mapping_texts *texts, const struct mapping *mapping,
                       const struct problem *problem, const struct architecture *arch,
                       struct text_buffer *out);

#endif
