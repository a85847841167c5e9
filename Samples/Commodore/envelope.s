; A data record holds one or more envelopes, the framework's wire format over TCP:
;
;   [element, 1 byte][length of the value, 4 bytes, little-endian][value]
;
; An envelope never continues in the next record, so a length that does not fit is an error, which only costs the rest
; of its record.

.import record_data, record_length, element_received
.export envelopes, value_at, value_length

.bss
at:           .res 1    ; where the next envelope begins
value_at:     .res 1    ; where the value begins in record_data
value_length: .res 1

.code
; Handles the envelopes of a record. => C set: the rest of the record is not a valid envelope.
.proc envelopes
    lda #0
    sta at
next:
    ; What is left of the record must hold five bytes and the value.
    lda record_length
    sec
    sbc at
    beq done
    sbc #5                      ; C is set
    bcc wrong
    sta left
    ldx at
    lda record_data + 2,x       ; the three higher bytes of the length must be 0
    ora record_data + 3,x
    ora record_data + 4,x
    bne wrong
    lda left
    cmp record_data + 1,x
    bcc wrong
    lda record_data + 1,x
    sta value_length
    txa
    clc
    adc #5
    sta value_at
    clc
    adc value_length
    sta at                      ; at most 255, the longest record
    lda record_data,x
    jsr element_received
    jmp next
done:
    clc
    rts
wrong:
    sec
    rts
.endproc

.bss
left: .res 1
