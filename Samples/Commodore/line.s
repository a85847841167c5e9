; Bytes over the RS-232 line, through the KERNAL.
;
; The KERNAL moves the bits in the background, by interrupts, between the user port and two rings of 255 bytes each.
; Bytes that arrive while the receive ring is full are lost, so the ring has to be polled often.

.include "kernal.inc"

.export line_open, line_close, line_restart, line_get, line_begin, line_put, line_end, line_room, line_overrun

FILE = 2                ; any number will do
DEVICE = 2              ; the RS-232 line

.rodata
; The "name" of the file: control register and command register of the 6551 that the KERNAL imitates.
; Control: bits 0...3 are the speed (7 is 600 baud, 8 is 1200, 10 is 2400), bits 5 and 6 are 0 for 8 data bits, bit 7
; is 0 for one stop bit. Command: 0 for three wires, both ways at once, no parity.
settings:
    .byte %00001000, %00000000

.code
; Opens the line and starts the receiver, which begins with the first CHKIN, not with OPEN.
.proc line_open
    lda #FILE
    ldx #DEVICE
    ldy #0
    jsr SETLFS
    lda #2
    ldx #<settings
    ldy #>settings
    jsr SETNAM
    jsr OPEN
    ldx #FILE
    jsr CHKIN
    jmp CLRCHN
.endproc

; Closes the line when the last byte has been sent; closing discards the content of the rings.
.proc line_close
wait:
    lda RODBS
    cmp RODBE
    bne wait
    ; The last byte is out of the ring but still on the wire: 10 bits of 1/1200 s are half a jiffy.
    lda JIFFY
    clc
    adc #2
jiffies:
    cmp JIFFY
    bne jiffies
    lda #FILE
    jmp CLOSE
.endproc

; What the other end does is not seen on three wires, so there is nothing to hang up.
.proc line_restart
    rts
.endproc

; The next byte.
;
; GETIN returns 0 both for a byte of 0 and for none, so the ring's two ends are compared first.
; => C set: A is the byte; C clear: there is none.
.proc line_get
    lda RIDBE
    cmp RIDBS
    beq none
    ldx #FILE
    jsr CHKIN
    jsr GETIN
    pha
    jsr CLRCHN
    pla
    sec
    rts
none:
    clc
    rts
.endproc

; Whether bytes were lost since the last call. => C set if so.
.proc line_overrun
    lda RSSTAT
    and #RSSTAT_OVERRUN
    beq none
    lda #0
    sta RSSTAT
    sec
    rts
none:
    clc
    rts
.endproc

; How many bytes may be sent without waiting. => A
.proc line_room
    clc                         ; one place always stays empty: borrow it
    lda RODBS
    sbc RODBE
    rts
.endproc

; Between line_begin and line_end, line_put sends the byte in A. It keeps all registers.
.proc line_begin
    ldx #FILE
    jmp CHKOUT
.endproc

line_put = CHROUT
line_end = CLRCHN
