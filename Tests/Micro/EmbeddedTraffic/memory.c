// What Embedded Swift allocates with, which counts what the device allocates while it is inside.
#include <stddef.h>
#include <stdlib.h>

static int is_inside, allocations;
static size_t bytes;
void traffic_device(_Bool inside) { is_inside = inside; }
int traffic_allocations(void) { return allocations; }
int traffic_bytes(void) { return (int)bytes; }

void *aligned_alloc(size_t alignment, size_t size);
int posix_memalign(void **memory, size_t alignment, size_t size) {
    if (is_inside) allocations += 1;
    bytes += size;
    *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    return *memory ? 0 : 12;
}
