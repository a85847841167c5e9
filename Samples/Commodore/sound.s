; Three voices of the SID, each with a frequency in hertz, a waveform and a volume.

.include "kernal.inc"
.include "hardware.inc"
.include "elements.inc"

.import record_data
.export sound_start, sound_stop, frequency_received, waveform_received, volume_received
.export frequency, waveform, volume

VOICES = 3
GATE = 1
HIGHEST_WAVEFORM = 4

.bss
; In hertz: the low bytes of the three voices, then the high bytes.
frequency: .res 2 * VOICES
waveform:  .res VOICES  ; 0...4
volume:    .res VOICES  ; 0...15

.rodata
; The offsets of each voice's registers.
registers: .byte 0, 7, 14
; The waveforms' bits in the control register, with the gate open, except for "off".
controls: .byte $00, $10 | GATE, $20 | GATE, $40 | GATE, $80 | GATE

; A SID adds its frequency register to a 24-bit counter in each cycle, so one hertz is 2^24 / (cycles per second) steps
; of the register, 17.0284 on a PAL machine and 16.4044 on an NTSC one. Here times 65536.
.define STEPS(cycles) ((1 << 24) / (cycles) * 65536 + ((1 << 24) .mod (cycles)) * 1024 / ((cycles) / 64))
steps_low:    .byte <STEPS(1022727), <STEPS(985248)
steps_middle: .byte >STEPS(1022727), >STEPS(985248)
steps_high:   .byte ^STEPS(1022727), ^STEPS(985248)

.code
.proc sound_start
    jsr sound_stop
    ldx #VOICES - 1
voice:
    ldy registers,x
    lda #$00                    ; attack and decay at once
    sta VOICE + ATTACK_DECAY,y
    lda #$08                    ; pulses as long as their pauses
    sta VOICE + PULSE_WIDTH + 1,y
    dex
    bpl voice
    lda #15
    sta SOUND_VOLUME
    rts
.endproc

; Silence: all registers are 0.
.proc sound_stop
    lda #0
    ldx #SOUND_VOLUME - VOICE
register:
    sta VOICE,x
    dex
    bpl register
    rts
.endproc

.proc frequency_received
    sec
    sbc #ELEMENT_FREQUENCY
    tax
    lda record_data,y
    sta frequency,x
    sta hertz
    lda record_data + 1,y
    sta frequency + VOICES,x
    sta hertz + 1
    txa
    pha
    jsr multiply
    pla
    tax
    ldy registers,x
    lda product + 2
    sta VOICE + FREQUENCY,y
    lda product + 3
    sta VOICE + FREQUENCY + 1,y
    rts
.endproc

; Converts hertz to steps of the frequency register: the upper two bytes of product, at most $FFFF.
;
; Long multiplication, bit by bit: hertz times the steps per hertz. The product of 16 and 21 bits has up to 37; the
; lower 16 are fractions of a step.
.proc multiply
    lda #0
    ldx #4
clear:
    sta product,x
    dex
    bpl clear
    ldy ISPAL
    ldx #16
each_bit:
    asl product                 ; the product so far, times 2
    rol product + 1
    rol product + 2
    rol product + 3
    rol product + 4
    asl hertz                   ; the highest bit that is left
    rol hertz + 1
    bcc zero
    clc
    lda product
    adc steps_low,y
    sta product
    lda product + 1
    adc steps_middle,y
    sta product + 1
    lda product + 2
    adc steps_high,y
    sta product + 2
    bcc zero
    inc product + 3
    bne zero
    inc product + 4
zero:
    dex
    bne each_bit
    lda product + 4             ; above what the register holds
    beq fits
    lda #$FF
    sta product + 2
    sta product + 3
fits:
    rts
.endproc

.proc waveform_received
    ldx record_data,y
    cpx #HIGHEST_WAVEFORM + 1
    bcs out_of_range
    sec
    sbc #ELEMENT_WAVEFORM
    tay
    txa
    sta waveform,y
    jmp sound
out_of_range:
    rts
.endproc

.proc volume_received
    ldx record_data,y
    cpx #16
    bcs out_of_range
    sec
    sbc #ELEMENT_VOLUME
    tay
    txa
    sta volume,y
    jmp sound
out_of_range:
    rts
.endproc

; Sets the voice in Y to its waveform and volume.
;
; The volume is the level at which a tone is held. A level may be lowered while a tone sounds; a higher one is reached
; only by a new attack, so the gate is closed and opened.
.proc sound
    ldx registers,y
    lda volume,y
    asl
    asl
    asl
    asl
    sta VOICE + SUSTAIN_RELEASE,x
    lda waveform,y
    tay
    lda controls,y
    and #<~GATE
    sta VOICE + CONTROL,x
    lda controls,y
    sta VOICE + CONTROL,x
    rts
.endproc

.bss
hertz:   .res 2
product: .res 5
