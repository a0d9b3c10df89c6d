/* How vectors of mappings become inputs of a surrogate network, and cost vectors its outputs. */
#ifndef ENGINES_MINDMAPPINGS_MM_ENCODING_H
#define ENGINES_MINDMAPPINGS_MM_ENCODING_H

#include <stddef.h>
#include <stdint.h>

#include "engines/mindmappings/mm_machine.h"

/* Sizes and factors as they are (the authors' way) or as binary logarithms; places and banks are always as
 * they are. */
enum mm_input_form { MM_INPUT_RAW, MM_INPUT_LOG2, MM_INPUT_FORM_COUNT };
extern const char *const mm_input_form_name[MM_INPUT_FORM_COUNT]; /* "raw", "log2" */

/* Costs over the algorithmic minimum, MM_MINIMUM_CODE, as they are (the authors' way) or as natural
 * logarithms; 0.01 is added to energies of single memories before, because a bypassed buffer has 0. */
enum mm_output_form { MM_OUTPUT_RATIO, MM_OUTPUT_LOG, MM_OUTPUT_FORM_COUNT };
extern const char *const mm_output_form_name[MM_OUTPUT_FORM_COUNT]; /* "ratio", "log" */

/* Each value less its mean, over its standard deviation, in the training data. */
struct mm_encoding {
    const struct mm_algorithm *algorithm;
    enum mm_input_form input;
    enum mm_output_form output;
    double input_mean[MM_VALUE_MAX], input_deviation[MM_VALUE_MAX]; /* (n_value); deviations > 0 */
    double output_mean[MM_COST_MAX], output_deviation[MM_COST_MAX]; /* (n_cost) */
};

/* Values before they are normalised, for the tables above. */
double mm_encoding_form_input(const struct mm_encoding *encoding, uint32_t i, double value);
double mm_encoding_form_output(const struct mm_encoding *encoding, uint32_t i, double ratio);

/* A vector (n_value) as inputs, and back: what comes back is real-valued. */
void mm_encode_vector(const struct mm_encoding *encoding, const double *vector, float *input);
void mm_decode_vector(const struct mm_encoding *encoding, const float *input, double *vector);

/* Costs over the minimum (n_cost) as targets; and output i as such a cost. */
void mm_encode_ratios(const struct mm_encoding *encoding, const double *ratio, float *target);
double mm_decode_ratio(const struct mm_encoding *encoding, uint32_t i, float output);

/* The places of energy and cycles in a cost vector: the last two. */
uint32_t mm_energy_place(const struct mm_algorithm *algorithm);
uint32_t mm_cycle_place(const struct mm_algorithm *algorithm);

/* EDP over the minimum, from all outputs (n_cost). */
double mm_decode_edp(const struct mm_encoding *encoding, const float *output);

#endif
