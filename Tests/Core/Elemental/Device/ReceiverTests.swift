import ElementalWire
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import Elemental

/// What becomes of the bytes that come over a connection, without a connection.
struct ReceiverTests {
    /// A connection that notes what it is told.
    private final class Owner: ReceiverOwner {
        var told: [String] = []
        private(set) var reason: DisconnectReason?
        weak var receiver: Receiver?
        var excess: IncompleteExcess?

        func receiveEarlyValue() { told.append("early") }
        func receiveSystem(_ id: Int8, _ value: UnsafeRawBufferPointer, over transport: Transport) {
            told.append("system \(id) over \(transport): \(Array(value))")
        }
        func noteTaken(_ byteCount: Int) { told.append("taken \(byteCount)") }
        func refuse(_ id: Int8, _ reason: ValueRefusal.Reason) { told.append("refused \(id)") }
        func incompleteByteCountChanged(_ byteCount: Int) -> IncompleteExcess? {
            told.append("incompleteByteCountChanged \(byteCount)")
            return byteCount > 0 ? excess : nil
        }
        func discardedIncomplete(_ element: ElementDefinition, byteCount: Int) {
            told.append("leaves out \(byteCount) of \(element.name)")
        }
        func fail(_ kind: DisconnectReason.Kind, shutdownText: String?) {
            let reason = DisconnectReason(kind)
            self.reason = reason
            told.append("fails: \(reason.code)")
            receiver?.stop()
        }
    }

