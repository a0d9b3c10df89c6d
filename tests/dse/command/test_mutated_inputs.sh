#!/bin/sh
# Mutated inputs of every kind through the program, a few hundred; `tests/dse/command/mutated_inputs.py 2000` is the long form.
# Tests: command_run.c, command_eval.c.
exec "${PYTHON:-python3}" -B tests/dse/command/mutated_inputs.py "$@"
