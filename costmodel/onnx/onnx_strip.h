/* A model without its weights. */
#ifndef COSTMODEL_ONNX_ONNX_STRIP_H
#define COSTMODEL_ONNX_ONNX_STRIP_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"

/* Of the model in `bytes` (length) the fields that a network needs: no weights, but small integer tensors and
 * very small ones of real numbers, no graphs in attributes, no documentation. It is a valid model again if it
 * was one, nested no deeper than that. Bytes of weights are not touched. DSE_BAD_INPUT: no protocol buffer,
 * or cut off; DSE_LIMIT: more than ONNX_STRIPPED_MAX are left; DSE_NO_MEMORY. */
enum { ONNX_STRIPPED_MAX = 48 << 20 };
DSE_MUST_CHECK enum dse_status onnx_strip(const char *name, const uint8_t *bytes, size_t length,
                                          struct text_buffer *out, struct dse_error *err);

#endif
