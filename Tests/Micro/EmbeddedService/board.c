// The start of a board with as little as there can be, to see what a device takes: it looks at its UART whenever it has time.
// It is that of QEMU's mps2-an386, whose Cortex-M4 also executes what is compiled for a Cortex-M0.
#include <stdint.h>

extern uint32_t data_source, data_start, data_end, bss_start, bss_end, heap_start, heap_end, stack_top;
_Noreturn void board_run(uint32_t seed);
uint32_t board_heap_used(void);

#ifdef MEASURE
// In QEMU: a millisecond passes with each look at the clock, and after ten seconds of them the board says, by
// semihosting, how many bytes of its heap and its stack were used.
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
    say_number(board_heap_used());
    say(" stack ");
    say_number((uintptr_t)&stack_top - (uintptr_t)deepest);
    say("\n");
    register uint32_t operation __asm__("r0") = 0x18;
    register uint32_t reason __asm__("r1") = 0x20026;
    __asm__ volatile("bkpt 0xAB" : : "r"(operation), "r"(reason));
    return ticks;
}
#else
static volatile uint32_t ticks;
uint32_t board_milliseconds(void) { return ticks; }
#endif
#define SYSTICK ((volatile uint32_t *)0xE000E010)
#define UART ((volatile uint32_t *)0x40004000)
int32_t board_read(void) { return UART[1] & 2 ? (int32_t)UART[0] : -1; }
_Bool board_can_write(void) { return !(UART[1] & 1); }
void board_write(uint8_t byte) { UART[0] = byte; }
void board_wait(void) {}

static void on_tick(void) { ticks += 1; }
void board_reset(void) {
    uint32_t *from = &data_source;
    for (uint32_t *to = &data_start; to < &data_end;) *to++ = *from++;
    for (uint32_t *to = &bss_start; to < &bss_end;) *to++ = 0;
#ifdef MEASURE
    for (uint32_t *word = &heap_end; word < (uint32_t *)__builtin_frame_address(0) - 8; word++) *word = 0xA5A5A5A5;
#else
    UART[4] = 25000000 / 115200;
    UART[2] = 3;
    SYSTICK[1] = 25000 - 1;
    SYSTICK[2] = 0;
    SYSTICK[0] = 7;
#endif
    board_run(1);
}
static void halt(void) { __builtin_trap(); }

__attribute__((section(".vectors"), used)) static void *const vectors[16] = {
    &stack_top, board_reset, [2] = halt, [3] = halt, [15] = on_tick,
};
