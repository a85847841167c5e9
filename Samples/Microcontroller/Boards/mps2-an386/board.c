// Arm's MPS2 board with the FPGA image AN386, a Cortex-M4, as QEMU has it (-M mps2-an386): timer and UART by interrupt.
//
// Addresses and interrupts: Arm Application Note AN386; registers: Cortex-M System Design Kit (DDI 0479), chapter 4.
#include <stdbool.h>
#include <stdint.h>

extern uint32_t data_source, data_start, data_end, bss_start, bss_end, stack_top;
_Noreturn void board_run(uint32_t seed);

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define UART_DATA REGISTER(0x40004000)
#define UART_STATE REGISTER(0x40004004)
#define UART_CONTROL REGISTER(0x40004008)
#define UART_INTERRUPT REGISTER(0x4000400C)
#define UART_DIVIDER REGISTER(0x40004010)
enum { TX_FULL = 1, RX_FULL = 2, TX_INTERRUPT = 1, RX_INTERRUPT = 2, ENABLE_ALL = 15 };

#define SYSTICK_CONTROL REGISTER(0xE000E010)
#define SYSTICK_RELOAD REGISTER(0xE000E014)
#define SYSTICK_VALUE REGISTER(0xE000E018)
#define INTERRUPT_ENABLE REGISTER(0xE000E100)
enum { CLOCK = 25000000, BAUD = 115200 };

// The clock.
static volatile uint32_t ticks;
static void on_tick(void) { ticks += 1; }
uint32_t board_milliseconds(void) { return ticks; }

// A ring each way, of a power of two bytes: one side moves the head, the other the tail. The one for what comes holds more
// than the window that the service gives the other end; what is above that is lost, and sent again.
enum { IN = 512, OUT = 64 };
static volatile uint8_t in[IN], out[OUT];
static volatile uint32_t in_head, in_tail, out_head, out_tail;

static void on_receive(void) {
    UART_INTERRUPT = RX_INTERRUPT;
    while (UART_STATE & RX_FULL) {
        uint8_t byte = (uint8_t)UART_DATA;
        if (in_head - in_tail < IN) in[in_head++ % IN] = byte;
    }
}

static void send_waiting(void) {
    while (out_head != out_tail && !(UART_STATE & TX_FULL)) UART_DATA = out[out_tail++ % OUT];
}
static void on_sent(void) {
    UART_INTERRUPT = TX_INTERRUPT;
    send_waiting();
}

int32_t board_read(void) { return in_head == in_tail ? -1 : in[in_tail++ % IN]; }
bool board_can_write(void) { return out_head - out_tail < OUT; }
void board_write(uint8_t byte) {
    out[out_head % OUT] = byte;
    __asm__ volatile("cpsid i" ::: "memory");
    out_head += 1;
    send_waiting();
    __asm__ volatile("cpsie i" ::: "memory");
}

// An interrupt that comes between the look and the wait ends the wait, though it is served behind it.
void board_wait(void) {
    __asm__ volatile("cpsid i" ::: "memory");
    if (in_head == in_tail) __asm__ volatile("wfi");
    __asm__ volatile("cpsie i" ::: "memory");
}

// Survives a reset, so that each start has another number.
__attribute__((section(".noinit"))) static uint32_t starts;

void board_reset(void) {
    uint32_t *from = &data_source;
    for (uint32_t *to = &data_start; to < &data_end;) *to++ = *from++;
    for (uint32_t *to = &bss_start; to < &bss_end;) *to++ = 0;
    UART_DIVIDER = CLOCK / BAUD;
    UART_CONTROL = ENABLE_ALL;
    INTERRUPT_ENABLE = 3;
    SYSTICK_RELOAD = CLOCK / 1000 - 1;
    SYSTICK_VALUE = 0;
    SYSTICK_CONTROL = 7;
    board_run(++starts);
}
static void halt(void) { __builtin_trap(); }

__attribute__((section(".vectors"), used)) static void *const vectors[] = {
    &stack_top, board_reset, halt, halt, halt, halt, halt, [15] = on_tick, [16] = on_receive, [17] = on_sent,
};
