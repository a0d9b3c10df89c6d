/* A virtual file driver of HDF5 that gathers small writes and keeps the first errno. */
#include "base/hdf5/hdf5_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/hdf5/hdf5_file.h"
#include "base/hdf5/hdf5_guard.h"
#include "base/text.h"

enum {
    GATHER_BYTE = 1 << 20,
    SMALL_DATA_BYTE = 1 << 16 /* texts are asked for in such pieces of the file, and so lie together */
};

/* What HDF5 holds of an open file. */
struct output_file {
    H5FD_t public_part; /* first, as HDF5 has it */
    struct hdf5_output *output;
    haddr_t end_allocated, end_written;
};

/* Driver information in the access list: HDF5 copies the pointer. */
struct output_info {
    struct hdf5_output *output;
};

static void write_out(struct hdf5_output *output, const char *bytes, size_t n, uint64_t at)
{
    while (n > 0 && !output->failed) {
        ssize_t done = pwrite(output->fd, bytes, n, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            output->failed = done < 0 && errno ? errno : EIO;
            return;
        }
        bytes += done;
        n -= (size_t)done;
        at += (uint64_t)done;
    }
}

static void write_gathered(struct hdf5_output *output)
{
    write_out(output, output->bytes, output->n, output->at);
    output->n = 0;
}

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access, haddr_t limit)
{
    (void)name;
    (void)flags;
    (void)limit;
    const struct output_info *info = H5Pget_driver_info(access);
    struct output_file *file = info ? calloc(1, sizeof *file) : NULL;
    if (file)
        file->output = info->output;
    return (H5FD_t *)file;
}

static herr_t driver_close(H5FD_t *pub)
{
    struct output_file *file = (struct output_file *)pub;
    write_gathered(file->output);
    free(file);
    return 0;
}

