/* One value at a time: its form, then its normalisation. */
#include "engines/mindmappings/mm_encoding.h"

#include <math.h>
#include <stdbool.h>

const char *const mm_input_form_name[MM_INPUT_FORM_COUNT] = {"raw", "log2"};
const char *const mm_output_form_name[MM_OUTPUT_FORM_COUNT] = {"ratio", "log"};

static const double least_energy = 0.01;

uint32_t mm_energy_place(const struct mm_algorithm *algorithm)
{
    return algorithm->n_cost - 2;
}

uint32_t mm_cycle_place(const struct mm_algorithm *algorithm)
{
    return algorithm->n_cost - 1;
}

/* The sizes and the factors of the four blocks come first. */
static bool has_logarithm(const struct mm_encoding *encoding, uint32_t i)
{
    return encoding->input == MM_INPUT_LOG2 && i < (1 + MM_BLOCK_COUNT) * encoding->algorithm->n_dim;
}

/* What is added before the logarithm: utilization, energy and cycles are never 0. */
static double added(const struct mm_encoding *encoding, uint32_t i)
{
    return i + 3 < encoding->algorithm->n_cost ? least_energy : 0;
}

double mm_encoding_form_input(const struct mm_encoding *encoding, uint32_t i, double value)
{
    return has_logarithm(encoding, i) ? log2(value) : value;
}

double mm_encoding_form_output(const struct mm_encoding *encoding, uint32_t i, double ratio)
{
    return encoding->output == MM_OUTPUT_LOG ? log(ratio + added(encoding, i)) : ratio;
}

void mm_encode_vector(const struct mm_encoding *encoding, const double *vector, float *input)
{
    for (uint32_t i = 0; i < encoding->algorithm->n_value; i++)
        input[i] = (float)((mm_encoding_form_input(encoding, i, vector[i]) - encoding->input_mean[i]) /
                           encoding->input_deviation[i]);
}

void mm_decode_vector(const struct mm_encoding *encoding, const float *input, double *vector)
{
    for (uint32_t i = 0; i < encoding->algorithm->n_value; i++) {
        double value = encoding->input_mean[i] + encoding->input_deviation[i] * (double)input[i];
        vector[i] = has_logarithm(encoding, i) ? exp2(value) : value;
    }
}

void mm_encode_ratios(const struct mm_encoding *encoding, const double *ratio, float *target)
{
    for (uint32_t i = 0; i < encoding->algorithm->n_cost; i++)
        target[i] = (float)((mm_encoding_form_output(encoding, i, ratio[i]) - encoding->output_mean[i]) /
                            encoding->output_deviation[i]);
}

double mm_decode_ratio(const struct mm_encoding *encoding, uint32_t i, float output)
{
    double value = encoding->output_mean[i] + encoding->output_deviation[i] * (double)output;
    return encoding->output == MM_OUTPUT_LOG ? exp(value) - added(encoding, i) : value;
}

double mm_decode_edp(const struct mm_encoding *encoding, const float *output)
{
    uint32_t energy = mm_energy_place(encoding->algorithm), cycle = mm_cycle_place(encoding->algorithm);
    return mm_decode_ratio(encoding, energy, output[energy]) *
           mm_decode_ratio(encoding, cycle, output[cycle]);
}
