import ElementalMicro

// The device's program on a board without anything but a core, to see that it fits: its UART is one address. It is
// linked, with a memory of 24 KB of flash and 4 KB of RAM, and not run.

@_extern(c, "board_milliseconds") func milliseconds() -> UInt32
/// The next byte that came, or -1.
@_extern(c, "board_read") func read() -> Int32
/// Whether a byte can be written.
@_extern(c, "board_can_write") func canWrite() -> Bool
@_extern(c, "board_write") func write(_ byte: UInt8)

/// From here on nothing is allocated: the board stops if something is.
@_extern(c, "board_started") func started()

@_cdecl("board_run")
public func run(seed: UInt32) {
    var program = Program(seed: seed)
    started()
    var last = milliseconds()
    while true {
        let now = milliseconds()
        while true {
            let byte = read()
            guard byte >= 0 else { break }
            program.service.receive(UInt8(truncatingIfNeeded: byte), at: now)
        }
        program.service.tick(at: now)
        if now &- last >= 1000 {
            last = now
            // What the queue has no room for is set again a second later.
            try? program.second()
        }
        while canWrite(), let byte = program.service.nextByte(at: now) { write(byte) }
    }
}