static herr_t driver_query(const H5FD_t *pub, unsigned long *flags)
{
    (void)pub;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t driver_get_eoa(const H5FD_t *pub, H5FD_mem_t type)
{
    (void)type;
    return ((const struct output_file *)pub)->end_allocated;
}

static herr_t driver_set_eoa(H5FD_t *pub, H5FD_mem_t type, haddr_t at)
{
    (void)type;
    ((struct output_file *)pub)->end_allocated = at;
    return 0;
}

static haddr_t driver_get_eof(const H5FD_t *pub, H5FD_mem_t type)
{
    (void)type;
    return ((const struct output_file *)pub)->end_written;
}

/* What lies behind the end of the file, or could not be written, reads as zeros. */
static herr_t driver_read(H5FD_t *pub, H5FD_mem_t type, hid_t list, haddr_t at, size_t n, void *bytes)
{
    struct hdf5_output *output = ((struct output_file *)pub)->output;
    char *to = bytes;
    (void)type;
    (void)list;
    if (at < output->at + output->n && output->at < at + n)
        write_gathered(output);
    while (n > 0) {
        ssize_t done = pread(output->fd, to, n, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            if (done < 0 && !output->failed)
                output->failed = errno;
            memset(to, 0, n);
            return 0;
        }
        to += done;
        n -= (size_t)done;
        at += (uint64_t)done;
    }
    return 0;
}

static herr_t driver_write(H5FD_t *pub, H5FD_mem_t type, hid_t list, haddr_t at, size_t n, const void *bytes)
{
    struct output_file *file = (struct output_file *)pub;
    struct hdf5_output *output = file->output;
    (void)type;
    (void)list;
    if (at + n > file->end_written)
        file->end_written = at + n;
    bool inside =
        output->n && at >= output->at && at <= output->at + output->n && at + n <= output->at + GATHER_BYTE;
    if (!inside)
        write_gathered(output);
    if (n > GATHER_BYTE) {
        write_out(output, bytes, n, at);
        return 0;
    }
    if (!inside)
        output->at = at;
    memcpy(output->bytes + (at - output->at), bytes, n);
    if (at - output->at + n > output->n)
        output->n = (size_t)(at - output->at) + n;
    return 0;
}

static herr_t driver_truncate(H5FD_t *pub, hid_t list, hbool_t closing)
{
    struct output_file *file = (struct output_file *)pub;
    struct hdf5_output *output = file->output;
    (void)list;
    (void)closing;
    write_gathered(output);
    if (file->end_allocated == file->end_written)
        return 0;
    if (!output->failed && ftruncate(output->fd, (off_t)file->end_allocated) != 0)
        output->failed = errno;
    file->end_written = file->end_allocated;
    return 0;
}

static const H5FD_class_t driver_class = {
    .name = "dse_output",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG, /* what a failure left open goes with the file */
    .fapl_size = sizeof(struct output_info),
    .open = driver_open,
    .close = driver_close,
    .query = driver_query,
    .get_eoa = driver_get_eoa,
    .set_eoa = driver_set_eoa,
    .get_eof = driver_get_eof,
    .read = driver_read,
    .write = driver_write,
    .truncate = driver_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

static hid_t create_file(struct hdf5_output *output)
{
    const struct output_info info = {output};
    const unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
    hid_t file = -1, create = H5Pcreate(H5P_FILE_CREATE), access = H5Pcreate(H5P_FILE_ACCESS);
    output->driver = H5FDregister(&driver_class);
    if (create >= 0 && access >= 0 && output->driver >= 0 && H5Pset_link_creation_order(create, order) >= 0 &&
        H5Pset_attr_creation_order(create, order) >= 0 && H5Pset_obj_track_times(create, false) >= 0 &&
        H5Pset_file_locking(access, false, true) >= 0 &&
        H5Pset_small_data_block_size(access, SMALL_DATA_BYTE) >= 0 &&
        H5Pset_driver(access, output->driver, &info) >= 0)
        file = H5Fcreate(output->path, H5F_ACC_TRUNC, create, access);
    hdf5_close(create);
    hdf5_close(access);
    return file;
}

/* Everything but HDF5's file. */
static void release(struct hdf5_output *output)
{
    if (output->driver >= 0)
        H5FDunregister(output->driver);
    if (output->fd >= 0)
        close(output->fd);
    free(output->bytes);
    output->bytes = NULL;
    output->driver = output->fd = -1;
}

enum dse_status hdf5_output_open(struct hdf5_output *output, const char *path, struct dse_error *err)
{
    *output = (struct hdf5_output){.file = -1, .driver = -1, .fd = -1};
    if (!text_copy(output->path, sizeof output->path, path))
        return dse_fail(err, DSE_LIMIT, "the output path is too long");
    output->bytes = malloc(GATHER_BYTE);
    if (!output->bytes)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a result file");
    output->fd = file_create(path);
    if (output->fd < 0) {
        int reason = errno;
        release(output);
        return dse_fail_at(err, DSE_IO, path, 0, "cannot be created: %s", strerror(reason));
    }
    output->file = create_file(output);
    if (output->file < 0) {
        release(output);
        return dse_fail_at(err, DSE_IO, path, 0, "cannot be created");
    }
    return DSE_OK;
}

enum dse_status hdf5_output_close(struct hdf5_output *output, struct dse_error *err)
{
    bool closed = H5Fclose(output->file) >= 0;
    enum dse_status sealed =
        closed && !output->failed ? hdf5_seal(output->path, output->origin, err) : DSE_OK;
    if (!output->failed && closed && fsync(output->fd) != 0 && errno != EINVAL && errno != ENOSYS)
        output->failed = errno;
    int reason = output->failed;
    release(output);
    output->file = -1;
    if (reason)
        return dse_fail_at(err, DSE_IO, output->path, 0, "cannot be written: %s", strerror(reason));
    return closed ? sealed : dse_fail_at(err, DSE_IO, output->path, 0, "cannot be written");
}
