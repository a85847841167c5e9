#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "CLinux.h"

#ifdef __linux__

#include <sched.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <unistd.h>

int clinux_core(void) { return sched_getcpu(); }

bool clinux_leave_core(void) {
    cpu_set_t all, others;
    int core = clinux_core();
    // On a machine with more cores than a set has bits this fails.
    if (core < 0 || sched_getaffinity(0, sizeof(all), &all) != 0) return false;
    others = all;
    CPU_CLR(core, &others);
    // Without another core this fails.
    if (sched_setaffinity(0, sizeof(others), &others) != 0) return false;
    sched_setaffinity(0, sizeof(all), &all);
    return true;
}

int clinux_open_process(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }

bool clinux_is_clock_synchronised(void) {
    struct timex state = {0};
    int status = adjtimex(&state);
    return status >= 0 && status != TIME_ERROR;
}

#else

int clinux_core(void) { return -1; }

bool clinux_leave_core(void) { return false; }

int clinux_open_process(int process) {
    (void)process;
    return -1;
}

bool clinux_is_clock_synchronised(void) { return true; }

#endif
