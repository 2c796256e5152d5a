/* SPDX-License-Identifier: Apache-2.0 */
/* A run is killed at every point between two changes, alone and with evictions: no entry is lost, the driver
 * may come before the next run or after it, and the next run completes what the dead one began. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"
#include "driver.h"
#include "fixture.h"
#include "points.h"

enum { FOREIGN = 5, OURS = 70 /* two holds */ };

/* Keys long enough for their origin to be read from the two ends. */
#define LONG " 0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"

enum scene {
    VALID,    /* foreign entries, listed */
    UNLISTED, /* the same, one of them not listed, one record without a file, an empty file */
    NO_INDEX, /* the same without an index */
    SHORT,    /* the same with a cut index */
    FULL,     /* two of the foreign ones are stale and must go for ours */
    DEAD_RUN, /* a dead run left ours in its folder */
    SCENES,
    STARVED = SCENES, /* as VALID, and a program that never gives its shared lock back */
};

struct place {
    enum scene scene;
    char *cache;
    uint64_t foreign[FOREIGN], ours[OURS];
    uint64_t limit;
};

static const char *stamp_of(const struct place *place, size_t i)
{
    return place->scene == FULL && (i == 1 || i == 2) ? OTHER_STAMP : STAMP;
}

static void image_of(size_t i, char ret_image[32])
{
    (void)snprintf(ret_image, 32, "ours %zu", i);
}

static void damage_index(const struct place *place)
{
    PJ_CLEANUP_FREE char *index = pj_path_join(place->cache, "index");
    if (place->scene == NO_INDEX)
        assert_int_equal(unlink(index), 0);
    if (place->scene == SHORT)
        assert_int_equal(truncate(index, 40), 0);
    if (place->scene == UNLISTED) {
        char path[PJ_ENTRY_PATH_TEXT];
        uint64_t gone = put_entry(place->cache, STAMP, "gone", 10);
        uint64_t listed[FOREIGN] = {place->foreign[0], gone, place->foreign[1], place->foreign[2],
                                    place->foreign[3]};
        put_index(place->cache, listed, FOREIGN);
        PJ_CLEANUP_FREE char *file = pj_path_join(place->cache, pj_entry_path(gone, path));
        assert_int_equal(unlink(file), 0);
        write_entry(place->cache, UINT64_C(0x2222222222222222), "", 0);
    }
}

static void make_place(struct place *place, enum scene scene)
{
    uint64_t total = 0, stale = 0;
    *place = (struct place){.scene = scene, .cache = make_cache()};
    for (size_t i = 0; i < FOREIGN; i++) {
        char image[128];
        (void)snprintf(image, sizeof image, "foreign %zu" LONG, i);
        place->foreign[i] = put_entry(place->cache, stamp_of(place, i), image, 4000);
        total += entry_bytes(place->cache, place->foreign[i]) - 28;
        if (strcmp(stamp_of(place, i), OTHER_STAMP) == 0)
            stale += entry_bytes(place->cache, place->foreign[i]) - 28;
    }
    put_index(place->cache, place->foreign, FOREIGN);
    damage_index(place);
    PJ_CLEANUP_FREE char *dead = pj_path_join(place->cache, ".prejit/run-999999999-7/w0");
    for (size_t i = 0; i < OURS; i++) {
        char image[32];
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {.data = NULL};
        image_of(i, image);
        place->ours[i] = make_entry_bytes(STAMP, 90, image, 100, &bytes);
        total += bytes.size - 28;
        if (scene == DEAD_RUN)
            write_entry(dead, place->ours[i], bytes.data, bytes.size);
    }
    place->limit = scene == FULL ? total - stale : UINT64_C(1) << 30;
}

struct killer {
    const char *point;
    int countdown;
};

static void kill_at(void *context, const char *point)
{
    struct killer *killer = context;
    if (killer->point && strcmp(point, killer->point) == 0 && killer->countdown-- == 0)
        (void)raise(SIGKILL);
}

/* A whole run: all of ours are in the cache and listed afterwards. */
static bool run(const struct place *place, struct killer *killer)
{
    struct pj_store_options options = fixture_options(place->cache);
    struct pj_store_preparation done;
    struct pj_commit_item items[OURS];
    bool listed[OURS];
    options.limit_bytes = place->limit;
    options.at_point = kill_at;
    options.context = killer;
    struct pj_store *store = open_store(&options, &done);
    for (size_t i = 0; i < OURS; i++) {
        char image[32];
        image_of(i, image);
        items[i] = put_item(store, i % 2, STAMP, image, 100);
    }
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    if (pj_store_commit(store, STAMP, items, OURS, &err) < 0)
        fail_msg("%s", pj_error_message(err));
    bool all = true;
    assert_int_equal(pj_store_listed(store, place->ours, OURS, listed, NULL), 0);
    for (size_t i = 0; i < OURS; i++) {
        all =
            all && listed[i] && (items[i].result == PJ_COMMIT_STORED || items[i].result == PJ_COMMIT_PRESENT);
        free(items[i].message);
    }
    pj_store_close(store, false);
    return all;
}

/* In a child; true where it was killed at the point. */
static bool run_and_die(const struct place *place, const char *point, int countdown)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct killer killer = {.point = point, .countdown = countdown};
        _exit(run(place, &killer) ? 0 : 3);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status))
        return true;
    if (status != 0)
        fail_msg("scene %d: the run ended with %d", (int)place->scene, WEXITSTATUS(status));
    return false;
}

