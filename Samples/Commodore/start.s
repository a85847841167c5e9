; Elemental's native program for the Commodore 64.
;
; The machine is on a serial line (the user port's of 1200 baud, or a cartridge's), with a gateway at the other end that
; publishes it on the network as a device with elements. This program applies what clients set (colours, text, sound, a
; sprite) and sends what happens here (typed lines, joysticks, the clock).
;
; The files:
;
;   start.s      the main loop (this file)
;   basic.s      the line of BASIC that starts it
;   line.s       bytes over the RS-232 line, through the KERNAL
;   record.s     from bytes to records: [code][length][bytes]
;   modem.s      the connection: which record is expected when, and what follows
;   envelope.s   from data records to envelopes to elements' values
;   elements.s   the table of routines for elements; the colours
;   sound.s  sprite.s  memory.s  keyboard.s  joystick.s  clock.s     one concept each
;   window.s     where text is printed, scrolling on its own
;   panel.s      the upper half of the screen: the elements' values
;   text.s       texts and numbers at a place on the screen
;
; The folder Cartridge has what takes the place of basic.s and line.s in a cartridge for a machine with an ACIA.
;
; Nothing blocks: each routine checks whether there is something to do, does it and returns. One iteration of the main
; loop takes a few hundred cycles when there is nothing to do, so a byte from the line is handled as soon as it arrives,
; not once per frame.

.include "kernal.inc"
.include "hardware.inc"

.import line_open, line_close, modem_start, modem_poll, modem_tick, modem_stop
.import window_clear, panel_start, panel_tick, keyboard_start, keyboard_poll
.import joystick_tick, clock_tick, jiffies_tick, sound_start, sound_stop, sprite_start, sprite_stop
.import colours_start, memory_poll
.import __BSS_RUN__, __BSS_SIZE__
.export start
.exportzp pointer, source

.segment "ZEROPAGE"
pointer: .res 2         ; a place on the screen, or where something goes
source:  .res 2         ; where something comes from

.segment "STARTUP"
.proc start
    jsr clear_variables
    jsr colours_start
    jsr window_clear
    jsr panel_start
    jsr keyboard_start
    jsr sound_start
    jsr sprite_start
    jsr line_open
    jsr modem_start

turn:
    jsr modem_poll              ; whatever has come over the line
    jsr keyboard_poll
    jsr memory_poll
    jsr clock_tick              ; has a jiffy passed?
    bcc turn
    jsr modem_tick              ; 60 times a second from here on
    jsr joystick_tick
    jsr jiffies_tick
    jsr panel_tick
    jsr STOP
    bne turn

    ; RUN/STOP: say goodbye and go back to BASIC.
    jsr modem_stop
    jsr line_close
    jsr sound_stop
    jmp sprite_stop
.endproc

.code
; Variables are not in the file: their initial content is left over from earlier programs.
.proc clear_variables
    lda #<__BSS_RUN__
    sta pointer
    lda #>__BSS_RUN__
    sta pointer + 1
    lda #0
    ldx #>__BSS_SIZE__          ; whole pages, then the rest
    beq rest
    tay
page:
    sta (pointer),y
    iny
    bne page
    inc pointer + 1
    dex
    bne page
rest:
    ldy #<__BSS_SIZE__
    beq done
byte:
    dey
    sta (pointer),y
    bne byte
done:
    rts
.endproc
