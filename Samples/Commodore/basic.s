; The line of BASIC that starts the program: 10 SYS2061

.import start

.segment "LOADADDRESS"
    .addr basic

.segment "BASIC"
basic:
    .addr @end
    .word 10
    .byte $9E, "2061", 0
@end:
    .word 0

; Right behind it.
.assert start = 2061, lderror, "SYS does not lead to the program"
