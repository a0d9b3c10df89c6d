/* Names of dataflows, the loops that a mapping unrolls over an array: "C|K", "FY|YK", and the keys of the
 * authors' program, "(5)(4)". */
#ifndef COSTMODEL_INTERSTELLAR_DATAFLOW_H
#define COSTMODEL_INTERSTELLAR_DATAFLOW_H

#include "base/text.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"

/* Append the loops of each side of every array, near loops first, sides apart by "|" and arrays by " ; ",
 * in the paper's letters; other problems have their own dimensions' names, with "." between loops where one
 * is longer than a letter. An array whose loops are all of one iteration is left out; "" when all are. */
void dataflow_name(const struct mapping *mapping, const struct problem *problem,
                   const struct architecture *arch, struct text_buffer *out);

/* The same as the authors' key: "(" digits of the loops ")" for each side. Loops that are none of the seven
 * count from 7 on in the problem's order. */
void dataflow_key(const struct mapping *mapping, const struct problem *problem,
                  const struct architecture *arch, struct text_buffer *out);

#endif
