/* A clock that a test sets, for a redis-server under comparison: loaded before the
   C library, it answers the wall clock from a file of one 64-bit number of
   microseconds. The monotonic clock, which timers run on, stays the machine's. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static volatile int64_t *now;

__attribute__((constructor)) static void map_clock(void) {
    int fd = open(getenv("TEST_CLOCK"), O_RDONLY);
    if (fd < 0) abort();
    now = mmap(NULL, sizeof *now, PROT_READ, MAP_SHARED, fd, 0);
    if (now == MAP_FAILED) abort();
}

int gettimeofday(struct timeval *restrict tv, void *restrict tz) {
    (void)tz;
    tv->tv_sec = *now / 1000000;
    tv->tv_usec = *now % 1000000;
    return 0;
}

time_t time(time_t *t) {
    time_t s = *now / 1000000;
    if (t) *t = s;
    return s;
}

int clock_gettime(clockid_t id, struct timespec *ts) {
    static int (*real)(clockid_t, struct timespec *);
    if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) {
        ts->tv_sec = *now / 1000000;
        ts->tv_nsec = *now % 1000000 * 1000;
        return 0;
    }
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    return real(id, ts);
}
