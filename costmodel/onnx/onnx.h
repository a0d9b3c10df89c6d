/* ONNX files as networks. A `.onnx` file is put into words as a native network file, which the one reader of
 * networks takes: so what `dse convert` writes and what `dse map` reads are the same. On the way there the
 * file becomes a text without weights, which is what result files keep of it. docs/onnx.md. */
#ifndef COSTMODEL_ONNX_ONNX_H
#define COSTMODEL_ONNX_ONNX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "costmodel/model/network.h"

/* Whether a path is that of an ONNX file: it ends in ".onnx". */
bool onnx_is_path(const char *path);

/* The model in the file `path` without its weights, as a text that onnx_is_text knows; the caller frees
 * `*text`. The file is mapped, and weights are skipped, not read; files beside it stay closed. DSE_IO;
 * DSE_BAD_INPUT: no ONNX, or cut off; DSE_LIMIT: more than 48 MiB are left. */
DSE_MUST_CHECK enum dse_status onnx_load(const char *path, char **text, size_t *length,
                                         struct dse_error *err);
bool onnx_is_text(const char *bytes, size_t length);

/* The same for the bytes of a file in memory; `name` stands for it in messages. */
DSE_MUST_CHECK enum dse_status onnx_pack(const char *name, const void *bytes, size_t n_byte,
                                         struct text_buffer *text, struct dse_error *err);

/* What became of the nodes of one operator. */
struct onnx_count {
    const char *name;
    uint64_t macs; /* per sample */
    uint32_t n;
    uint32_t read, folded, moves, left_out, refused; /* n in all; left_out: in a list only */
};

/* What became of a model; all memory in `arena`. */
struct onnx_report {
    struct arena arena;
    const struct onnx_count *count; /* (n_count) by name */
    size_t n_count;
    bool is_graph;
    const char *reason; /* why it is a list; "" of a graph */
};

struct onnx_options {
    const struct network_settings *settings; /* values of free dimensions; NULL: none */
    const char *const *ignore;               /* (n_ignore) operators that are taken as free */
    size_t n_ignore;
    bool plain;                 /* free dimensions become numbers, not parameters */
    struct onnx_report *report; /* NULL: not wanted; set also where operators are refused */
};

/* Append the native network file that the text of onnx_load is. DSE_BAD_INPUT: no valid model, an operator
 * that is not read, a free dimension without a value, shapes that do not fit; DSE_LIMIT. */
DSE_MUST_CHECK enum dse_status onnx_network_text(const char *name, const char *text, size_t length,
                                                 const struct onnx_options *options, struct text_buffer *out,
                                                 struct dse_error *err);
void onnx_report_free(struct onnx_report *report);

#endif
