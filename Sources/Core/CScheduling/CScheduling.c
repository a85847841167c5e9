#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "CScheduling.h"

#ifdef __linux__

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

int cscheduling_core(void) { return sched_getcpu(); }

bool cscheduling_leave_core(void) {
    cpu_set_t all, others;
    int core = cscheduling_core();
    // On a machine with more cores than a set has bits this fails.
    if (core < 0 || sched_getaffinity(0, sizeof(all), &all) != 0) return false;
    others = all;
    CPU_CLR(core, &others);
    // Without another core this fails.
    if (sched_setaffinity(0, sizeof(others), &others) != 0) return false;
    sched_setaffinity(0, sizeof(all), &all);
    return true;
}

int cscheduling_open_process(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }

#else

int cscheduling_core(void) { return -1; }

bool cscheduling_leave_core(void) { return false; }

int cscheduling_open_process(int process) {
    (void)process;
    return -1;
}

#endif
