import ElementalWire
import NIOCore
import NIOEmbedded
import Testing

@testable import Elemental

/// How a service ends a connection, on a channel without a socket and with a manual clock.
struct SessionEndingTests {
    /// A session and its peer.
    private struct Ends {
        let loop = EmbeddedEventLoop()
        let peer: EmbeddedPeer
        let owner = EmbeddedOwner()
        let session: Session

        init() throws {
            peer = try EmbeddedPeer(on: loop)
            session = Session(
                device: ElementalDevice(on: loop), table: ElementTable(Lamp.all), sharedHandlers: nil,
                expectsHello: false, owner: owner)
            try peer.channel.pipeline.syncOperations.addHandlers([OneSide(), session])
            peer.connect()
        }

        func waitForCloseTimeout() {
            loop.advanceTime(by: TimeAmount(session.device.limits.closeTimeout))
            loop.run()
        }
    }

    /// Closes this side alone, as a socket does.
    private final class OneSide: ChannelDuplexHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundIn = ByteBuffer

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            if mode == .output { promise?.succeed() } else { context.close(mode: mode, promise: promise) }
        }
    }

    private static func shutdown(_ text: String) -> [UInt8] { frame(SystemElement.shutdown.rawValue, Array(text.utf8)) }

    private static let networkError = DisconnectReason.Kind.networkError("reset")

    @Test(arguments: ["off", "", nil])
    func whatIsQueuedLeavesBeforeTheEndAndAPeerThatDoesNotCloseIsCutShort(_ text: String?) throws {
        let ends = try Ends()
        ends.session.sender.queue(.udpIdentifier, [7])
        ends.session.close(.closedHere, shutdownText: text)
        let end = (text ?? "").isEmpty ? [] : Self.shutdown("off")
        #expect(try ends.peer.heard() == frame(SystemElement.udpIdentifier.rawValue, [7]) + end)
        #expect(!ends.session.isOpen && ends.peer.isOpen)
        ends.loop.advanceTime(by: TimeAmount(ends.session.device.limits.closeTimeout) - .nanoseconds(1))
        #expect(ends.peer.isOpen && ends.owner.reason == nil)
        ends.waitForCloseTimeout()
        #expect(!ends.peer.isOpen)
        #expect(ends.owner.reason?.kind == .closedHere)
    }

    @Test
    func whoIsTurnedAwayAndMayNotStayIsClosedBehindTheReason() throws {
        let ends = try Ends()
        ends.session.refuse("full", waits: false)
        #expect(try ends.peer.heard() == Self.shutdown("refused: full"))
        #expect(!ends.peer.isOpen)
        #expect(ends.owner.reason?.kind == .closedHere)
    }

    @Test
    func theFirstReasonIsTheOneThatIsTold() throws {
        let ends = try Ends()
        ends.session.close(.shutDown, shutdownText: nil)
        ends.session.close(.closedHere, shutdownText: "late")
        #expect(try ends.peer.heard().isEmpty)
        ends.session.fail(Self.networkError)
        #expect(!ends.peer.isOpen)
        #expect(ends.owner.reason?.kind == .shutDown("off"))
    }

    @Test
    func afterAnErrorOfTheNetworkNothingIsSent() throws {
        let ends = try Ends()
        ends.session.fail(Self.networkError, shutdownText: "unread")
        #expect(try ends.peer.heard().isEmpty)
        #expect(!ends.peer.isOpen)
        #expect(ends.owner.reason?.kind == Self.networkError)
    }

    @Test
    func whatBreaksTheRulesIsToldWhy() throws {
        let ends = try Ends()
        ends.session.fail(.protocolViolation("-9"), shutdownText: "protocol violation: -9")
        #expect(try ends.peer.heard() == Self.shutdown("protocol violation: -9"))
        ends.waitForCloseTimeout()
        #expect(ends.owner.reason?.kind == .protocolViolation("-9"))
    }

    /// Every way in which the channel goes by itself.
    @Test
    func aConnectionThatJustGoesEndsOnce() throws {
        let ends = try Ends()
        ends.peer.channel.close(promise: nil)
        ends.loop.run()
        #expect(ends.owner.reason?.kind == .closedByPeer)
        ends.owner.reason = nil
        ends.session.channelEnded(.closedHere)
        ends.session.close(.closedHere, shutdownText: nil)
        ends.session.fail(Self.networkError)
        ends.session.closeOutput()
        ends.waitForCloseTimeout()
        #expect(ends.owner.reason == nil)
    }
}
