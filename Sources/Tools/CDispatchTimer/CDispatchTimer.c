// On Linux, libdispatch looks once a second whether threads of its pool wait for something, and would then start more of them.
// The programs of this package block none, and would be woken 86,400 times a day for it: this timer never expires.
//
// The linker's option --wrap=dispatch_source_set_timer (Package.swift) makes all calls of that function come here. Only
// libdispatch itself makes a timer of exactly one second without any leeway (workqueue.c).
#include <stdint.h>

static const uint64_t second = 1000000000, never = UINT64_MAX;

// Weak for debug builds, which are linked without that option.
__attribute__((weak)) void __real_dispatch_source_set_timer(
    void *source, uint64_t start, uint64_t interval, uint64_t leeway);

void __wrap_dispatch_source_set_timer(void *source, uint64_t start, uint64_t interval, uint64_t leeway);

void __wrap_dispatch_source_set_timer(void *source, uint64_t start, uint64_t interval, uint64_t leeway) {
    if (interval == second && leeway == 0) start = never;
    __real_dispatch_source_set_timer(source, start, interval, leeway);
}
