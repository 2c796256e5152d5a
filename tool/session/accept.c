/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of the index, a stand-in entry, one store, and a look at what is left. */
#include "session/accept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

enum { INDEX_MAX_BYTES = 1 << 30 };

static const char stand_in[] = "f/f/ffffffffffffff";

static int copy_index(const struct pj_session *session, int folder_fd, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    int r = pj_file_read(pj_store_directory(session->store), "index", INDEX_MAX_BYTES, &bytes, err);
    return r < 0 ? r : pj_file_replace(folder_fd, "index", pj_buffer_text(&bytes), bytes.size, 0600, err);
}

static int make_stand_in(const char *folder, struct pj_error **err)
{
    PJ_CLEANUP_FREE char *directory = pj_path_join(folder, "f/f");
    PJ_CLEANUP_FREE char *path = pj_path_join(folder, stand_in);
    if (!directory || !path)
        return pj_error_no_memory(err);
    int r = pj_directory_create(directory, 0700, err);
    return r < 0 ? r : pj_file_replace(AT_FDCWD, path, "stand-in", 8, 0600, err);
}

/* Does a worker come to store the probe in the folder? */
static int store_probe(struct pj_engine *engine, const char *folder, bool *ret_stored, struct pj_error **err)
{
    const struct pj_worker_spec spec = {
        .cache_path = folder, .cache_max_bytes = PJ_PRIVATE_CACHE_BYTES, .watch_path = folder};
    struct pj_probe probe = {.fd = -1};
    struct pj_event event = {0};
    int r = pj_probe_make(true, &probe, err);
    if (r < 0)
        return r;
    struct pj_wire_part part;
    struct pj_wire_descriptors descriptors;
    pj_probe_part(&probe, &part, &descriptors);
    const struct pj_wire_message order = {
        .type = PJ_WIRE_LOAD,
        .load = {.method = PJ_LOAD_COMPILE, .part_count = 1, .parts = &part},
    };
    r = pj_engine_ask(engine, &spec, &order, &descriptors, &event, err);
    *ret_stored = r == 0 && event.kind == PJ_EVENT_LOADED && event.loaded->entry_count > 0;
    pj_probe_close(&probe);
    return r;
}

int pj_accept_ask(struct pj_engine *engine, enum pj_acceptance *ret_acceptance, struct pj_error **err)
{
    struct pj_session *session = engine->session;
    const char *folder = NULL;
    PJ_CLEANUP_CLOSE int folder_fd = -1;
    struct stat status;
    bool stored = false;
    int r = pj_store_named_folder(session->store, "accept", &folder, err);
    if (r == 0)
        r = pj_directory_open(AT_FDCWD, folder, false, &folder_fd, err);
    if (r == 0)
        r = copy_index(session, folder_fd, err);
    if (r == 0)
        r = make_stand_in(folder, err);
    if (r == 0)
        r = store_probe(engine, folder, &stored, err);
    if (r < 0)
        return r;
    bool survived = fstatat(folder_fd, stand_in, &status, AT_SYMLINK_NOFOLLOW) == 0;
    *ret_acceptance = !survived ? PJ_ACCEPT_DELETES : stored ? PJ_ACCEPT_YES : PJ_ACCEPT_UNKNOWN;
    return 0;
}
