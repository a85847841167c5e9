// The start of a board, and what Embedded Swift needs of it: memory that is given out once and never taken back.
#include <stdint.h>
#include <stddef.h>

extern uint32_t data_source, data_start, data_end, bss_start, bss_end, heap_start, heap_end, stack_top;
void board_run(uint32_t seed);

#ifdef MEASURE
// In QEMU: a millisecond passes with each look at the clock, and after ten seconds of them the board says, by
// semihosting, how many bytes of its heap and its stack were used.
static uintptr_t next;
static int is_started;
static uint32_t ticks;
static void say(const char *text) {
    register uint32_t operation __asm__("r0") = 4;
    register const char *argument __asm__("r1") = text;
    __asm__ volatile("bkpt 0xAB" : "+r"(operation) : "r"(argument) : "memory");
}
static void say_number(uint32_t number) {
    char digits[12] = {0}, *first = digits + 11;
    do {
        uint32_t tenth = 0;
        while (number - 10 * tenth >= 10) tenth += 1;
        *--first = (char)('0' + (number - 10 * tenth));
        number = tenth;
    } while (number);
    say(first);
}
uint32_t board_milliseconds(void) {
    if (++ticks < 10000) return ticks;
    uint32_t *deepest = &heap_end;
    while (deepest < &stack_top && *deepest == 0xA5A5A5A5) deepest += 1;
    say("heap ");
    say_number(next - (uintptr_t)&heap_start);
    say(" stack ");
    say_number((uintptr_t)&stack_top - (uintptr_t)deepest);
    say("\n");
    register uint32_t operation __asm__("r0") = 0x18;
    register uint32_t reason __asm__("r1") = 0x20026;
    __asm__ volatile("bkpt 0xAB" : : "r"(operation), "r"(reason));
    return ticks;
}
#else
static uintptr_t next;
static int is_started;
static volatile uint32_t ticks;
uint32_t board_milliseconds(void) { return ticks; }
#endif
void board_started(void) { is_started = 1; }

#define UART ((volatile uint32_t *)0x40004000)
int32_t board_read(void) { return UART[1] & 2 ? (int32_t)UART[0] : -1; }
_Bool board_can_write(void) { return !(UART[1] & 1); }
void board_write(uint8_t byte) { UART[0] = byte; }

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

static void on_tick(void) { ticks += 1; }
void board_reset(void) {
    uint32_t *from = &data_source;
    for (uint32_t *to = &data_start; to < &data_end;) *to++ = *from++;
    for (uint32_t *to = &bss_start; to < &bss_end;) *to++ = 0;
#ifdef MEASURE
    for (uint32_t *word = &heap_end; word < (uint32_t *)__builtin_frame_address(0) - 8; word++) *word = 0xA5A5A5A5;
#endif
    board_run(1);
}
static void halt(void) { __builtin_trap(); }

__attribute__((section(".vectors"), used)) static void *const vectors[16] = {
    &stack_top, board_reset, [2] = halt, [3] = halt, [15] = on_tick,
};

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
