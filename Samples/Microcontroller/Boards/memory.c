// What Embedded Swift needs of a board: memory that is given out until the program has started, and never taken back.
#include <stddef.h>
#include <stdint.h>

extern uint32_t heap_start, heap_end;
static uintptr_t next;
static int is_started;

void board_started(void) { is_started = 1; }

/// The bytes of the heap that are given out.
uint32_t board_heap_used(void) { return next ? next - (uintptr_t)&heap_start : 0; }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    if (!next) next = (uintptr_t)&heap_start;
    uintptr_t place = (next + alignment - 1) & ~(uintptr_t)(alignment - 1);
    if (is_started || place + size > (uintptr_t)&heap_end) __builtin_trap();
    next = place + size;
    *memory = (void *)place;
    return 0;
}
void free(void *memory) { (void)memory; }

uintptr_t __stack_chk_guard = 0x5AFE57AC;
void __stack_chk_fail(void) { __builtin_trap(); }

#if defined(__ARM_ARCH_6M__)
// A Cortex-M0 has no instructions for these, and this program has one thread and no interrupt that counts references.
uint32_t __atomic_load_4(const volatile void *at, int order) { return *(const volatile uint32_t *)at; }
void __atomic_store_4(volatile void *at, uint32_t value, int order) { *(volatile uint32_t *)at = value; }
uint32_t __atomic_fetch_add_4(volatile void *at, uint32_t value, int order) {
    uint32_t old = *(volatile uint32_t *)at;
    *(volatile uint32_t *)at = old + value;
    return old;
}
uint32_t __atomic_fetch_sub_4(volatile void *at, uint32_t value, int order) { return __atomic_fetch_add_4(at, -value, order); }
_Bool __atomic_compare_exchange_4(volatile void *at, void *expected, uint32_t value, _Bool weak, int success, int failure) {
    uint32_t old = *(volatile uint32_t *)at;
    if (old != *(uint32_t *)expected) { *(uint32_t *)expected = old; return 0; }
    *(volatile uint32_t *)at = value;
    return 1;
}
#endif
