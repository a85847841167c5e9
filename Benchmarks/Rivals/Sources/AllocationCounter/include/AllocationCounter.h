/// Counts a process's allocations when it is loaded into it by LD_PRELOAD or linked into it.
///
/// At exit the number of calls of malloc, calloc, realloc, posix_memalign and aligned_alloc is written to the file
/// $ALLOCATIONS_FILE.PID, if that is set. What a message costs is the difference of two runs of different length, so
/// that nobody has to cooperate but by ending in the ordinary way.
#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stdint.h>

/// The allocations so far.
uint64_t allocation_count(void);

#endif
