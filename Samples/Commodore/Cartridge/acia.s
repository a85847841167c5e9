; Bytes over the 6551 (ACIA) of a SwiftLink cartridge, at 38,400 baud with RTS and CTS: what line.s is for the user port.
;
; The chip holds one byte each way. At this speed the next one comes after 256 cycles, so its interrupt, the NMI, moves bytes
; between it and two rings of 255 bytes each. While the receive ring is nearly full RTS is off: the other end pauses.
;
; The command register's bits 2 and 3 are RTS and the interrupt for "ready to send" in one. With RTS off the chip sends
; nothing either, so whoever waits for room in the transmit ring turns it on again.

ACIA_DATA    = $DE00
ACIA_STATUS  = $DE01    ; writing resets the chip
ACIA_COMMAND = $DE02
ACIA_CONTROL = $DE03

; Status
OVERRUN   = %00000100
RECEIVED  = %00001000
CAN_SEND  = %00010000
; Control: 19,200 baud, which the cartridge's crystal doubles; 8 bits, no parity, one stop bit
SPEED = %00011111
; Command; DTR is bit 0
HANG_UP = %00000010     ; DTR and RTS off, no interrupts
PAUSE   = %00000001     ; RTS off
LISTEN  = %00001001     ; RTS on, interrupts for received bytes
SEND    = %00000101     ; the same, and interrupts when a byte can be sent

; How many bytes wait in the receive ring when RTS goes off and on. An adapter may send a buffer of its own after that.
HIGH = 144
LOW = 64

.export line_open, line_close, line_restart, line_get, line_begin, line_put, line_end, line_room, line_overrun, line_interrupt

.segment "RINGS"
received: .res 256
to_send:  .res 256

.zeropage
received_begin: .res 1  ; the next byte to read
received_end:   .res 1  ; where the next byte goes
send_begin:     .res 1
send_end:       .res 1
command:        .res 1  ; as the chip has it
status:         .res 1  ; as the interrupt has read it
lost:           .res 1  ; not 0 if bytes were lost
is_busy:        .res 1  ; bit 7: the interrupt is being handled; the others: how many have come meanwhile

.code
.proc line_open
    sta ACIA_STATUS
    lda #SPEED
    sta ACIA_CONTROL
    lda #0
    sta received_begin
    sta received_end
    sta send_begin
    sta send_end
    sta lost
    sta is_busy
    lda #LISTEN
    ; fall through
.endproc

.proc set_command
    sta command
    sta ACIA_COMMAND
    rts
.endproc

; Hangs up when the last byte has been sent.
.proc line_close
wait:
    jsr line_get                ; what nobody reads any more would turn RTS off, and the chip would send nothing
    lda send_begin
    cmp send_end
    bne wait
    ; The last bytes are in the chip: less than 600 cycles.
    ldx #0
last:
    dex
    bne last
    lda #HANG_UP
    bne set_command             ; always
.endproc

; Hangs up and calls again, so that another end that was lost is found anew: an emulator then connects once more.
.proc line_restart
    lda #HANG_UP
    jsr set_command
    jmp line_open
.endproc

; => C set: A is the next byte; C clear: there is none.
.proc line_get
    ldx received_begin
    cpx received_end
    beq none
    lda received,x
    inc received_begin
    ldx command
    cpx #PAUSE
    beq paused
    sec
    rts
paused:
    pha
    lda received_end
    sec
    sbc received_begin
    cmp #LOW
    bcs still
    jsr resume
still:
    pla
    sec
    rts
none:
    clc
    rts
.endproc

; RTS on, and on with what waits to be sent.
.proc resume
    lda #LISTEN
    ldx send_begin
    cpx send_end
    beq set_command
    lda #SEND
    bne set_command             ; always
.endproc

; Whether bytes were lost since the last call. => C set if so.
.proc line_overrun
    lda lost
    beq none
    lda #0
    sta lost
    sec
    rts
none:
    clc
    rts
.endproc

; How many bytes may be sent without waiting. => A
.proc line_room
    clc                         ; one place always stays empty: borrow it
    lda send_begin
    sbc send_end
    rts
.endproc

; Sends the byte in A. All registers are kept.
.proc line_put
    pha
    stx keep_x
    ldx send_end
    sta to_send,x
    inx
wait:
    cpx send_begin
    beq full
    stx send_end                ; before the command is looked at: its interrupt must not miss the byte
    lda command
    cmp #LISTEN
    bne sending
    lda #SEND
    jsr set_command
sending:
    ldx keep_x
    pla
    rts
full:
    lda command
    cmp #PAUSE
    bne wait
    lda #SEND
    jsr set_command
    bne wait                    ; always
.endproc

.proc line_begin
    rts
.endproc

line_end = line_begin

.zeropage
keep_x: .res 1

; The NMI, which nothing masks: another one may come within it, whenever the chip asks anew. It only says so then, for a byte
; that is being moved must not be moved twice, and the chip is looked at once more.
.segment "MACHINE"
.proc line_interrupt
    bit is_busy
    bmi within
    pha
    txa
    pha
look:
    lda #$80
    sta is_busy
    lda ACIA_STATUS             ; reading ends the request
    sta status
    and #RECEIVED
    beq nothing_received
    lda status
    and #OVERRUN
    ora lost
    sta lost
    lda ACIA_DATA
    ldx received_end
    sta received,x
    inx
    cpx received_begin
    beq ring_full
    stx received_end
    txa
    sec
    sbc received_begin
    cmp #HIGH
    bcc nothing_received
    lda #PAUSE
    sta command
    sta ACIA_COMMAND
nothing_received:
    lda status
    and #CAN_SEND
    beq done
    lda command
    cmp #SEND
    bne done
    ldx send_begin
    cpx send_end
    beq all_sent
    lda to_send,x
    sta ACIA_DATA
    inc send_begin
done:
    asl is_busy                 ; from here on another one is whole
    bne look                    ; one has come before
    pla
    tax
    pla
    rti
within:
    inc is_busy
    rti
ring_full:
    inc lost
    bne nothing_received
    dec lost                    ; 0 would say that nothing was lost
    bne nothing_received        ; always
all_sent:
    lda #LISTEN
    sta command
    sta ACIA_COMMAND
    bne done                    ; always
.endproc
