/* Parses names and products of powers, prints the canonical name, and gives the cost, its value from a
 * lower bound included. */
#include "engines/driver/objective.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

#define OBJECTIVE_ACCEPTED "latency (or delay), energy, edp, ed2p, or energy^n*delay^m with numbers n, m >= 0"

struct named_objective {
    const char *name;
    struct objective objective;
};

/* The first name of equal ones is the canonical one. */
static const struct named_objective named[] = {
    {"latency", {0, 1}}, {"delay", {0, 1}}, {"energy", {1, 0}}, {"edp", {1, 1}}, {"ed2p", {1, 2}},
};
enum { N_NAMED = sizeof named / sizeof named[0], OBJECTIVE_TEXT_MAX = 128 };

/* "energy", "energy^2", "delay^0.5", "latency": adds to the exponents. */
static bool parse_factor(const char *text, struct objective *objective)
{
    const char *hat = strchr(text, '^');
    size_t length = hat ? (size_t)(hat - text) : strlen(text);
    double exponent = 1;
    if (hat && (!text_parse_double(hat + 1, &exponent) || exponent < 0 || exponent > 100))
        return false;
    if (length == 6 && strncasecmp(text, "energy", length) == 0)
        objective->energy_exponent += exponent;
    else if ((length == 5 && strncasecmp(text, "delay", length) == 0) ||
             (length == 7 && strncasecmp(text, "latency", length) == 0))
        objective->delay_exponent += exponent;
    else
        return false;
    return true;
}

static bool parse_product(const char *text, struct objective *objective)
{
    char copy[OBJECTIVE_TEXT_MAX];
    size_t n = 0;
    *objective = (struct objective){0, 0};
    for (const char *c = text; *c; c++) {
        if (*c == ' ')
            continue;
        if (n + 1 == sizeof copy)
            return false;
        copy[n++] = *c;
    }
    copy[n] = '\0';
    for (char *part = copy; part;) {
        char *star = strchr(part, '*');
        if (star)
            *star = '\0';
        if (!parse_factor(part, objective))
            return false;
        part = star ? star + 1 : NULL;
    }
    return objective->energy_exponent > 0 || objective->delay_exponent > 0;
}

enum dse_status objective_parse(const char *text, struct objective *objective, struct dse_error *err)
{
    const char *name[N_NAMED];
    for (size_t i = 0; i < N_NAMED; i++) {
        name[i] = named[i].name;
        if (strcasecmp(text, named[i].name) == 0) {
            *objective = named[i].objective;
            return DSE_OK;
        }
    }
    if (parse_product(text, objective))
        return DSE_OK;
    const char *nearest = text_nearest(text, name, N_NAMED);
    return dse_fail(err, DSE_BAD_INPUT, "unknown objective \"%.100s\"%s%s%s; accepted: " OBJECTIVE_ACCEPTED,
                    text, nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
}

char *objective_print(const struct objective *objective, char *buffer, size_t size)
{
    for (size_t i = 0; i < N_NAMED; i++)
        if (objective->energy_exponent == named[i].objective.energy_exponent &&
            objective->delay_exponent == named[i].objective.delay_exponent) {
            (void)snprintf(buffer, size, "%s", named[i].name);
            return buffer;
        }
    char energy[40], delay[40];
    (void)snprintf(buffer, size, "energy^%s*delay^%s",
                   text_double(objective->energy_exponent, energy, sizeof energy),
                   text_double(objective->delay_exponent, delay, sizeof delay));
    return buffer;
}

/* Exponents 0 and 1 are nearly all there is, and pow costs as much as half an evaluation. */
static double power(double base, double exponent)
{
    if (exponent == 0)
        return 1;
    if (exponent == 1)
        return base;
    return exponent == 2 ? base * base : pow(base, exponent);
}

double objective_cost_of(const struct objective *objective, double energy_j, double latency_s)
{
    return power(energy_j, objective->energy_exponent) * power(latency_s, objective->delay_exponent);
}

double objective_cost(const struct objective *objective, const struct evaluation *evaluation)
{
    return objective_cost_of(objective, evaluation->energy_j, evaluation->latency_s);
}

double objective_bound(const struct objective *objective, const struct lower_bound *bound)
{
    return objective_cost_of(objective, bound->energy_j, bound->latency_s);
}
