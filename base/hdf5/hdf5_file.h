/* What cubes and timelines share of HDF5: files, groups, attributes, texts, and HDF5's own words about a
 * failure. Functions that return int or hid_t return >= 0 on success and < 0 on failure, like HDF5 itself. */
#ifndef BASE_HDF5_HDF5_FILE_H
#define BASE_HDF5_HDF5_FILE_H

#include <hdf5.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

/* Close whatever HDF5 has opened: a file, group, dataset, space, type, list; < 0, what could not be opened,
 * is fine. */
void hdf5_close(hid_t id);

/* Open for reading. The file was renamed into place whole, so no lock is needed (and some file systems have
 * none). From now on HDF5 prints nothing. DSE_IO: it cannot be read; DSE_BAD_INPUT: it is not HDF5. */
DSE_MUST_CHECK enum dse_status hdf5_open(const char *path, hid_t *file, struct dse_error *err);

/* A group whose links keep the order of their making. */
hid_t hdf5_create_group(hid_t parent, const char *name);

/* The variable-length UTF-8 string type (close it with H5Tclose). */
hid_t hdf5_text_type(void);

/* Write an attribute: scalar when n is 0, else (n). A text is one variable-length UTF-8 string. */
int hdf5_put_attribute(hid_t object, const char *name, hid_t type, const void *value, size_t n);
int hdf5_put_text(hid_t object, const char *name, const char *value);
int hdf5_put_texts(hid_t object, const char *name, const char *const *value, size_t n);

/* Variable-length strings as HDF5 has read them into raw (n), copied to text (n) in the arena and given back
 * to HDF5; NULL becomes "". DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status hdf5_keep_texts(hid_t type, hid_t space, char **raw, size_t n,
                                               struct arena *arena, const char **text, struct dse_error *err);

/* HDF5's own words about the first failed call since hdf5_errors_catch; "" when none failed. */
struct hdf5_errors {
    char text[256];
};

/* From now on HDF5 prints nothing and its first message is kept in `errors`, which must stay until
 * hdf5_errors_silence. */
void hdf5_errors_catch(struct hdf5_errors *errors);

/* HDF5 prints nothing and keeps nothing. */
void hdf5_errors_silence(void);

#endif
