/* Scripts for gnuplot: quoting, terminals, templates from plotting/, and running them. */
#ifndef RESULTS_PLOT_PLOT_GNUPLOT_H
#define RESULTS_PLOT_PLOT_GNUPLOT_H

#include "base/status.h"
#include "base/text.h"
#include "results/plot/plot.h"

/* Append 'text' quoted so that gnuplot takes it as it is (single quotes: no substitution, no escapes). */
void gnuplot_quote(struct text_buffer *script, const char *text);

/* Append "name = 'text'\n". */
void gnuplot_set_text(struct text_buffer *script, const char *name, const char *text);

/* Append "array name[n] = [...]" of numbers, or of texts. */
void gnuplot_set_numbers(struct text_buffer *script, const char *name, const double *value, size_t n);
void gnuplot_set_texts(struct text_buffer *script, const char *name, const char *const *text, size_t n);

/* The labels of ticks, as an array of texts: what gnuplot takes for formats is escaped. */
void gnuplot_set_ticks(struct text_buffer *script, const char *name, const char *const *label, size_t n);

/* Whether the ending of a figure is one of .png, .svg, .pdf; DSE_BAD_USAGE names them, and refuses control
 * characters and |. */
DSE_MUST_CHECK enum dse_status gnuplot_check_path(const char *figure_path, struct dse_error *err);

/* Append the terminal for the figure's ending, with a canvas in points (1/72 inch). */
void gnuplot_terminal(struct text_buffer *script, const char *figure_path, double width_pt, double height_pt);

/* Append the text of a template ("heatmap.gp"). DSE_IO: not found; the message names where it was looked
 * for. */
DSE_MUST_CHECK enum dse_status gnuplot_template(struct text_buffer *script, const char *name,
                                                const char *folder, struct dse_error *err);

/* Run the script; what it draws on the standard output becomes `figure_path` when all went well. With `keep`,
 * the script is left as FIG.gp, where dse_output names the figure. DSE_IO: gnuplot is missing or failed. */
DSE_MUST_CHECK enum dse_status gnuplot_run(const struct text_buffer *script, const char *figure_path,
                                           bool keep, struct dse_error *err);

#endif
