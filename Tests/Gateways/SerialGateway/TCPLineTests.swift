import Foundation
import NIOCore
import NIOEmbedded
import Testing

@testable import SerialLines

/// Who has a TCP line, by a clock that only these tests set.
struct TCPLineTests {
    /// Notes what happens on the line.
    private final class Handler: LineHandler {
        var events: [String] = []

        func lineChanged(_ event: LineEvent) {
            switch event {
            case .ready, .notListening: break
            case .opened: events.append("open")
            case .lost: events.append("lost")
            case .refused(let host): events.append("refused \(host)")
            }
        }
        func lineReceived(_ bytes: ByteBufferView) { events.append(String(decoding: bytes, as: UTF8.self)) }
    }

    private final class Bed {
        let loop = EmbeddedEventLoop()
        let handler = Handler()
        let line: TCPLine

        init() {
            line = TCPLine(server: EmbeddedChannel(loop: loop), usesIP232: false) {
                throw ChannelError.ioOnClosedChannel
            }
            line.start(handler)
        }

        func connect(from host: String) throws -> EmbeddedChannel {
            let channel = EmbeddedChannel(handler: LineChannel(owner: line), loop: loop)
            try channel.connect(to: SocketAddress(ipAddress: host, port: 1)).wait()
            return channel
        }
    }

    @Test func theNewestOfAHostHasTheLine() throws {
        let bed = Bed()
        let (old, new) = (try bed.connect(from: "10.0.0.1"), try bed.connect(from: "10.0.0.1"))
        #expect(!old.isActive && new.isActive)
        #expect(bed.handler.events == ["open", "lost", "open"])
    }

    /// It answers the system's probes, and says nothing.
    @Test func aLineThatLivesIsNotGivenToAnotherHost() throws {
        let bed = Bed()
        let (old, other) = (try bed.connect(from: "10.0.0.1"), try bed.connect(from: "10.0.0.2"))
        let third = try bed.connect(from: "10.0.0.3")
        #expect(old.isActive && other.isActive && !third.isActive)
        bed.loop.advanceTime(by: TCPLine.probeTime - .nanoseconds(1))
        #expect(other.isActive)
        bed.loop.advanceTime(by: .nanoseconds(1))
        #expect(old.isActive && !other.isActive)
        // One that speaks lives.
        let next = try bed.connect(from: "10.0.0.2")
        try old.writeInbound(ByteBuffer(string: "x"))
        #expect(old.isActive && !next.isActive)
        // A flood of them is told once.
        #expect(bed.handler.events == ["open", "refused 10.0.0.3", "x"])
    }

    @Test func aDeadLineIsGivenToAnotherHost() throws {
        let bed = Bed()
        let (old, other) = (try bed.connect(from: "10.0.0.1"), try bed.connect(from: "10.0.0.2"))
        // What the system makes of probes without answers.
        old.pipeline.fireErrorCaught(IOError(errnoCode: ETIMEDOUT, reason: "read"))
        bed.loop.advanceTime(by: TCPLine.probeTime)
        #expect(!old.isActive && other.isActive)
        try other.writeInbound(ByteBuffer(string: "y"))
        #expect(bed.handler.events == ["open", "lost", "open", "y"])
    }
}
