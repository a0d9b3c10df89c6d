/* ONNX models: any bytes give a network or one message; what is read has the same layers again from the
 * network file that it becomes. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/onnx/onnx.h"
#include "tests/fuzz/fuzz.h"

static const struct network_set fuzz_set[] = {{"seq_len", "6", NULL, 0, false},
                                              {"steps", "3", NULL, 0, false}};
static const struct network_settings settings = {fuzz_set, 2, true};

/* The network file of the packed model, and the network that it is; false: there is none. */
static bool read_packed(const struct text_buffer *packed, bool plain, struct text_buffer *out,
                        struct network *network)
{
    static const char *const ignore[] = {"FooBar"};
    struct onnx_report report = {.count = NULL};
    const struct onnx_options options = {&settings, ignore, 1, plain, &report};
    const struct network_files files = {.settings = plain ? (struct network_settings){0} : settings};
    struct dse_error err;
    bool fine = fuzz_ok(onnx_network_text("f.onnx", packed->data, packed->length, &options, out, &err), &err);
    for (size_t i = 0; i < report.n_count; i++) {
        const struct onnx_count *count = &report.count[i];
        const uint32_t n = count->read + count->folded + count->moves + count->left_out + count->refused;
        FUZZ_REQUIRE(count->n == n, "%s: a node is not counted once", count->name);
    }
    onnx_report_free(&report);
    return fine && fuzz_ok(network_parse_with("f.onnx", out->data, out->length, &files, network, &err), &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text_buffer packed, out, plain;
    struct network network, again;
    struct dse_error err;
    text_init(&packed);
    text_init(&out);
    text_init(&plain);
    if (fuzz_ok(onnx_pack("f.onnx", data, size, &packed, &err), &err) &&
        read_packed(&packed, false, &out, &network)) {
        FUZZ_REQUIRE(read_packed(&packed, true, &plain, &again), "it reads with parameters only");
        FUZZ_REQUIRE(network.n_layer == again.n_layer && network_macs(&network, 1) == network_macs(&again, 1),
                     "it is another network without parameters");
        network_free(&again);
        network_free(&network);
    }
    text_free(&packed);
    text_free(&out);
    text_free(&plain);
    return 0;
}
