; The keyboard: a line is typed in the last row and sent with RETURN.

.include "kernal.inc"
.include "hardware.inc"
.include "petscii.inc"
.include "elements.inc"

.import modem_send, modem_is_connected, outgoing, window_put, window_colour, screen_code
.export keyboard_start, keyboard_poll

LONGEST = 80
ROW = 24
FIRST_COLUMN = 2        ; after the prompt
WIDTH = 37              ; what is seen of a longer line is its end; one more place is the cursor's
PROMPT = $3E            ; screen code of >
SPACE = $20
CURSOR = $A0            ; a space reversed
PLACE = SCREEN + ROW * 40
COLOUR_PLACE = COLOURS + ROW * 40

.bss
typed:  .res LONGEST
length: .res 1

.code
.proc keyboard_start
    ldx #39
    lda #WHITE
column:
    sta COLOUR_PLACE,x
    dex
    bpl column
    lda #PROMPT
    sta PLACE
    lda #SPACE
    sta PLACE + 1
    jmp show
.endproc

; Handles the next key, if there is one.
.proc keyboard_poll
    lda NDX
    beq done
    jsr GETIN
    cmp #PETSCII_RETURN
    beq return
    cmp #PETSCII_DELETE
    beq delete
    cmp #PETSCII_CLEAR
    beq clear
    tax
    and #$7F
    cmp #$20                    ; $00...$1F and $80...$9F: no characters
    bcc done
    ldy length
    cpy #LONGEST
    bcs done
    txa
    sta typed,y
    inc length
    jmp show
delete:
    lda length
    beq done
    dec length
    jmp show
clear:
    lda #0
    sta length
    jmp show
return:
    jmp send
done:
    rts
.endproc

; Sends the line and shows it in the window. Without a connection, and while the line is busy, it stays unchanged.
.proc send
    ldx length
    beq done
    ldy #0
byte:
    lda typed,y
    sta outgoing,y
    iny
    cpy length
    bne byte
    lda #ELEMENT_LINE
    jsr modem_send
    bcc done

    lda #LIGHT_GREEN
    sta window_colour
    ldx #0
character:
    stx index
    lda typed,x
    jsr window_put
    ldx index
    inx
    cpx length
    bne character
    lda #PETSCII_RETURN
    jsr window_put
    lda #WHITE
    sta window_colour
    lda #0
    sta length
    jsr show
done:
    rts
.endproc

; Shows the end of the line, followed by the cursor.
.proc show
    lda length
    sec
    sbc #WIDTH
    bcs scrolled
    lda #0
scrolled:
    tax
    ldy #0
character:
    cpx length
    beq end
    lda typed,x
    jsr screen_code
    sta PLACE + FIRST_COLUMN,y
    inx
    iny
    bne character               ; always
end:
    lda #CURSOR
    sta PLACE + FIRST_COLUMN,y
    iny
    lda #SPACE
rest:
    cpy #WIDTH + 1
    bcs done
    sta PLACE + FIRST_COLUMN,y
    iny
    bne rest                    ; always
done:
    rts
.endproc

.bss
index: .res 1
