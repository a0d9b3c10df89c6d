/* The layers of a network as a list: for people what they cost, for programs also their shapes. */
#ifndef DSE_REPORT_LAYER_LIST_H
#define DSE_REPORT_LAYER_LIST_H

#include "base/status.h"
#include "base/text.h"
#include "costmodel/model/network.h"
#include "dse/console/report_print.h"

/* Append it. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status layer_list(const struct network *network, enum report_format format,
                                          struct text_buffer *out, struct dse_error *err);

#endif
