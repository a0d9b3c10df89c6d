/* A model as `dse train` writes it, with a small network that has learnt nothing. */
#ifndef TESTS_SUPPORT_MM_MODEL_CASE_H
#define TESTS_SUPPORT_MM_MODEL_CASE_H

#include "engines/mindmappings/mm_model.h"

/* For this machine and mode; logarithms in and out. Everything lies in the arena. */
void mm_model_case(const struct mm_machine *machine, enum mm_mode mode, struct arena *arena,
                   struct mm_model *model);

#endif
