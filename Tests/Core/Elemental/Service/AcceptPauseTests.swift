import NIOCore
import NIOEmbedded
import Support
import Testing

@testable import Elemental

/// When a server that cannot accept connections retries.
struct AcceptPauseTests {
    private let loop = EmbeddedEventLoop()
    private let handler = AcceptPauseHandler()
    private let channel: EmbeddedChannel

    init() throws {
        channel = EmbeddedChannel(loop: loop)
        try channel.pipeline.syncOperations.addHandler(handler)
    }

    private func runOut() {
        channel.pipeline.fireErrorCaught(IOError(errnoCode: EMFILE, reason: "accept"))
    }

    private var isAccepting: Bool {
        let option = channel.options.first { $0.option is ChannelOptions.Types.AutoReadOption }
        return option?.value as? Bool != false
    }

    @Test("retries are delayed up to a second, and the delay is reset by a success")
    func delays() {
        func expectPause(of milliseconds: Int64) {
            runOut()
            loop.advanceTime(by: .milliseconds(milliseconds - 1))
            #expect(!isAccepting)
            loop.advanceTime(by: .milliseconds(1))
            #expect(isAccepting)
        }
        for milliseconds in [100, 200, 400, 800, 1000, 1000] { expectPause(of: Int64(milliseconds)) }
        channel.pipeline.fireChannelRead(EmbeddedChannel(loop: loop) as any Channel)
        expectPause(of: 100)
    }

    @Test
    func oneFailureAfterTheOtherIsOnePause() {
        runOut()
        runOut()
        loop.advanceTime(by: .milliseconds(100))
        #expect(isAccepting)
    }

    @Test
    func aClosedConnectionEndsThePause() {
        runOut()
        #expect(!isAccepting)
        handler.goOn()
        #expect(isAccepting)
        // Its timer is no failure's that comes after it.
        runOut()
        loop.advanceTime(by: .milliseconds(100))
        #expect(!isAccepting)
    }
}