    /// Runs `body` on an event loop, as a task of the test's, with a receiver of a service and what its handler was given.
    private func withReceiver(
        shared: HandlerTable = .none,
        _ change: @Sendable (inout DeviceLimits) -> Void = { _ in },
        prepare: @Sendable (ElementalDevice, Transcript<String>) -> Void = { _, _ in },
        _ body: @Sendable (Receiver, Owner, Transcript<String>) throws -> Void
    ) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        var limits = DeviceLimits()
        change(&limits)
        let device = try await loop.submit { [limits] in ElementalDevice(on: loop, limits) }.get()
        try await withTaskExecutorPreference(device.executor) { () async throws in
            let values = Transcript<String>()
            prepare(device, values)
            device.onAnyValue { element, value, _ in values.add("\(element.name) \(value)") }
            let receiver = Receiver(
                device, ElementTable(Lamp.all), ProgressReporter(device: device, shared: shared))
            receiver.isReady = true
            let owner = Owner()
            owner.receiver = receiver
            try body(receiver, owner, values)
        }
    }

    @Test
    func framesBecomeValuesHoweverTheyAreSplit() async throws {
        let bytes =
            frame(3, Array("on".utf8)) + frame(-7, [1, 2]) + frame(5, [1, 0, 0, 0])
            + frame(3, Array("off".utf8))
        for size in [1, 3, 7, bytes.count] {
            try await withReceiver { receiver, owner, values in
                for start in stride(from: 0, to: bytes.count, by: size) {
                    let part = bytes[start..<min(start + size, bytes.count)]
                    receiver.receive(ByteBuffer(bytes: part), for: owner)
                }
                #expect(values.all == ["Label on", "Level 1", "Label off"])
                #expect(
                    owner.told.filter { !$0.hasPrefix("incompleteByteCountChanged") } == ["system -7 over tcp: [1, 2]"])
                #expect(receiver.incompleteByteCount == 0)
                #expect(receiver.counts.bytesReceived == bytes.count)
                #expect(receiver.finishBatch(for: owner) == nil)
                #expect(receiver.counts.messagesReceived == 0)
            }
        }
    }

    @Test
    func whatCannotBeTakenIsCountedAndSkipped() async throws {
        try await withReceiver { receiver, owner, values in
            let unknown = frame(99, [1])
            let malformed = frame(5, [1])
            let readOnly = frame(6, [UInt8](repeating: 0, count: 8))
            let outOfRange = frame(1, withUnsafeBytes(of: Float(2).bitPattern.littleEndian) { Array($0) })
            receiver.receive(ByteBuffer(bytes: unknown + malformed + readOnly + outOfRange), for: owner)
            #expect(values.all.isEmpty)
            #expect(owner.told == ["refused 6", "refused 1"])
            #expect(receiver.counts.messagesUnknown == 1)
            #expect(receiver.counts.messagesMalformed == 1)
            #expect(receiver.counts.messagesRejected == 2)
            #expect(receiver.counts.messagesReceived == 0)
        }
    }

    /// All handlers of the service come before those of the device: one that corrects a value corrects the one that the
    /// service has passed on.
    @Test(arguments: [false, true])
    func theServicesHandlersComeFirst(sharedForAll: Bool) async throws {
        let shared = HandlerTable()
        try await withReceiver(shared: shared) { _ in
        } prepare: { device, values in
            if sharedForAll {
                shared.addForAll(shared.reserve()) { element, _, _ in values.add("shared for all \(element.id)") }
            }
            shared.add(shared.reserve(), for: 5) { _, _ in values.add("shared") }
            device.handlers.add(device.handlers.reserve(), for: 5) { _, _ in values.add("own") }
        } _: { receiver, owner, values in
            receiver.receive(ByteBuffer(bytes: frame(5, [1, 0, 0, 0])), for: owner)
            #expect(values.all == ["shared"] + (sharedForAll ? ["shared for all 5"] : []) + ["own", "Level 1"])
        }
    }

    /// A handler is called with every value after it was added, also if the service's handlers have just changed.
    @Test
    func whatIsPostponedWhileTheHandlersAreTakenIsNotForgotten() async throws {
        let shared = HandlerTable()
        let devices = Transcript<ElementalDevice>()
        try await withReceiver(shared: shared) { _ in
        } prepare: { device, _ in
            devices.add(device)
        } _: { receiver, owner, values in
            for device in devices.all {
                device.handlers.postpone {
                    // As another thread does at this moment.
                    device.handlers.postpone {
                        device.handlers.add(device.handlers.reserve(), for: 5) { _, _ in values.add("late") }
                    }
                }
            }
            shared.add(shared.reserve(), for: 3) { _, _ in }
            receiver.receive(ByteBuffer(bytes: frame(5, [1, 0, 0, 0])), for: owner)
            receiver.receive(ByteBuffer(bytes: frame(5, [2, 0, 0, 0])), for: owner)
            #expect(values.all == ["Level 1", "late", "Level 2"])
        }
    }

    /// A value before the handshake's end is for the connection to judge.
    @Test
    func anEarlyValueIsHandedOnOnlyIfTheConnectionIsReadyForIt() async throws {
        try await withReceiver { receiver, owner, values in
            receiver.isReady = false
            receiver.receive(ByteBuffer(bytes: frame(5, [1, 0, 0, 0])), for: owner)
            #expect(owner.told == ["early"])
            #expect(values.all.isEmpty)
            receiver.isReady = true
            receiver.receive(ByteBuffer(bytes: frame(5, [2, 0, 0, 0])), for: owner)
            #expect(values.all == ["Level 2"])
        }
    }

    @Test
    func whatComesAfterTheEndIsDropped() async throws {
        try await withReceiver { receiver, owner, values in
            receiver.receive(ByteBuffer(bytes: frame(4, [1, 2, 3]).dropLast()), for: owner)
            #expect(receiver.incompleteByteCount > 0)
            receiver.stop()
            receiver.receive(ByteBuffer(bytes: [3] + frame(5, [1, 0, 0, 0])), for: owner)
            #expect(values.all.isEmpty)
            #expect(receiver.incompleteByteCount == 0)
        }
    }

    @Test
    func aValueThatIsTooLongEndsTheConnection() async throws {
        try await withReceiver({ $0.maximumValueByteCount = 100 }) { receiver, owner, _ in
            receiver.receive(ByteBuffer(bytes: [4, 101, 0, 0, 0]), for: owner)
            #expect(owner.told == ["fails: protocolViolation"])
        }
    }

    @Test
    func incompleteValuesThatAreTooManyEndTheConnection() async throws {
        try await withReceiver { receiver, owner, _ in
            owner.excess = .end("no memory")
            receiver.receive(ByteBuffer(bytes: [4, 100, 0, 0, 0, 1, 2]), for: owner)
            #expect(owner.told.contains("fails: limitReached"))
            #expect(receiver.incompleteByteCount == 0)
        }
    }

    @Test("incomplete values can be left out, in frames and in pieces, and what follows is received")
    func incompleteValuesAreLeftOut() async throws {
        @Sendable func piece(at offset: UInt8) -> [UInt8] { [3, 4, 0, 0, 0, offset, 0, 0, 0, 120, 121] }
        try await withReceiver { receiver, owner, values in
            owner.excess = .leaveOut
            piece(at: 0).withUnsafeBytes { receiver.receivePiece($0, for: owner) }
            receiver.receive(ByteBuffer(bytes: [4, 3, 0, 0, 0, 1, 2]), for: owner)
            #expect(receiver.incompleteByteCount == 5)
            piece(at: 2).withUnsafeBytes { receiver.receivePiece($0, for: owner) }
            receiver.receive(ByteBuffer(bytes: [3] + frame(3, Array("on".utf8))), for: owner)
            let left = owner.told.filter { $0.hasPrefix("leaves") }
            #expect(left == ["leaves out 3 of \(Lamp.all[id: 4]?.name ?? "")", "leaves out 4 of Label"])
            #expect(values.all == ["Label on"])
            #expect(owner.reason == nil)
            #expect(receiver.counts.messagesRejected == 2)
            #expect(receiver.incompleteByteCount == 0)
        }
    }

    @Test
    func unknownElementsInARowEndTheConnectionAtTheirLimit() async throws {
        try await withReceiver({ $0.maximumUnknownCount = 3 }) { receiver, owner, _ in
            let unknown = frame(99, [1])
            receiver.receive(ByteBuffer(bytes: unknown + unknown + unknown), for: owner)
            _ = receiver.finishBatch(for: owner)
            // A known one between begins anew.
            receiver.receive(ByteBuffer(bytes: unknown + frame(5, [1, 0, 0, 0])), for: owner)
            _ = receiver.finishBatch(for: owner)
            receiver.receive(ByteBuffer(bytes: unknown + unknown + unknown), for: owner)
            _ = receiver.finishBatch(for: owner)
            #expect(owner.told.isEmpty)
            receiver.receive(ByteBuffer(bytes: unknown), for: owner)
            _ = receiver.finishBatch(for: owner)
            #expect(owner.told == ["fails: protocolViolation"])
            #expect(owner.reason?.description.contains("unknown elements in a row") == true)
        }
    }

    /// Over TCP the peer waits until the second is over; datagrams beyond the limit are dropped.
    @Test
    func moreThanASecondMayBringHasToWait() async throws {
        try await withReceiver({ $0.maximumMessagesPerSecond = 2 }) { receiver, owner, values in
            let level = frame(5, [1, 0, 0, 0])
            receiver.receive(ByteBuffer(bytes: level), for: owner)
            #expect(receiver.finishBatch(for: owner) == nil)
            // Two values reach the limit even if a new second has begun.
            receiver.receive(ByteBuffer(bytes: level + level), for: owner)
            #expect(receiver.finishBatch(for: owner) != nil)
            #expect(receiver.isThrottled)
            let motion: [UInt8] = [UInt8](repeating: 0, count: 8)
            motion.withUnsafeBytes { receiver.receiveDatagram(8, $0, for: owner) }
            #expect(receiver.counts.messagesRejected == 1)
            #expect(receiver.beginSecond() == nil)
            motion.withUnsafeBytes { receiver.receiveDatagram(8, $0, for: owner) }
            #expect(values.all == ["Level 1", "Level 1", "Level 1", "Count 0"])
        }
    }
}
