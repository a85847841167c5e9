#define _GNU_SOURCE
#include "CDNSSD.h"

static bool prepared = false;

bool cdnssd_is_prepared(void) {
    return prepared;
}

#if defined(__linux__)

#include <avahi-common/malloc.h>
#include <stdlib.h>
#include <unistd.h>

// Avahi 0.8's compatibility library allocates a DNSServiceRef without zeroing it and then tests its callback
// pointers one after the other when the daemon dies, so it may call whatever was in that memory before. It
// allocates through libavahi-common, whose allocator can be replaced: memory that is always zeroed mends it.
static void *zeroing_malloc(size_t size) {
    return calloc(1, size);
}

static const AvahiAllocator zeroing_allocator = {
    .malloc = zeroing_malloc,
    .free = free,
    .realloc = realloc,
    .calloc = calloc,
};

// A constructor runs before main and so before there are threads, which is what makes setenv and the change of
// allocator safe. Memory from before the change can still be freed: both allocators are libc's.
__attribute__((constructor)) static void prepare(void) {
    // The library prints three lines of advice to stderr and to syslog at its first call, unless a variable is set.
    // The variable is set for one harmless call, which uses the advice up, and then the environment is put back as it
    // was: in a statically linked program Swift finds the command line's arguments beside it.
    char **before = environ;
    setenv("AVAHI_COMPAT_NOWARN", "1", 0);
    char name[kDNSServiceMaxDomainName];
    DNSServiceConstructFullName(name, "a", "_b._tcp", "local.");
    environ = before;
    avahi_set_allocator(&zeroing_allocator);
    prepared = true;
}

#else

// mDNSResponder's own library needs nothing.
__attribute__((constructor)) static void prepare(void) {
    prepared = true;
}

#endif
