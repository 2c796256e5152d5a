/* SPDX-License-Identifier: Apache-2.0 */
/* Open-file-description lock on `index` with a time limit.
 *
 * Such locks and the driver's POSIX record locks exclude each other, and one is not lost when another
 * descriptor of the file is closed. The driver polls, and among pollers the one that comes at the wrong
 * moment starves; a blocked F_OFD_SETLKW gets its turn. What it lacks is a time limit. A timer signal would
 * need a handler, and signals belong to the program, not to a library. So the wait happens in a thread that
 * lives for that wait alone: fcntl with F_OFD_SETLKW is a cancellation point, and the C library wakes it with
 * a signal of its own. The lock belongs to the descriptor, not to the thread that got it. */
#include "cache/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

struct waiter {
    int fd;
    struct flock lock;
    int errnum; /* 0 = had */
    sem_t done;
};

static void *wait_for_lock(void *argument)
{
    struct waiter *waiter = argument;
    int errnum;
    do {
        errnum = fcntl(waiter->fd, F_OFD_SETLKW, &waiter->lock) == 0 ? 0 : errno;
    } while (errnum == EINTR);
    waiter->errnum = errnum;
    (void)sem_post(&waiter->done);
    return NULL;
}

static struct timespec deadline_after(double wait_ms)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds = wait_ms / 1e3;
    time_t whole = (time_t)seconds;
    long nanoseconds = now.tv_nsec + (long)((seconds - (double)whole) * 1e9);
    return (struct timespec){.tv_sec = now.tv_sec + whole + nanoseconds / 1000000000,
                             .tv_nsec = nanoseconds % 1000000000};
}

/* Starts the thread with every signal blocked: the program's handlers run in the program's threads. */
static int start_waiter(struct waiter *waiter, pthread_t *ret_thread)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    int r = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (r != 0)
        return r;
    r = pthread_create(ret_thread, NULL, wait_for_lock, waiter);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r;
}

/* No thread to be had: polling is better than giving up. */
static int poll_for_lock(int fd, struct flock lock, double wait_ms)
{
    static const struct timespec pause = {.tv_nsec = 500 * 1000};
    double end = pj_clock_ms() + wait_ms;
    while (fcntl(fd, F_OFD_SETLK, &lock) != 0) {
        if (errno != EAGAIN && errno != EACCES && errno != EINTR)
            return errno;
        if (pj_clock_ms() >= end)
            return ETIMEDOUT;
        (void)nanosleep(&pause, NULL);
    }
    return 0;
}

/* 0, ETIMEDOUT or the errno of fcntl. */
static int lock_within(int fd, struct flock lock, double wait_ms)
{
    struct waiter waiter = {.fd = fd, .lock = lock, .errnum = ETIMEDOUT};
    pthread_t thread;
    if (sem_init(&waiter.done, 0, 0) != 0)
        return poll_for_lock(fd, lock, wait_ms);
    if (start_waiter(&waiter, &thread) != 0) {
        (void)sem_destroy(&waiter.done);
        return poll_for_lock(fd, lock, wait_ms);
    }
    struct timespec deadline = deadline_after(wait_ms);
    int r;
    do {
        r = sem_clockwait(&waiter.done, CLOCK_MONOTONIC, &deadline);
    } while (r != 0 && errno == EINTR);
    if (r != 0)
        (void)pthread_cancel(thread);
    (void)pthread_join(thread, NULL);
    (void)sem_destroy(&waiter.done);
    /* The lock may have come just as the wait was cancelled. */
    if (waiter.errnum != 0)
        pj_lock_drop(fd);
    return waiter.errnum;
}

static int busy(int fd, struct flock lock, double wait_ms, struct pj_error **err)
{
    int had = fcntl(fd, F_OFD_GETLK, &lock);
    if (had == 0 && lock.l_type != F_UNLCK && lock.l_pid > 0)
        return pj_error_set(err, PJ_ERROR_BUSY,
                            "cannot lock index: process %ld held it for the %.0f ms that were waited; end "
                            "that process or try again",
                            (long)lock.l_pid, wait_ms);
    return pj_error_set(err, PJ_ERROR_BUSY,
                        "cannot lock index: other processes held it for the %.0f ms that were waited; try "
                        "again",
                        wait_ms);
}

int pj_lock_take(int fd, bool exclusive, double wait_ms, struct pj_error **err)
{
    struct flock lock = {.l_type = exclusive ? F_WRLCK : F_RDLCK, .l_whence = SEEK_SET};
    int r = fcntl(fd, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
    if (r == EAGAIN || r == EACCES || r == EINTR)
        r = lock_within(fd, lock, wait_ms);
    if (r == 0)
        return 0;
    if (r == ETIMEDOUT)
        return busy(fd, lock, wait_ms, err);
    return pj_error_errno(err, PJ_ERROR_ENVIRONMENT, r,
                          "cannot lock index: the file system of the cache refuses locks, without which the "
                          "driver stores nothing either; use a directory on a local file system");
}

void pj_lock_drop(int fd)
{
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    (void)fcntl(fd, F_OFD_SETLK, &lock);
}
