; Clients may read and write the memory, including the chips, if the gateway's user allows it.

.include "elements.inc"

.import record_data, value_length, modem_send, outgoing
.importzp pointer, source
.export memory_write_received, memory_read_received, memory_poll

; The longest answer: a record has 255 bytes, of which five are the envelope's and two the address.
LONGEST = 248

.bss
wanted:  .res 1         ; how many bytes were asked for; 0: nothing is left to answer
address: .res 2

.code
; Address, then the bytes for it.
.proc memory_write_received
    lda record_data,y
    sta pointer
    lda record_data + 1,y
    sta pointer + 1
    lda value_length
    sec
    sbc #2
    bcc done
    beq done
    sta wanted_bytes
    tya
    tax                         ; X goes through the value, Y through the memory
    ldy #0
byte:
    lda record_data + 2,x
    sta (pointer),y
    inx
    iny
    cpy wanted_bytes
    bne byte
done:
    rts
.endproc

; Address and count. One request at a time: a new request replaces one whose answer still waits for the line.
.proc memory_read_received
    lda record_data,y
    sta address
    lda record_data + 1,y
    sta address + 1
    lda record_data + 2,y
    cmp #LONGEST
    bcc short
    lda #LONGEST
short:
    sta wanted
    rts
.endproc

; Answers as soon as the line has room for it.
.proc memory_poll
    lda wanted
    beq done
    lda address
    sta outgoing
    sta source
    lda address + 1
    sta outgoing + 1
    sta source + 1
    ldy #0
byte:
    lda (source),y
    sta outgoing + 2,y
    iny
    cpy wanted
    bne byte
    tya
    clc
    adc #2
    tax
    lda #ELEMENT_MEMORY
    jsr modem_send
    bcc done
    lda #0
    sta wanted
done:
    rts
.endproc

.bss
wanted_bytes: .res 1
