// Takes the place of glibc's allocation in the process that it is linked into, and counts for one thread.
#include "AllocationWatch.h"
#include <errno.h>
#include <stddef.h>

#if defined(__GLIBC__) && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
static _Thread_local long count __attribute__((tls_model("initial-exec")));

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

void *malloc(size_t size) {
    count += 1;
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count += 1;
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
    count += 1;
    return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
    count += 1;
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
    *block = memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

void free(void *block) {
    count += 1;
    __libc_free(block);
}

void allocation_watch_begin(void) { count = 0; }
long allocation_watch_end(void) { return count; }
#else
void allocation_watch_begin(void) {}
long allocation_watch_end(void) { return -1; }
#endif
