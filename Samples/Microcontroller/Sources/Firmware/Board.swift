import ElementalMicro

// What a board gives to the program, in C: see Boards.

/// Milliseconds since the start, modulo 2^32.
@_extern(c, "board_milliseconds") func milliseconds() -> UInt32
/// The next byte that came on the line, or -1.
@_extern(c, "board_read") func read() -> Int32
/// Whether a byte can be written.
@_extern(c, "board_can_write") func canWrite() -> Bool
@_extern(c, "board_write") func write(_ byte: UInt8)
/// Waits for an interrupt, unless there are bytes to read.
@_extern(c, "board_wait") func wait()
/// From here on nothing is allocated: the board stops if something is.
@_extern(c, "board_started") func started()

/// The program's life, which the board's start calls.
///
/// - Parameter seed: a number that differs from that of the last start.
@_cdecl("board_run")
public func run(seed: UInt32) -> Never {
    let program = Program(seed: seed)
    let service = program.service
    started()
    while true {
        let now = milliseconds()
        while true {
            let byte = read()
            guard byte >= 0 else { break }
            service.receive(UInt8(truncatingIfNeeded: byte), at: now)
        }
        service.tick(at: now)
        program.step(at: now)
        while canWrite(), let byte = service.nextByte(at: now) { write(byte) }
        wait()
    }
}
