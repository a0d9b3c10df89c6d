/* Colours of values of an axis, as 0xrrggbb. */
#ifndef RESULTS_PLOT_PLOT_COLOURS_H
#define RESULTS_PLOT_PLOT_COLOURS_H

#include <stdbool.h>
#include <stddef.h>

enum { PLOT_WORD_COLOURS = 8 };

/* Of value i of n: words in turn (after PLOT_WORD_COLOURS the same again), numbers from dark to light. */
unsigned plot_colour(bool is_number, size_t i, size_t n);

/* Between one (share 0) and the other (share 1). */
unsigned plot_colour_mix(unsigned one, unsigned other, double share);

/* Black or white, whichever can be read on it. */
unsigned plot_colour_ink(unsigned rgb);

#endif
