/* SPDX-License-Identifier: Apache-2.0 */
/* The way to a folder, looked at as root: can anybody but root make the path mean something else?
 *
 * Every part of a path is opened by itself, relative to the one before, and the opened folder is judged:
 * links are read and followed by hand. Where no part is another user's, and none can be written by others,
 * only root can rename, replace or remove a part. From then on the path is as good as a descriptor,
 * also for the driver, which is given paths and opens them by name. */
#ifndef PREJIT_BASE_WAY_H
#define PREJIT_BASE_WAY_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"

enum pj_way_fault {
    PJ_WAY_CLOSED,   /* none: only root can change it */
    PJ_WAY_OF_OTHER, /* it belongs to another user */
    PJ_WAY_WRITABLE, /* its group, or everybody, can write it */
    PJ_WAY_LINK,     /* a link that another user made, or in a folder where everybody can make one */
};

struct pj_way {
    int fd;                  /* O_PATH; the folder, or the last one on the way that is there */
    bool exists;             /* the whole path is there */
    enum pj_way_fault fault; /* the first one on the way */
    char *culprit;           /* absolute path of what has it; NULL where there is none */
    struct stat status;      /* of the culprit */
};
#define PJ_WAY_NONE ((struct pj_way){.fd = -1})

enum pj_way_end {
    PJ_WAY_TO_CACHE,  /* the last folder must be closed, too */
    PJ_WAY_TO_PARENT, /* something of root's is made in the last folder: it may be like /tmp, sticky */
};

/** Walks from `root` ("" = "/") to the absolute `path` and judges each folder. A sticky folder of root's is
 * no fault above one of root's own. What is missing, no folder, or cannot be passed ends the walk:
 * exists = false, success. Negative where memory is out, or `root` cannot be opened. */
int pj_way_walk(const char *root, const char *path, enum pj_way_end end, struct pj_way *ret_way,
                struct pj_error **err);

/** As pj_way_walk from "/", and makes missing folders (0700 less the umask). Stops at a fault, before
 * anything is made behind it. PJ_ERROR_IO, with the errno, where the folder cannot be had. */
int pj_way_make(const char *path, struct pj_way *ret_way, struct pj_error **err);

/** Judges one opened file or folder (O_PATH will do). */
enum pj_way_fault pj_way_judge(int fd, const struct stat *status);

/** A UID that is root's, or that stands for users outside of this user namespace: no process in it can act as
 * one. */
bool pj_way_trusts(uid_t uid);

void pj_way_free(struct pj_way *way);
#define PJ_CLEANUP_WAY __attribute__((cleanup(pj_way_free)))

#endif
