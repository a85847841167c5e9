; Parses bytes from the line into records: [code][length][length bytes].
;
; There is no checksum and no framing mark, so a reader that loses count once stays out of sync. This one reads every
; byte of every record, wanted or not; it keeps its state from byte to byte, however they arrive; and an incomplete
; record is given up after a silence, because the other end does not pause within one.

.include "kernal.inc"

.import modem_record, modem_lost
.export record_reset, record_byte, record_tick
.export record_code, record_length, record_data

SILENCE = 30            ; jiffies after which the rest of a record will not come any more
HIGHEST_CODE = 4

.bss
stage:         .res 1   ; 0: the code comes next, 1: the length, 2: data
filled:        .res 1   ; how many bytes of data have come
silence:       .res 1   ; jiffies that are left for the next byte
record_code:   .res 1
record_length: .res 1
record_data:   .res 256

.code
.proc record_reset
    lda #0
    sta stage
    rts
.endproc

; Handles the byte in A; with the last one of a record, calls modem_record.
.proc record_byte
    ldx #SILENCE
    stx silence
    ldx stage
    beq code
    dex
    beq length
    ldx filled
    sta record_data,x
    inx
    stx filled
    cpx record_length
    beq complete
    rts

code:
    cmp #0                      ; a 0 is no record; it is noise that does no harm
    beq ignored
    cmp #HIGHEST_CODE + 1
    bcs lost
    sta record_code
    inc stage
ignored:
    rts

length:
    sta record_length
    ldx #0
    stx filled
    inc stage
    cmp #0
    beq complete
    rts

complete:
    lda #0
    sta stage
    jmp modem_record

lost:
    jmp modem_lost
.endproc

; Called each jiffy: gives up a record whose rest does not arrive. => C set if it did.
.proc record_tick
    lda stage
    beq none
    dec silence
    bne none
    jsr record_reset
    sec
    rts
none:
    clc
    rts
.endproc