static bool is_expendable(const struct place *place, size_t i)
{
    return strcmp(stamp_of(place, i), OTHER_STAMP) == 0;
}

static void expect_nothing_lost(const struct place *place)
{
    for (size_t i = 0; i < FOREIGN; i++) {
        if (!is_expendable(place, i))
            assert_int_equal(entry_state(place->cache, place->foreign[i]), PJ_ENTRY_SOUND);
    }
    struct pj_snapshot snapshot;
    assert_int_equal(pj_snapshot_take(place->cache, &snapshot, NULL), 0);
    for (size_t i = 0; i < snapshot.count; i++) {
        if (snapshot.entries[i].index_position != PJ_NOT_LISTED)
            assert_int_equal(entry_state(place->cache, snapshot.entries[i].hash), PJ_ENTRY_SOUND);
    }
    pj_snapshot_free(&snapshot);
}

static bool index_is_valid(const struct place *place)
{
    struct pj_snapshot snapshot;
    assert_int_equal(pj_snapshot_take(place->cache, &snapshot, NULL), 0);
    bool valid = snapshot.index_state == PJ_INDEX_VALID;
    pj_snapshot_free(&snapshot);
    return valid;
}

static void expect_complete(const struct place *place)
{
    struct killer none = {.point = NULL};
    assert_true(run(place, &none));
    expect_nothing_lost(place);
    expect_no_rubbish(place->cache);
    assert_true(index_is_valid(place));
    struct pj_snapshot snapshot;
    assert_int_equal(pj_snapshot_take(place->cache, &snapshot, NULL), 0);
    uint64_t total = 0;
    assert_int_equal(snapshot.count, snapshot.index.count);
    for (size_t i = 0; i < snapshot.count; i++) {
        assert_int_not_equal(snapshot.entries[i].index_position, PJ_NOT_LISTED);
        total += snapshot.entries[i].size - 28;
    }
    assert_int_equal(snapshot.index.total_bytes, total);
    assert_true(total <= place->limit);
    pj_snapshot_free(&snapshot);
}

/* What the driver does with the cache as the dead run left it. */
static void expect_driver_spares(const struct place *place)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {.data = NULL};
    uint64_t hash = make_entry_bytes(STAMP, 90, "a program's", 30, &bytes);
    assert_true(driver_read(place->cache, place->foreign[0]));
    assert_true(driver_store(place->cache, hash, bytes.data, bytes.size, UINT64_C(1) << 30));
    expect_nothing_lost(place);
    assert_int_equal(entry_state(place->cache, hash), PJ_ENTRY_SOUND);
}

/* A program that never gives its shared lock on `index` back. */
static pid_t start_holder(const struct place *place)
{
    int ready[2];
    char byte = 0;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
        PJ_CLEANUP_FREE char *index = pj_path_join(place->cache, "index");
        int fd = open(index, O_RDWR | O_CLOEXEC);
        if (fd < 0 || fcntl(fd, F_SETLK, &lock) != 0 || write(ready[1], &byte, 1) != 1)
            _exit(1);
        (void)pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    (void)close(ready[1]);
    return pid;
}

static void stop_holder(pid_t pid)
{
    int status;
    (void)kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
}

static int reached[PJ_COUNT(points)];

static void kill_once(enum scene scene, size_t point, int countdown, bool driver_first)
{
    struct place place;
    const char *name = points[point];
    make_place(&place, scene);
    bool damaged = scene == NO_INDEX || scene == SHORT;
    pid_t holder = scene == STARVED ? start_holder(&place) : 0;
    bool died = run_and_die(&place, name, countdown);
    if (holder)
        stop_holder(holder);
    if (died) {
        reached[point]++;
        expect_nothing_lost(&place);
        /* Once it was made valid it stays so; before that it is as it was found. */
        bool before = strcmp(name, "S0.run-folder-made") == 0 || strcmp(name, "S0.index-staged") == 0;
        if (!(damaged && before)) {
            if (!index_is_valid(&place))
                fail_msg("scene %d, %s: the index is not valid", (int)scene, name);
            if (driver_first)
                expect_driver_spares(&place);
        }
    }
    if (scene == FULL && driver_first)
        place.limit += 4000; /* for the entry that the driver stored */
    expect_complete(&place);
    remove_cache(place.cache);
}

static void test_every_point(void **state)
{
    (void)state;
    for (size_t point = 0; point < PJ_COUNT(points); point++) {
        for (int scene = 0; scene < SCENES; scene++)
            kill_once((enum scene)scene, point, 0, (scene + (int)point) % 2 == 0);
        /* the second time, where it comes again: in the middle of the work */
        kill_once(FULL, point, 1, point % 2 == 0);
        if (strcmp(points[point], "S3.index-copied") == 0 ||
            strcmp(points[point], "S3.index-taken-over") == 0)
            kill_once(STARVED, point, 0, true);
    }
}

/* A point that nothing reaches is not tested by the above. */
static void test_all_points_were_reached(void **state)
{
    (void)state;
    for (size_t point = 0; point < PJ_COUNT(points); point++) {
        if (reached[point] == 0)
            fail_msg("no run came to the point %s", points[point]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_point),
        cmocka_unit_test(test_all_points_were_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
