/* The numbers that a CoSA model has unless options say otherwise. */
#include "engines/cosa/cosa.h"

#include <string.h>

/* Sources: the paper's Table IV and equations 4 to 12 leave these numbers open; the values are those of the
 * authors' program as docs/cosa.md lists them. */
void cosa_settings_init(struct cosa_settings *settings)
{
    memset(settings, 0, sizeof *settings);
    settings->form = COSA_FORM_PAPER;
    settings->halo = COSA_HALO_OUTERMOST_INNER;
    settings->weight_util = 0.1;
    settings->weight_comp = 10;
    settings->weight_traf = 1;
    settings->minmax_comp = 3;
    settings->inner_factor = 0.80;
    settings->inner_factor_step = 0.04;
    settings->size_factor = 0.99;
    settings->spatial_factor = 0.99;
    for (int role = 0; role < TENSOR_ROLE_COUNT; role++) {
        settings->outer_factor[role] = role == TENSOR_WEIGHT ? 1.01 : 1.0;
        settings->share[role] = 0.5;
    }
    settings->util_weight_factor = 1.01;
    settings->spatial_related_only = false;
    settings->stationary = -1;
    settings->permutation_level = -1;
    settings->limits.relative_gap = 1e-6;
    settings->limits.max_nodes = 20000;
    settings->max_repairs = 8;
}
