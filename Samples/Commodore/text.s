; Texts and numbers at a place on the screen, written straight into the screen memory: CHROUT would need its cursor set,
; and would scroll.

.include "hardware.inc"

.importzp pointer, source
.export screen_code, locate, draw_text, draw_number, number, text_at, text_colour

DIGITS = 7

.bss
number:      .res 3     ; to be drawn, the lowest byte first
text_at:     .res 1     ; the column that is written next
text_colour: .res 1

.rodata
; The offset from a PETSCII character to its screen code, by its upper three bits. Control characters become the reversed
; letters that represent them between quotes.
offsets: .byte $80, $00, $C0, $E0, $40, $C0, $80, $80

rows_low:
.repeat 25, row
    .byte <(SCREEN + row * 40)
.endrepeat
rows_high:
.repeat 25, row
    .byte >(SCREEN + row * 40)
.endrepeat

powers_low:    .byte <1000000, <100000, <10000, <1000, <100, <10, <1
powers_middle: .byte >1000000, >100000, >10000, >1000, >100, >10, >1
powers_high:   .byte ^1000000, ^100000, ^10000, ^1000, ^100, ^10, ^1

.code
; The screen code of the PETSCII character in A. X and Y are preserved. => A
.proc screen_code
    cmp #$FF
    beq pi
    stx keep_x
    pha
    lsr
    lsr
    lsr
    lsr
    lsr
    tax
    pla
    clc
    adc offsets,x
    ldx keep_x
    rts
pi:
    lda #$5E
    rts
.endproc

; Sets the position of the next text to row X, column Y.
.proc locate
    sty text_at
    lda rows_low,x
    sta pointer
    lda rows_high,x
    sta pointer + 1
    rts
.endproc

; Draws the screen code in A and advances.
.proc draw
    ldy text_at
    sta (pointer),y
    lda pointer + 1             ; the colour memory is laid out as the screen is, elsewhere
    pha
    clc
    adc #>(COLOURS - SCREEN)
    sta pointer + 1
    lda text_colour
    sta (pointer),y
    pla
    sta pointer + 1
    inc text_at
    rts
.endproc

; Draws the PETSCII text at source, up to a 0.
.proc draw_text
    ldy #0
character:
    lda (source),y
    beq done
    sty keep_y
    jsr screen_code
    jsr draw
    ldy keep_y
    iny
    bne character
done:
    rts
.endproc

; Draws number, right-aligned in A columns (1...7).
;
; Each power of ten is subtracted as often as possible; the count is the digit.
.proc draw_number
    sta width
    lda #DIGITS
    sec
    sbc width
    tax                         ; the first power that has a place
    lda #' '                    ; leading zeros are not shown
    sta blank
digit:
    ldy #'0'
subtract:
    lda number
    sec
    sbc powers_low,x
    sta rest
    lda number + 1
    sbc powers_middle,x
    sta rest + 1
    lda number + 2
    sbc powers_high,x
    bcc too_much
    sta number + 2
    lda rest + 1
    sta number + 1
    lda rest
    sta number
    iny
    cpy #'9' + 1
    bcc subtract
    dey                         ; wider than its place: nines
    bne too_much                ; always
too_much:
    tya
    cmp #'0'
    bne significant
    cpx #DIGITS - 1
    beq significant             ; the last digit is shown always
    lda blank
    jmp show
significant:
    pha
    lda #'0'
    sta blank
    pla
show:
    jsr draw
    inx
    cpx #DIGITS
    bne digit
    rts
.endproc

.bss
keep_x: .res 1
keep_y: .res 1
width:  .res 1
blank:  .res 1
rest:   .res 2
