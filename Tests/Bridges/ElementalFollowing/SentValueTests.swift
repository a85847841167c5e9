import Elemental
import NIOCore
import NIOPosix
import Support
import TestSupport
import Testing

@testable import ElementalFollowing

/// What a bridge shows of values whose service says nothing of them.
struct SentValueTests {
    /// Values that are sent, and a service that is asked when a test lets it.
    private final class Bed: Sendable {
        struct Log {
            var questions: [[ElementValue]] = []
            var handled: [ElementValue] = []
            var failures: [ElementalError] = []
        }

        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let log = Locked(Log())
        private let mayAnswer = Latch()
        private let failure = Locked<ElementalError?>(nil)
        private let device: ElementalDevice
        private let bound = Locked<NIOLoopBound<SentValues>?>(nil)

        init(_ device: ElementalDevice) async {
            self.device = device
            let (loop, log, mayAnswer, failure) = (loop, log, mayAnswer, failure)
            let sent = await loop.run {
                let sent = SentValues(on: loop) { (values, _) async throws(ElementalError) in
                    log.withLock { $0.questions.append(values.map(\.value)) }
                    _ = await mayAnswer.wait()
                    if let failure = failure.withLock({ $0 }) { throw failure }
                }
                sent.onOutcome = { _, outcome in
                    log.withLock { log in
                        switch outcome {
                        case .handled(let value): log.handled.append(value)
                        case .failed(let error): log.failures.append(error)
                        case .sent: break
                        }
                    }
                }
                return NIOLoopBound(sent, eventLoop: loop)
            }
            bound.withLock { $0 = sent }
        }

        func send(_ values: [Float], of element: ElementDefinition) async {
            await on { [device] sent in
                for value in values { sent.add(.float(value), of: element) }
                sent.confirm(by: device)
            }
        }

        func on(_ body: @escaping @Sendable (SentValues) -> Void) async {
            let sent = bound.withLock { $0 }
            await loop.run { if let sent { body(sent.value) } }
        }

        func answer(_ reason: ElementalError? = nil) {
            failure.withLock { $0 = reason }
            mayAnswer.open()
        }

        func waitForQuestion(_ count: Int) async throws {
            try await eventually("\(count) questions") { log.withLock { $0.questions.count } >= count }
        }
    }

    private static let speed = Element<Float>(1, "Speed").definition
    private static let aim = Element<Float>(2, "Aim", latest: true).definition

    private func withBed(_ body: (Bed) async throws -> Void) async throws {
        let service = try await startService()
        let device = try await service.connect()
        try await body(await Bed(device))
        await device.close()
        await service.stop()
    }

    @Test func eachIsHandledInItsOrder() async throws {
        try await withBed { bed in
            await bed.send([1, 2], of: Self.speed)
            try await bed.waitForQuestion(1)
            await bed.send([3], of: Self.speed)
            await bed.send([4], of: Self.speed)
            #expect(bed.log.withLock { $0.questions.count } == 1)
            bed.answer()
            try await eventually("all") { bed.log.withLock { $0.handled } == [1, 2, 3, 4].map { .float($0) } }
            #expect(bed.log.withLock { $0.questions.last } == [.float(3), .float(4)])
        }
    }

    @Test func ofALatestElementTheNewestIsKept() async throws {
        try await withBed { bed in
            bed.answer()
            await bed.send([1, 2, 3], of: Self.aim)
            try await eventually("the newest") { bed.log.withLock { $0.handled } == [.float(3)] }
        }
    }

    @Test func whatWaitsIsBounded() async throws {
        try await withBed { bed in
            bed.answer()
            let values = (0..<2 * SentValues.maximumValueCount).map { Float($0) }
            await bed.send(values, of: Self.speed)
            try await eventually("the newest ones") { bed.log.withLock { $0.handled.last } == .float(values.last ?? 0) }
            #expect(bed.log.withLock { $0.handled.count } == SentValues.maximumValueCount)
        }
    }

    @Test func bytesAreTheBoundOfWhatWaits() async throws {
        try await withBed { bed in
            await bed.on { sent in
                let text = Element<String>(5, "Text").definition
                let values = (1...9).map {
                    ElementValue.string(String(repeating: "\($0)", count: SentValues.maximumByteCount / 4))
                }
                for value in values { sent.add(value, of: text) }
                #expect(sent[text] == values.last)
                #expect(sent.byteCount == SentValues.maximumByteCount)
                sent.add(.string(String(repeating: "x", count: SentValues.maximumByteCount + 1)), of: text)
                sent.add(.float(1), of: Self.speed)
                #expect(sent[text] == nil && sent[Self.speed] == .float(1) && sent.byteCount == 4)
            }
        }
    }

    @Test func anAnswerCountsForAllThatWasSent() async throws {
        try await withBed { bed in
            await bed.send([1], of: Self.speed)
            try await bed.waitForQuestion(1)
            await bed.send([2], of: Self.speed)
            await bed.on { sent in
                #expect(sent[Self.speed] == .float(2))
                sent.answered(Self.speed)
                #expect(sent[Self.speed] == nil)
            }
            bed.answer()
            // Who says what it takes is asked after some time: nothing is told of 1 and 2, and of 3 when it was asked.
            await bed.send([3], of: Self.speed)
            try await eventually("the last one") { bed.log.withLock { $0.handled } == [.float(3)] }
        }
    }

    @Test func ofWhatFailsTheNewestIsTold() async throws {
        try await withBed { bed in
            bed.answer(ElementalError(.timedOut, "no answer"))
            await bed.send([1, 2], of: Self.speed)
            try await eventually("the failure") { bed.log.withLock { $0.failures.map(\.code) } == [.timedOut] }
            #expect(bed.log.withLock { $0.handled }.isEmpty)
        }
    }

    @Test func nothingIsToldOverAnotherConnection() async throws {
        try await withBed { bed in
            await bed.send([1], of: Self.speed)
            try await bed.waitForQuestion(1)
            await bed.on { $0.removeAll() }
            await bed.send([2], of: Self.speed)
            bed.answer()
            try await eventually("the second one") { bed.log.withLock { $0.handled } == [.float(2)] }
        }
    }
}
