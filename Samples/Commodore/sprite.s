; Sprite 0: a ball that clients move.

.include "hardware.inc"

.import record_data
.export sprite_start, sprite_stop, sprite_x_received, sprite_y_received, sprite_x, sprite_y

; Its pixels, 24 by 21. They are in the cassette buffer, which is unused: a multiple of 64 below 16384.
POINTS = $0340

.bss
sprite_x: .res 2
sprite_y: .res 1

.rodata
points:
    .byte %00000000, %00000000, %00000000
    .byte %00000000, %11111111, %00000000
    .byte %00000011, %11111111, %11000000
    .byte %00001111, %11111111, %11110000
    .byte %00011111, %11111111, %11111000
    .byte %00111100, %01111111, %11111100
    .byte %00111000, %01111111, %11111100
    .byte %01110001, %11111111, %11111110
    .byte %01110011, %11111111, %11111110
    .byte %01110011, %11111111, %11111110
    .byte %01111111, %11111111, %11111110
    .byte %01111111, %11111111, %11111110
    .byte %01111111, %11111111, %11111110
    .byte %01111111, %11111111, %11111110
    .byte %00111111, %11111111, %11111100
    .byte %00111111, %11111111, %11111100
    .byte %00011111, %11111111, %11111000
    .byte %00001111, %11111111, %11110000
    .byte %00000011, %11111111, %11000000
    .byte %00000000, %11111111, %00000000
    .byte %00000000, %00000000, %00000000
POINTS_LENGTH = * - points

; Its initial position, in the lower right corner of the window; the screen begins at 24, 50.
START_X = 312
START_Y = 206

.code
.proc sprite_start
    ldx #POINTS_LENGTH - 1
byte:
    lda points,x
    sta POINTS,x
    dex
    bpl byte
    lda #POINTS / 64
    sta SPRITE_POINTER
    lda #YELLOW
    sta SPRITE_COLOUR
    lda #<START_X
    ldx #>START_X
    jsr set_x
    lda #START_Y
    jsr set_y
    lda #1
    sta SPRITE_ENABLE
    rts
.endproc

.proc sprite_stop
    lda #0
    sta SPRITE_ENABLE
    rts
.endproc

.proc sprite_x_received
    lda record_data,y
    ldx record_data + 1,y
    ; fall through
.endproc

; A low byte, X high byte, of which one bit is used.
.proc set_x
    sta SPRITE_X
    sta sprite_x
    txa
    and #1
    sta SPRITE_X_HIGH           ; the other sprites are not used: their bits are 0
    sta sprite_x + 1
    rts
.endproc

.proc sprite_y_received
    lda record_data,y
    ; fall through
.endproc

.proc set_y
    sta SPRITE_Y
    sta sprite_y
    rts
.endproc
