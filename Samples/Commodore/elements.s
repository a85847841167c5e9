; The table of routines for elements, and the two simplest routines.

.include "hardware.inc"
.include "elements.inc"

.import record_data, value_at, value_length
.import window_print, frequency_received, waveform_received, volume_received
.import sprite_x_received, sprite_y_received, memory_write_received, memory_read_received
.export element_received, colours_start, border, background

.bss
border:     .res 1
background: .res 1

.rodata
; For each element from 1 on: its routine's address minus 1 (as RTS expects it), and the length of its value; 0 for any
; length.
.macro takes handler, length
    .word handler - 1
    .byte length
.endmacro
ENTRY = 3

table:
    takes border_received, 1
    takes background_received, 1
    takes window_print, 0
    takes ignore, 0                   ; line, joystick 1 and 2: from us
    takes ignore, 0
    takes ignore, 0
    takes frequency_received, 2
    takes frequency_received, 2
    takes frequency_received, 2
    takes waveform_received, 1
    takes waveform_received, 1
    takes waveform_received, 1
    takes volume_received, 1
    takes volume_received, 1
    takes volume_received, 1
    takes sprite_x_received, 2
    takes sprite_y_received, 1
    takes ignore, 0                   ; jiffies: from us
    takes memory_write_received, 0
    takes memory_read_received, 3
.assert (* - table) / ENTRY = ELEMENT_READ, error, "the table and the numbers of the elements do not agree"

.code
; Handles a value: A is the element, the value is in record_data at value_at. An unknown element, or a value of another
; length than the element's, is skipped: a newer gateway may have more elements.
;
; The routine gets the element in A, and the offset of the value in Y.
.proc element_received
    tax
    beq ignore
    cmp #ELEMENT_READ + 1
    bcs ignore
    sta element
    asl                         ; the element's entry: (element - 1) * 3
    adc element                 ; C is clear: elements are small
    tax
    lda table - ENTRY + 2,x
    beq right                   ; any length
    cmp value_length
    bne ignore
right:
    lda table - ENTRY + 1,x
    pha
    lda table - ENTRY,x
    pha
    lda element
    ldy value_at
    rts                         ; to the routine
.endproc

.proc ignore
    rts
.endproc

.bss
element: .res 1

.code
.proc colours_start
    lda #LIGHT_BLUE
    jsr set_border
    lda #BLUE
    jmp set_background
.endproc

.proc border_received
    lda record_data,y
    ; fall through
.endproc

.proc set_border
    and #$0F
    sta BORDER
    sta border
    rts
.endproc

.proc background_received
    lda record_data,y
    ; fall through
.endproc

.proc set_background
    and #$0F
    sta BACKGROUND
    sta background
    rts
.endproc
