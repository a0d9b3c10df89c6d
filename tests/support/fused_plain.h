/* The two-engine rule of fused schedules once more, as plainly as possible: time goes from event to event,
 * and at each one whatever may start starts; every condition is looked up in the schedule anew. Slow. What
 * fused_evaluate must agree with. */
#ifndef TESTS_SUPPORT_FUSED_PLAIN_H
#define TESTS_SUPPORT_FUSED_PLAIN_H

#include "base/random.h"
#include "costmodel/fused/fused_schedule.h"

/* Fault, its tensor and position, cycle and largest occupancy of the result, and the trace but for the
 * stalls. False: no memory. The read lists must be filled. */
bool fused_plain(const struct fused_schedule *schedule, const struct fused_machine *machine,
                 struct arena *scratch, struct fused_trace *trace, struct fused_result *result);

/* A random schedule of 1 to `n_tile_max` tiles. `disorder` 0: nothing but its occupancy can be wrong; 1 to
 * 100: so many per cent of the living durations and of the places in the DRAM order are moved a little.
 * False: no memory. */
bool fused_random(struct random_stream *stream, uint32_t n_tile_max, uint32_t disorder, struct arena *arena,
                  struct fused_schedule *schedule, struct fused_machine *machine);

#endif
