/* Files that come with the program: experiments/ (architectures, networks, specifications), plotting/ and
 * slurm/ (templates). And files that it writes, which are there only when they are whole. */
#ifndef BASE_FILES_H
#define BASE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/status.h"
#include "base/text.h"

/* Find the folder `name` ("experiments", "plotting"): of the installation or the source tree that the running
 * program lies in (PREFIX/bin/dse, build/dse, build/VARIANT/dse), or the shared library, where that is loaded
 * by another program; else of the installation it was built for.
 * Returns 1 with `path` (size bytes) set, or 0 with the place of the installation in `path`, for a
 * message. */
int data_folder_find(const char *name, char *path, size_t size);

/* Append the file `name` of this folder of the program's data. DSE_IO when it is not there or cannot be
 * read. */
DSE_MUST_CHECK enum dse_status data_folder_append(const char *folder, const char *name,
                                                  struct text_buffer *text, struct dse_error *err);

/* The same from any folder. */
DSE_MUST_CHECK enum dse_status data_file_append(const char *folder, const char *name,
                                                struct text_buffer *text, struct dse_error *err);

/* Create the file anew and open it for reading and writing. What lay there goes, unless it is a folder or
 * the system's (file_is_systems); a link is never followed. Returns the descriptor, or -1 with errno. */
int file_create(const char *path);

/* open for a file that is kept when it is there (O_CREAT in `flags` makes it): a link is not followed, or
 * another could choose by one what is written over. Returns the descriptor, or -1 with errno. */
int file_open_kept(const char *path, int flags);

/* strerror, with words for what file_open_kept says to a link. */
const char *file_error(int code);

/* Does the system make what lies there? /dev/stdout, /dev/fd/63: links are followed, nothing replaces it. */
bool file_is_systems(const char *path);

enum { NEW_FILE_PATH_MAX = 4096 };

/* Bytes go to PATH.tmp, which becomes PATH when all is well; to PATH itself where it is the system's. */
struct new_file {
    const char *path; /* borrowed; NULL: no file */
    char temporary[NEW_FILE_PATH_MAX];
    FILE *stream;
};

/* Make PATH.tmp, or with `path` NULL take `otherwise` (borrowed; may be NULL). DSE_BAD_USAGE for an empty or
 * too long path, DSE_IO when it cannot be written. */
DSE_MUST_CHECK enum dse_status new_file_open(const char *path, FILE *otherwise, struct new_file *file,
                                             struct dse_error *err);

/* Finish what was opened, `status` being what came of the bytes: the file takes its name, or is removed.
 * Returns `status`, or DSE_IO when all was well but for the writing. */
DSE_MUST_CHECK enum dse_status new_file_close(struct new_file *file, enum dse_status status,
                                              struct dse_error *err);

/* All of a text, as a new file. DSE_NO_MEMORY when the text has failed; else as new_file_open and _close. */
DSE_MUST_CHECK enum dse_status new_file_write(const char *path, const struct text_buffer *text,
                                              struct dse_error *err);

#endif
