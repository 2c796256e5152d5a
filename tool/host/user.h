/* SPDX-License-Identifier: Apache-2.0 */
/* Becoming another user, for good: what is proven afterwards is what that user's programs get. */
#ifndef PREJIT_HOST_USER_H
#define PREJIT_HOST_USER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "host/root.h"

/** A user as `--user` names it. */
struct pj_host_user {
    uid_t uid;
    gid_t gid;
    char *name; /* of the passwd entry; NULL = there is none; free() */
    char *home; /* of the passwd entry, else "/"; free() */
};

/** Reads "UID", "UID:GID" or a name. Without a passwd entry a UID is fine (GID then the same number, unless
 * given); a name without one is PJ_ERROR_USAGE, as is anything else. */
int pj_host_user_parse(const char *text, struct pj_host_user *ret_user, struct pj_error **err);

/** Name or number for messages: "app" or "1000"; borrowed from `user` or written into `buffer`. */
enum { PJ_HOST_USER_TEXT = 24 };
const char *pj_host_user_text(const struct pj_host_user *user, char buffer[PJ_HOST_USER_TEXT]);

/** Becomes `user`, verified, with umask 022 and its HOME. The groups are the user's own ones, and of the
 * caller's supplementary ones those that own a GPU's device nodes below `root` (/dev/nvidia*, /dev/dxg,
 * /dev/dri): containers give devices by them. Any other, and group 0, would show files that the user's
 * programs cannot read.
 *
 * Who is not root can become itself alone: anything else is PJ_ERROR_USAGE. PJ_ERROR_ENVIRONMENT where the
 * kernel refuses (a user namespace without this UID). The process must have one thread. */
int pj_host_user_become(const struct pj_host_user *user, const struct pj_host_root *root,
                        struct pj_error **err);

void pj_host_user_free(struct pj_host_user *user);
#define PJ_CLEANUP_HOST_USER __attribute__((cleanup(pj_host_user_free)))

/** Name of the user with this number, for a command line: "app" or "1000"; free(); NULL when memory is out.
 */
char *pj_host_user_name_of(uid_t uid);

#endif
