/* SPDX-License-Identifier: Apache-2.0 */
/* Walks from the cache to an entry, directory by directory. */
#include "session/run/obstacle.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "cache/format.h"
#include "report/phrase.h"

enum obstacle { NONE, NO_DIRECTORY, CLOSED, NO_FILE };

/* What `path` is on the way: a hash directory, or the entry at its end. */
static enum obstacle judge(const char *path, bool is_entry, bool *ret_ends)
{
    struct stat status;
    *ret_ends = lstat(path, &status) != 0;
    if (*ret_ends)
        return NONE;
    if (is_entry)
        return S_ISREG(status.st_mode) || S_ISLNK(status.st_mode) ? NONE : NO_FILE;
    if (!S_ISDIR(status.st_mode))
        return NO_DIRECTORY;
    bool usable = faccessat(AT_FDCWD, path, R_OK | W_OK | X_OK, AT_EACCESS) == 0;
    return !usable && status.st_uid == geteuid() ? CLOSED : NONE;
}

static enum obstacle find(const char *cache, uint64_t hash, struct pj_buffer *ret_path)
{
    static const size_t lengths[] = {1, 3, PJ_ENTRY_PATH_TEXT - 1};
    char relative[PJ_ENTRY_PATH_TEXT];
    enum obstacle found = NONE;
    bool ends = false;
    (void)pj_entry_path(hash, relative);
    for (size_t i = 0; i < PJ_COUNT(lengths) && found == NONE && !ends; i++) {
        pj_buffer_reset(ret_path);
        pj_buffer_printf(ret_path, "%s/%.*s", cache, (int)lengths[i], relative);
        if (!ret_path->failed)
            found = judge(pj_buffer_text(ret_path), i + 1 == PJ_COUNT(lengths), &ends);
    }
    return found;
}

const char *pj_obstacle_explain(struct pj_session *session, uint64_t hash, const char *message)
{
    PJ_CLEANUP_BUFFER struct pj_buffer path = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    enum obstacle found = find(session->location.path, hash, &path);
    pj_buffer_puts(&text, message);
    if (found == CLOSED)
        pj_buffer_puts(&text, "; open it: chmod u+rwx ");
    else if (found != NONE)
        pj_buffer_puts(&text, "; remove it: rm -rf ");
    if (found != NONE)
        pj_phrase_quote(&text, pj_buffer_text(&path));
    return path.failed || text.failed ? NULL : pj_arena_strdup(&session->arena, pj_buffer_text(&text));
}
