/* The default rules of the SoMa parser once more, element by element: every output element of every tile
 * names all elements that it reads. Slow. What soma_plan_ranges and soma_parse must agree with. */
#ifndef TESTS_SUPPORT_SOMA_PLAIN_H
#define TESTS_SUPPORT_SOMA_PLAIN_H

#include <stddef.h>

#include "base/random.h"
#include "engines/soma/notation/tile_plan.h"

/* Compare ranges and tensors with what the elements say:
 * - tiles of a group's outputs are all of the output, each element once;
 * - a tile that only its group reads is the smallest box with all that the group's tile of that number reads
 *   (whole groups of channels, for a layer with such), one that others read as well has that box in it, and
 *   its tiles together are everything;
 * - a tile loads the smallest box with all it reads of a source, and nothing where it reads nothing;
 * - a store moves what no earlier tile of the layer had;
 * - a tensor that stays in the buffer for its layer group is alive at every tile that reads an element of it;
 *   its last use is the last tile of its readers: of the tile's own number in its group, of any number in
 *   others.
 * `plan` has ranges, `schedule` is soma_parse's. False: `message` says where they differ. All numbers are
 * small. */
bool soma_plain_agrees(const struct soma_plan *plan, const struct fused_schedule *schedule,
                       struct arena *scratch, char *message, size_t size);

/* A random network of few and small layers as text for network_parse: windows with strides, dilation and
 * padding, groups, fully connected layers, sums, concatenations, transposes and matrix products. */
void soma_random_network(struct random_stream *stream, struct text_buffer *text);

/* The network with random layers cut in random ways, up to 3 x 3 parts each; none may be. Memory of
 * `arena`. */
void soma_random_cut(struct random_stream *stream, const struct network *network, struct arena *arena,
                     struct network *out);

/* A random scheme of a network. Memory of `arena`. */
struct soma_lfa soma_random_lfa(struct random_stream *stream, const struct soma_graph *graph,
                                struct arena *arena);

#endif
