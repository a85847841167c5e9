; The joysticks, sent when they change.

.include "hardware.inc"
.include "elements.inc"

.import modem_send, outgoing
.export joystick_start, joystick_tick, joysticks

SWITCHES = %00011111

.bss
joysticks: .res 2       ; port 1 and 2 as they were last seen: bits 0...4 up, down, left, right, fire, 1 is pressed
told:      .res 2       ; as the other end knows them; bit 7 is set if it does not

.code
; Makes both be sent.
.proc joystick_start
    lda #$80
    sta told
    sta told + 1
    rts
.endproc

; Called each jiffy.
;
; Both ports are also the keyboard's. With no column selected, keys do not disturb port 1; the KERNAL's scan in the
; interrupt selects columns, so interrupts are disabled for these few cycles. A closed switch reads as 0.
.proc joystick_tick
    sei
    lda #$FF
    sta PORT_A
    lda PORT_B
    ldx PORT_A
    ldy #%01111111              ; as the KERNAL's scan leaves it, for the RUN/STOP key
    sty PORT_A
    cli
    eor #$FF
    and #SWITCHES
    sta joysticks
    txa
    eor #$FF
    and #SWITCHES
    sta joysticks + 1

    ldy #1
port:
    lda joysticks,y
    cmp told,y
    beq next
    sta outgoing
    sty index
    tya
    clc
    adc #ELEMENT_JOYSTICK_1
    ldx #1
    jsr modem_send
    ldy index
    bcc next                    ; busy: it is still different the next time
    lda outgoing
    sta told,y
next:
    dey
    bpl port
    rts
.endproc

.bss
index: .res 1
