; Time: jiffies are 60ths of a second, on PAL machines too. The KERNAL counts them in its interrupt.

.include "kernal.inc"
.include "elements.inc"

.import modem_send, outgoing
.export clock_tick, jiffies_start, jiffies_tick, jiffies

SECOND = 60

.bss
last:      .res 1       ; the clock's lowest byte when it was last looked at
countdown: .res 1       ; jiffies until the clock is told next
jiffies:   .res 3       ; as it was last told

.code
; => C set: at least one jiffy has passed since the last call.
.proc clock_tick
    lda JIFFY
    cmp last
    beq none
    sta last
    sec
    rts
none:
    clc
    rts
.endproc

; Makes the clock be sent at once.
.proc jiffies_start
    lda #1
    sta countdown
    rts
.endproc

; Called each jiffy; sends the clock once a second.
.proc jiffies_tick
    dec countdown
    bne done
    jsr RDTIM
    sta outgoing
    stx outgoing + 1
    sty outgoing + 2
    sta jiffies
    stx jiffies + 1
    sty jiffies + 2
    lda #0
    sta outgoing + 3
    lda #ELEMENT_JIFFIES
    ldx #4
    jsr modem_send
    bcc jiffies_start           ; the line is busy, or there is no connection
    lda #SECOND
    sta countdown
done:
    rts
.endproc
