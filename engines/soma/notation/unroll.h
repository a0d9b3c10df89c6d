/* What was found for a folded network (costmodel/model/network_fold.h), for the whole one. */
#ifndef ENGINES_SOMA_NOTATION_UNROLL_H
#define ENGINES_SOMA_NOTATION_UNROLL_H

#include "engines/soma/notation/notation.h"

/* The layer groups of `folded`, segment by segment, those of a block once for each repetition. `whole` has
 * room for the whole network's layers (soma_lfa_new). No layer group of `folded` has layers of several
 * segments (SOMA_BLOCK). */
void soma_unroll_lfa(const struct network_fold *fold, const struct soma_lfa *folded, struct soma_lfa *whole);

#endif
