; The connection: first with the modem, which the gateway emulates, then through it with the clients.
;
;   waiting --> draining --> starting --> connecting --> connected
;      ^            04 00        03 00          05 n url      04 09 "Connected"
;      +------------- any failure, 2 seconds later ------------+
;
; Draining discards what the other end was sending to an earlier program: STOP_WIFI is answered with an OK that would be
; taken for START_WIFI's later.

.include "kernal.inc"
.include "name.inc"

.import line_get, line_begin, line_put, line_end, line_room, line_overrun, line_restart
.import record_reset, record_byte, record_tick, record_code, record_length, record_data
.import envelopes, joystick_start, jiffies_start, window_error
.export modem_start, modem_poll, modem_tick, modem_stop, modem_record, modem_lost, modem_send, modem_is_connected
.export modem_state, outgoing, received, sent, errors

; What we send
STOP_WIFI       = 4
START_WIFI      = 3
START_WEBSOCKET = 5
SEND            = 6
; What comes back
OK              = 1
ERROR           = 2
DATA            = 3
STATE           = 4     ; "Connected" or "Disconnected"

WAITING    = 0
DRAINING   = 1
STARTING   = 2
CONNECTING = 3
CONNECTED  = 4

; How long each state may last, in jiffies
PAUSE        = 120
DRAIN        = 40
START_LIMIT  = 720      ; the modem has 10 seconds to find its network
LIMIT        = 900
MOST_FAILURES = 4       ; ERRORs in a row
LIFE_LIMIT   = 360      ; we send the time every second and get an OK for it: no record for long means no line

.bss
modem_state: .res 1
timer:       .res 2     ; jiffies that the state may still last
received:    .res 2     ; records
sent:        .res 2
errors:      .res 2     ; bytes lost, records given up, envelopes that are none
failures:    .res 1     ; ERRORs since the last OK
outgoing:    .res 256   ; the value to send

.rodata
; In ASCII, as the modem expects it.
address:
    .byte "elemental:", PROGRAM_NAME
ADDRESS_LENGTH = * - address
.assert ADDRESS_LENGTH <= 80, error, "the program's name is too long"

.macro enter state, limit
    lda #state
    ldx #<(limit)
    ldy #>(limit)
    jsr set_state
.endmacro

.code
.proc set_state
    sta modem_state
    stx timer
    sty timer + 1
    rts
.endproc

.proc modem_start
    enter WAITING, 1
    rts
.endproc

; Z is set if there is a connection.
.proc modem_is_connected
    lda modem_state
    cmp #CONNECTED
    rts
.endproc

; Handles all received bytes.
.proc modem_poll
next:
    jsr line_get
    bcc done
    ldx modem_state
    cpx #STARTING               ; before that nothing that comes is meant for us
    bcc next
    jsr record_byte
    jmp next
done:
    jsr line_overrun
    bcc whole
    ldx modem_state
    cpx #STARTING
    bcs modem_lost              ; what came is not what was sent
whole:
    rts
.endproc

; Called each jiffy.
.proc modem_tick
    jsr record_tick
    bcc whole
    jsr count_error
whole:
    lda timer
    bne low
    dec timer + 1
low:
    dec timer
    lda timer
    ora timer + 1
    bne done

    ; The state's time is over.
    lda modem_state
    beq drain
    cmp #DRAINING
    beq begin
    jmp fail

drain:
    lda #STOP_WIFI
    jsr command
    enter DRAINING, DRAIN
done:
    rts

begin:
    jsr record_reset
    lda #START_WIFI
    jsr command
    enter STARTING, START_LIMIT
    rts
.endproc

; The program ends.
.proc modem_stop
    enter WAITING, 0
    lda #STOP_WIFI
    ; fall through
.endproc

; Sends a command without data: A and a length of 0.
.proc command
    pha
    jsr line_begin
    pla
    jsr line_put
    lda #0
    jsr line_put
    jmp line_end
.endproc

; The input makes no sense any more: start again.
.proc modem_lost
    jsr count_error
    ; fall through
.endproc

.proc fail
    jsr line_restart
    jsr record_reset
    enter WAITING, PAUSE
    rts
.endproc

.proc count_error
    inc errors
    bne done
    inc errors + 1
done:
    rts
.endproc

; A whole record has arrived.
.proc modem_record
    inc received
    bne counted
    inc received + 1
counted:
    lda modem_state
    cmp #CONNECTED
    bne not_alive
    enter CONNECTED, LIFE_LIMIT ; a sign of life, whatever it says
not_alive:
    lda record_code
    cmp #OK
    beq ok
    cmp #DATA
    beq data
    cmp #STATE
    beq state
    ; ERROR: shown as it is. Before there is a connection it means that there will be none; later, that a value was not
    ; taken, and if none is taken any more, that the other end knows nothing of a connection.
    jsr window_error
    lda modem_state
    cmp #CONNECTED
    bne fail
    jsr count_error
    inc failures
    lda failures
    cmp #MOST_FAILURES
    bcs fail
    rts

ok:
    lda #0
    sta failures
    lda modem_state
    cmp #STARTING
    bne done                    ; the OK of a value that was sent, or one too many
    jmp connect

data:
    lda modem_state
    cmp #CONNECTED
    bne done
    jsr envelopes
    bcc done
    jmp count_error

state:
    lda record_length
    beq done
    lda record_data
    cmp #$43                    ; C, in ASCII
    beq connected
    jmp fail                    ; Disconnected
connected:
    lda modem_state
    cmp #CONNECTING
    bne done
    lda #0
    sta failures
    enter CONNECTED, LIFE_LIMIT
    jsr joystick_start          ; say at once how things are
    jmp jiffies_start
done:
    rts
.endproc

.proc connect
    jsr line_begin
    lda #START_WEBSOCKET
    jsr line_put
    lda #ADDRESS_LENGTH
    jsr line_put
    ldx #0
byte:
    lda address,x
    jsr line_put
    inx
    cpx #ADDRESS_LENGTH
    bne byte
    jsr line_end
    enter CONNECTING, LIMIT
    rts
.endproc

; Sends a value: A is the element, X the value's length (1...250), the value is in outgoing.
;
; The record holds one envelope: [element][length, 4 bytes][value].
; => C set: it is being sent. C clear: there is no connection, or the line is busy; try again.
.proc modem_send
    sta element
    stx length
    jsr modem_is_connected
    bne busy
    lda length                  ; around it: command, its length, and the envelope's five bytes
    clc
    adc #7
    bcc fits
    lda #255                    ; more than the ring holds: into an empty ring, and wait for the last two to fit
fits:
    sta needed
    jsr line_room
    cmp needed
    bcc busy

    jsr line_begin
    lda #SEND
    jsr line_put
    lda length
    clc
    adc #5
    jsr line_put
    lda element
    jsr line_put
    lda length
    jsr line_put
    lda #0
    jsr line_put
    jsr line_put
    jsr line_put
    ldx #0
byte:
    lda outgoing,x
    jsr line_put
    inx
    cpx length
    bne byte
    jsr line_end
    inc sent
    bne done
    inc sent + 1
done:
    sec
    rts
busy:
    clc
    rts
.endproc

.bss
element: .res 1
length:  .res 1
needed:  .res 1
