; The machine without its ROMs: what happens after switching on, the clock, the keyboard, and the KERNAL's entry points that
; the program calls.

.include "../hardware.inc"
.include "../kernal.inc"
.include "../petscii.inc"

.import start, line_interrupt, __COPIED_LOAD__, __COPIED_RUN__, __COPIED_SIZE__

RASTER        = $D012
VIDEO_CONTROL = $D011   ; bit 7 is bit 8 of RASTER
VIDEO_WIDTH   = $D016
DIRECTION_A   = $DC02   ; of the ports: 1 is out
DIRECTION_B   = $DC03
TIMER_A       = $DC04
INTERRUPTS    = $DC0D
TIMER_CONTROL = $DC0E
BANK          = $DD00   ; which 16 KiB the VIC-II sees, inverted
BANK_DIRECTION = $DD02
OTHER_INTERRUPTS = $DD0D

; Cycles of a 60th of a second
PAL_JIFFY = 985248 / 60 - 1
NTSC_JIFFY = 1022727 / 60 - 1
; The lines from 256 on are 56 on a PAL machine and 6 or 7 on others.
PAL_LINES = 32

KEYS = 10               ; that may wait
NO_KEY = 64
SHIFT_LEFT = 15         ; places in the tables below
SHIFT_RIGHT = 52
STOP_COLUMN = %01111111 ; its column, and its bit in the row

; Not in the segment that the program clears.
.zeropage
buffer:   .res KEYS
key:      .res 1        ; the place of the key that is held down, or NO_KEY
shift:    .res 1        ; not 0: a shift key is held down
run_stop: .res 1        ; bit 7 is 0 while RUN/STOP is held down
seen:     .res 1
rows:     .res 1

.segment "MACHINE"
.proc reset
    sei
    cld
    ldx #$FF
    txs
    lda #$7F                    ; no interrupts
    sta INTERRUPTS
    sta OTHER_INTERRUPTS
    lda INTERRUPTS
    lda OTHER_INTERRUPTS
    lda #%00111111
    sta BANK_DIRECTION
    lda #%00000011              ; the lowest 16 KiB
    sta BANK
    lda #%11111111
    sta DIRECTION_A
    sta run_stop
    lda #0
    sta DIRECTION_B
    ldx #$2E
video:
    sta $D000,x                 ; sprites and video interrupts off
    dex
    bpl video
    sta NDX
    sta JIFFY
    sta JIFFY - 1
    sta JIFFY - 2
    lda #%00011011              ; text, 25 rows
    sta VIDEO_CONTROL
    lda #%00001000              ; 40 columns
    sta VIDEO_WIDTH
    lda #NO_KEY
    sta key
    .assert __COPIED_SIZE__ < 256, lderror, "the code that is copied is too long"
    ldx #<__COPIED_SIZE__
code:
    lda __COPIED_LOAD__ - 1,x
    sta __COPIED_RUN__ - 1,x
    dex
    bne code

    ; PAL or NTSC: the last line before line 0
wait:
    bit VIDEO_CONTROL
    bpl wait
line:
    lda RASTER
    bit VIDEO_CONTROL
    bpl counted
    tax
    jmp line
counted:
    ldy #<NTSC_JIFFY
    lda #>NTSC_JIFFY
    cpx #PAL_LINES
    ldx #0
    bcc known
    ldy #<PAL_JIFFY
    lda #>PAL_JIFFY
    inx
known:
    stx ISPAL
    sty TIMER_A
    sta TIMER_A + 1
    lda #%00010001              ; start, again and again
    sta TIMER_CONTROL
    lda #%10000001
    sta INTERRUPTS
    cli
    jsr start
    jmp reset                   ; RUN/STOP
.endproc

; Each jiffy.
.proc interrupt
    pha
    txa
    pha
    tya
    pha
    lda INTERRUPTS              ; reading ends the request
    inc JIFFY
    bne counted
    inc JIFFY - 1
    bne counted
    inc JIFFY - 2
counted:
    jsr scan
    pla
    tay
    pla
    tax
    pla
    rti
.endproc

; Looks at the keyboard. A key that is newly held down goes to the buffer.
.proc scan
    lda #%11111111              ; joystick 1 closes rows without any column
    sta PORT_A
    cmp PORT_B
    bne leave
    lda #NO_KEY
    sta seen
    ldy #0
    sty shift
    sty PORT_A                  ; all columns at once
    lda PORT_B
    cmp #%11111111
    beq decode
    lda #%11111110
column:
    sta PORT_A
    pha
    lda PORT_B
    sta rows
    ldx #8
row:
    lsr rows
    bcs next
    cpy #SHIFT_LEFT
    beq shifted
    cpy #SHIFT_RIGHT
    beq shifted
    sty seen
    bne next                    ; always
shifted:
    inc shift
next:
    iny
    dex
    bne row
    pla
    sec
    rol
    bcs column
decode:
    lda #STOP_COLUMN
    sta PORT_A
    lda PORT_B
    sta run_stop
    ldy seen
    cpy key
    sty key
    beq leave
    cpy #NO_KEY
    beq leave
    lda plain,y
    ldx shift
    beq found
    lda with_shift,y
found:
    ldx NDX
    cpx #KEYS
    bcs leave
    cmp #0                      ; a key without a character
    beq leave
    sta buffer,x
    inc NDX
leave:
    lda #STOP_COLUMN
    sta PORT_A
    rts
.endproc

; => A: the next key, or 0
.proc get_key
    sei
    lda NDX
    beq none
    lda buffer
    pha
    ldx #0
move:
    lda buffer + 1,x
    sta buffer,x
    inx
    cpx NDX
    bne move
    dec NDX
    pla
none:
    cli
    rts
.endproc

; => A low, X middle, Y high
.proc get_time
    sei
    lda JIFFY
    ldx JIFFY - 1
    ldy JIFFY - 2
    cli
    rts
.endproc

; => Z set while RUN/STOP is held down
.proc test_stop
    lda run_stop
    and #%10000000
    rts
.endproc

; The keys by column and row.
plain:
    .byte PETSCII_DELETE, PETSCII_RETURN, 0, 0, 0, 0, 0, 0
    .byte "3wa4zse", 0
    .byte "5rd6cftx"
    .byte "7yg8bhuv"
    .byte "9ij0mkon"
    .byte "+pl-.:@,"
    .byte $5C, "*;", PETSCII_HOME, 0, "=", $5E, "/"
    .byte "1", $5F, 0, "2 ", 0, "q", 0
with_shift:
    .byte PETSCII_DELETE, PETSCII_RETURN, 0, 0, 0, 0, 0, 0
    .byte "#WA$ZSE", 0
    .byte "%RD&CFTX"
    .byte "'YG(BHUV"
    .byte ")IJ0MKON"
    .byte $DB, "PL", $DD, ">[", $BA, "<"
    .byte $A9, $C0, "]", PETSCII_CLEAR, 0, "=", $DE, "?"
    .byte "!", $5F, 0, $22, " ", 0, "Q", 0

.segment "CHARACTERS"
    .incbin "characters.bin"

.segment "ENTRIES"
    .assert * = RDTIM, error, "the entry points are not the KERNAL's"
    jmp get_time
    .assert * = STOP, error, "the entry points are not the KERNAL's"
    jmp test_stop
    .assert * = GETIN, error, "the entry points are not the KERNAL's"
    jmp get_key

.segment "VECTORS"
    .addr line_interrupt, reset, interrupt
