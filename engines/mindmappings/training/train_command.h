/* dse train ARCH: a surrogate of the costs of mappings. */
#ifndef ENGINES_MINDMAPPINGS_TRAINING_TRAIN_COMMAND_H
#define ENGINES_MINDMAPPINGS_TRAINING_TRAIN_COMMAND_H

#include "engines/driver/engine_command.h"

extern const struct engine_command engine_command_train;

#endif
