// A machine whose clock and disk a simulation drives, for a process that loads this before the C library. Only the thread that
// asks for it has such a machine.
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum operation { WRITE = 1, SYNCHRONISE = 2, REMOVE = 3, SHORTEN = 4 };

/// Returns how many bytes are written; of the others whether they happen: a negative number is an error.
typedef long (*disk)(int operation, int descriptor, const char *name, long count);

static __thread long long machine_time;
static __thread disk machine_disk;

/// Nanoseconds since the start of the machine whose program runs next.
void simulated_machine_set_time(long long time) { machine_time = time; }

void simulated_machine_set_disk(disk disk) { machine_disk = disk; }

static long ask(int operation, int descriptor, const char *name, long count) {
    disk disk = machine_disk;
    if (!disk) return count;
    // What it does itself is not simulated.
    machine_disk = 0;
    long result = disk(operation, descriptor, name, count);
    machine_disk = disk;
    if (result < 0) errno = (int)-result;
    return result < 0 ? -1 : result;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (!machine_time || (clock != CLOCK_BOOTTIME && clock != CLOCK_MONOTONIC))
        return (int)syscall(SYS_clock_gettime, clock, time);
    time->tv_sec = machine_time / 1000000000;
    time->tv_nsec = machine_time % 1000000000;
    return 0;
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    long allowed = ask(WRITE, descriptor, 0, (long)count);
    return allowed < 0 ? -1 : syscall(SYS_write, descriptor, bytes, (size_t)allowed);
}

int fsync(int descriptor) {
    // Nothing has to reach the true disk.
    return ask(SYNCHRONISE, descriptor, 0, 1) < 0 ? -1 : 0;
}

int unlinkat(int directory, const char *name, int flags) {
    return ask(REMOVE, directory, name, 1) < 0 ? -1 : (int)syscall(SYS_unlinkat, directory, name, flags);
}

int ftruncate(int descriptor, off_t length) {
    return ask(SHORTEN, descriptor, 0, length) < 0 ? -1 : (int)syscall(SYS_ftruncate, descriptor, length);
}
