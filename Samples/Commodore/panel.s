; The upper half of the screen: the current values of the elements.
;
; The labels are static. Of the numbers and words that change, one is redrawn in each jiffy, in turn: all of them are
; correct within half a second, and the line never waits for long.

.include "hardware.inc"
.include "petscii.inc"

.import locate, draw_text, draw_number, number, text_colour
.import border, background, frequency, waveform, volume, sprite_x, sprite_y, jiffies, joysticks
.import modem_state, received, sent, errors
.import LOWER_CASE
.importzp source
.export panel_start, panel_tick

ROWS_ABOVE_WINDOW = 11
LABEL_COLOUR = LIGHT_BLUE

.rodata
; The labels: row, column, colour, text.
.macro label_text row, column, colour, text
    .byte row, column, colour
    .asciiz text
.endmacro
labels:
    label_text 0, 0, CYAN, "Elemental on the Commodore 64"
    label_text 1, 0, LABEL_COLOUR, "Line            in      out      err"
    label_text 3, 0, LABEL_COLOUR, "Border          Background"
    label_text 4, 0, LABEL_COLOUR, "Voice 1       Hz               volume"
    label_text 5, 0, LABEL_COLOUR, "Voice 2       Hz               volume"
    label_text 6, 0, LABEL_COLOUR, "Voice 3       Hz               volume"
    label_text 7, 0, LABEL_COLOUR, "Sprite  x       y        Jiffies"
    label_text 8, 0, LABEL_COLOUR, "Joystick 1             2"
    .byte $FF

; The changing fields. A number: 1...3 bytes, its address, row, column, width. A word: 0, the address of its drawing
; routine minus 1, row, column, and a parameter for the routine.
.macro field bytes, address, row, column, width
    .byte bytes
    .word address
    .byte row, column, width
.endmacro
FIELD = 6
fields:
    field 0, state_word - 1, 1, 5, 0
    field 2, received, 1, 19, 4
    field 2, sent, 1, 28, 4
    field 2, errors, 1, 36, 4
    field 1, border, 3, 7, 2
    field 1, background, 3, 27, 2
.repeat 3, voice
    field 0, frequency_number - 1, 4 + voice, 8, voice
    field 0, waveform_word - 1, 4 + voice, 18, voice
    field 1, volume + voice, 4 + voice, 38, 2
.endrepeat
    field 2, sprite_x, 7, 10, 3
    field 1, sprite_y, 7, 18, 3
    field 3, jiffies, 7, 33, 7
    field 0, joystick_word - 1, 8, 11, 0
    field 0, joystick_word - 1, 8, 25, 1
FIELDS_LENGTH = * - fields
.assert FIELDS_LENGTH <= 256, error, "more fields than an index counts"

; Words of equal length, so that each overwrites the previous one.
state_words:
    .asciiz "waiting   "
    .asciiz "draining  "
    .asciiz "starting  "
    .asciiz "connecting"
    .asciiz "connected "
STATE_WORD = 11
waveform_words:
    .asciiz "off     "
    .asciiz "triangle"
    .asciiz "sawtooth"
    .asciiz "pulse   "
    .asciiz "noise   "
WAVEFORM_WORD = 9
; A letter for each switch of a joystick.
switches: .byte "udlrF"

.bss
next:   .res 1          ; the field to be drawn next, as an offset
switch_text: .res 6

.code
.proc panel_start
    lda #<LOWER_CASE
    sta CHARACTER_SET
    ldx #0
    lda #' '
clear:
    sta SCREEN,x
    sta SCREEN + ROWS_ABOVE_WINDOW * 40 - 256,x
    inx
    bne clear
    lda #LABEL_COLOUR
    ldx #39
lines:
    sta COLOURS + 2 * 40,x
    sta COLOURS + 9 * 40,x
    sta COLOURS + 23 * 40,x
    dex
    bpl lines
    lda #$40                    ; ─
    ldx #39
draw_lines:
    sta SCREEN + 2 * 40,x
    sta SCREEN + 9 * 40,x
    sta SCREEN + 23 * 40,x
    dex
    bpl draw_lines

    lda #<labels
    sta source
    lda #>labels
    sta source + 1
each:
    ldy #0
    lda (source),y
    bmi done
    tax
    iny
    iny
    lda (source),y
    sta text_colour
    dey
    lda (source),y
    tay
    jsr locate
    lda #3
    jsr advance
    jsr draw_text               ; Y is the text's length
    tya
    sec
    adc #0                      ; and the 0 behind it
    jsr advance
    jmp each
done:
    rts
.endproc

; Advances source by A. Y is preserved.
.proc advance
    clc
    adc source
    sta source
    bcc done
    inc source + 1
done:
    rts
.endproc

; Called each jiffy; draws the next field.
.proc panel_tick
    lda #WHITE
    sta text_colour
    ldx next
    txa
    clc
    adc #FIELD
    cmp #<FIELDS_LENGTH
    bne more
    lda #0
more:
    sta next

    ; The row goes to X, the column to Y.
    lda fields + 4,x
    tay
    txa
    pha
    lda fields + 3,x
    tax
    jsr locate
    pla
    tax
    lda fields + 1,x
    sta source
    lda fields + 2,x
    sta source + 1
    lda fields,x
    beq word

    ; As many bytes as the number has, and 0 above them.
    sta count
    ldy #0
byte:
    lda #0
    cpy count
    bcs above
    lda (source),y
above:
    sta number,y
    iny
    cpy #3
    bne byte
    lda fields + 5,x
    jmp draw_number

word:
    ; To the routine, with its number in A.
    lda source + 1
    pha
    lda source
    pha
    lda fields + 5,x
    rts
.endproc

.proc state_word
    ldx modem_state
    lda #<state_words
    ldy #>state_words
    sta source
    sty source + 1
    ldy #STATE_WORD
    jmp draw_word
.endproc

.proc waveform_word
    tax
    lda waveform,x
    tax
    lda #<waveform_words
    ldy #>waveform_words
    sta source
    sty source + 1
    ldy #WAVEFORM_WORD
    ; fall through
.endproc

; Draws word X of those at source, each of which is Y bytes long.
.proc draw_word
    sty count
    cpx #0
    beq found
skip:
    lda count
    jsr advance
    dex
    bne skip
found:
    jmp draw_text
.endproc

; The hertz of voice A: low and high bytes are stored apart.
.proc frequency_number
    tax
    lda frequency,x
    sta number
    lda frequency + 3,x
    sta number + 1
    lda #0
    sta number + 2
    lda #5
    jmp draw_number
.endproc

; The switches of joystick A: a letter for a closed one.
.proc joystick_word
    tax
    lda joysticks,x
    ldx #0
switch:
    lsr
    pha
    lda #'-'
    bcc open
    lda switches,x
open:
    sta switch_text,x
    pla
    inx
    cpx #5
    bne switch
    lda #0
    sta switch_text,x
    lda #<switch_text
    sta source
    lda #>switch_text
    sta source + 1
    jmp draw_text
.endproc

.bss
count: .res 1
