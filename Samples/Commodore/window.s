; Where texts from the line are printed: twelve rows that scroll on their own.
;
; A new line is started only when its first character arrives. So the last line stays visible, and consecutive line ends
; cost one scroll and not many: bytes keep arriving meanwhile.

.include "hardware.inc"
.include "petscii.inc"

.import record_data, record_length, value_at, value_length, screen_code
.importzp pointer
.export window_clear, window_put, window_print, window_error, window_colour

FIRST_ROW = 11
ROWS = 12
COLUMNS = 40
SPACE = $20
; A value of this length is a part of a longer text.
LONGEST_VALUE = 250

.bss
row:           .res 1
column:        .res 1   ; COLUMNS: the row is full
line_ends:     .res 1   ; that have come but have not been carried out
reverse:       .res 1   ; $80 if characters are shown reversed
window_colour: .res 1

.rodata
; The place of each row.
rows_low:
.repeat ROWS, index
    .byte <(SCREEN + (FIRST_ROW + index) * COLUMNS)
.endrepeat
rows_high:
.repeat ROWS, index
    .byte >(SCREEN + (FIRST_ROW + index) * COLUMNS)
.endrepeat

; The characters that change the colour, in the order of the colours.
colour_codes: .byte $90, $05, $1C, $9F, $9C, $1E, $1F, $9E, $81, $95, $96, $97, $98, $99, $9A, $9B

.code
; Shows the value of the element "print", followed by a line end, as PRINT does.
.proc window_print
    ldx value_length
    beq return
    stx count
character:
    sty index
    lda record_data,y
    jsr window_put
    ldy index
    iny
    dec count
    bne character
    lda value_length
    cmp #LONGEST_VALUE
    bcs done
return:
    lda #PETSCII_RETURN
    jmp window_put
done:
    rts
.endproc

; Shows the text of an ERROR, which is in ASCII.
.proc window_error
    lda #YELLOW
    sta window_colour
    ldy #0
character:
    cpy record_length
    beq end
    lda record_data,y
    cmp #$41                    ; @ and below are the same
    bcc same
    cmp #$5B
    bcc capital
    cmp #$61
    bcc same
    cmp #$7B
    bcs same
    and #$5F                    ; small letters
    bne same                    ; always
capital:
    ora #$80
same:
    sty index
    jsr window_put
    ldy index
    iny
    bne character               ; always
end:
    lda #PETSCII_RETURN
    jsr window_put
    lda #WHITE
    sta window_colour
    rts
.endproc

; Clears the window; the cursor moves to its beginning.
.proc window_clear
    lda #WHITE
    sta window_colour
    lda #0
    sta reverse
    ldx #ROWS - 1
clear:
    jsr clear_row
    dex
    bpl clear
    ; fall through
.endproc

.proc home
    lda #0
    sta row
    sta column
    sta line_ends
    rts
.endproc

; Prints the PETSCII character in A.
.proc window_put
    tax
    and #$7F
    cmp #$20
    bcs printable
    txa
    cmp #PETSCII_RETURN
    beq return
    cmp #PETSCII_SHIFT_RETURN
    beq return
    cmp #PETSCII_CLEAR
    beq window_clear
    cmp #PETSCII_HOME
    beq home
    cmp #PETSCII_REVERSE_ON
    beq reverse_on
    cmp #PETSCII_REVERSE_OFF
    beq reverse_off
    ldx #15
colour:
    cmp colour_codes,x
    beq found
    dex
    bpl colour
    rts                         ; nothing that is known here
found:
    stx window_colour
    rts
return:
    lda line_ends
    cmp #ROWS                   ; more than that make no difference
    bcs reverse_off
    inc line_ends
reverse_off:
    lda #0
    sta reverse
    rts
reverse_on:
    lda #$80
    sta reverse
    rts

printable:
    txa
    pha
    lda line_ends
    bne end_lines
    lda column
    cmp #COLUMNS
    bcc place
    inc line_ends
end_lines:
    jsr new_row
place:
    ldx row
    jsr row_to_pointer
    pla
    jsr screen_code
    ora reverse
    ldy column
    sta (pointer),y
    jsr to_colours
    lda window_colour
    sta (pointer),y
    inc column
    rts
.endproc

; Moves down by the number of pending line ends, and scrolls if that is past the last row.
.proc new_row
    lda #0
    sta column
    lda row
    clc
    adc line_ends
    ldx #0
    stx line_ends
    cmp #ROWS
    bcs past
    sta row
    rts
past:
    sbc #ROWS - 1               ; C is set: how many rows have to leave
    ldx #ROWS - 1
    stx row
    cmp #ROWS
    bcs everything
    ldx #0                      ; row X is taken from row Y
    tay
next:
    jsr copy_row
    inx
    iny
    cpy #ROWS
    bne next
blank:
    jsr clear_row
    inx
    cpx #ROWS
    bne blank
    rts
everything:
    ldx #ROWS - 1
all:
    jsr clear_row
    dex
    bpl all
    rts
.endproc

; Characters and colours from row Y to row X, both of which are preserved.
;
; The line brings a byte every 8.3 ms, and every second one may be a line end that scrolls. So this has to be fast:
; the four addresses are written into the instructions below, which is a third faster than pointers. It has to be in RAM.
.segment "COPIED"
.proc copy_row
    lda rows_low,y
    sta from_character + 1
    sta from_colour + 1
    lda rows_low,x
    sta to_character + 1
    sta to_colour + 1
    lda rows_high,y
    sta from_character + 2
    clc
    adc #>(COLOURS - SCREEN)
    sta from_colour + 2
    lda rows_high,x
    sta to_character + 2
    clc
    adc #>(COLOURS - SCREEN)
    sta to_colour + 2
    stx keep
    ldx #COLUMNS - 1
column:
from_character:
    lda SCREEN,x
to_character:
    sta SCREEN,x
from_colour:
    lda COLOURS,x
to_colour:
    sta COLOURS,x
    dex
    bpl column
    ldx keep
    rts
.endproc

.code
; Clears row X.
.proc clear_row
    jsr row_to_pointer
    ldy #COLUMNS - 1
    lda #SPACE
place:
    sta (pointer),y
    dey
    bpl place
    rts
.endproc

; Row X on the screen.
.proc row_to_pointer
    lda rows_low,x
    sta pointer
    lda rows_high,x
    sta pointer + 1
    rts
.endproc

; From a position on the screen to its colour.
.proc to_colours
    lda pointer + 1
    clc
    adc #>(COLOURS - SCREEN)
    sta pointer + 1
    rts
.endproc

.bss
count:   .res 1
index:   .res 1
keep:    .res 1
