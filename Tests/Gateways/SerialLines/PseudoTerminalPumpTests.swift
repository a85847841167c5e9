import Foundation
import TestSupport
import Testing

@testable import SerialLines

struct PseudoTerminalPumpTests {
    @Test("the last output of a program that reads nothing arrives before the end")
    func lastOutput() async throws {
        let (terminal, path) = try TerminalDevice.makePseudoTerminal()
        let socket = try PseudoTerminalPump.start(terminal)
        defer {
            close(socket)
            close(terminal)
        }
        let program = open(path, O_RDWR | O_NOCTTY)
        _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
        // Nothing more fits, and still nothing does after the pump had time to make room.
        let bytes = [UInt8](repeating: 65, count: 4096)
        var refusals = 0
        while refusals < 1000 {
            refusals = write(socket, bytes, bytes.count) < 0 ? refusals + 1 : 0
            sched_yield()
        }
        #expect(write(program, "last", 4) == 4)
        close(program)
        var received: [UInt8] = []
        try await eventually("the end") {
            var buffer = [UInt8](repeating: 0, count: 100)
            let count = read(socket, &buffer, buffer.count)
            received += buffer.prefix(max(0, count))
            return count == 0
        }
        #expect(received == Array("last".utf8))
    }
}
