import Testing

@testable import Elemental
@testable import ElementalCLI

struct TransferWaitTests {
    private static let one = try? ElementDefinition(id: 1, name: "One", type: .data)
    private static let two = try? ElementDefinition(id: 2, name: "Two", type: .data)

    private func progress(
        _ element: ElementDefinition?, _ byteCount: Int, of total: Int = 640_000,
        _ direction: TransferProgress.Direction = .incoming
    ) throws -> TransferProgress {
        TransferProgress(
            element: try #require(element), direction: direction, byteCount: byteCount, totalByteCount: total)
    }

    private func goesOn(_ wait: inout TransferWait) -> Bool { wait.endWindow() }

    @Test
    func withoutProgressThereIsOneWindow() {
        var wait = TransferWait(for: [1], .incoming)
        #expect(goesOn(&wait) == false)
    }

    @Test
    func eachWindowNeedsItsShareOfProgress() throws {
        var wait = TransferWait(for: [1], .incoming)
        wait.note(try progress(Self.one, 10_000))
        #expect(goesOn(&wait) == true)
        wait.note(try progress(Self.one, 19_999))
        #expect(goesOn(&wait) == false)
        #expect(wait.amount(of: 1) == "19999 of 640000 bytes")
    }

    @Test
    func otherElementsAndTheOtherDirectionDoNotCount() throws {
        var wait = TransferWait(for: [1], .incoming)
        wait.note(try progress(Self.two, 300_000))
        wait.note(try progress(Self.one, 300_000, .outgoing))
        #expect(goesOn(&wait) == false)
    }

    @Test
    func aValueCountsUntilItIsWholeAndNotAgain() throws {
        var wait = TransferWait(for: [1, 2], .incoming)
        wait.note(try progress(Self.one, 640_000))
        #expect(goesOn(&wait) == true)
        wait.note(try progress(Self.one, 320_000))
        wait.note(try progress(Self.one, 640_000))
        #expect(goesOn(&wait) == false)
    }

    @Test
    func aByteCountsOnce() throws {
        var wait = TransferWait(for: [1], .incoming)
        for _ in 0..<3 {
            wait.note(try progress(Self.one, 300_000))
            wait.note(try progress(Self.one, 10, of: 300_000))
        }
        #expect(goesOn(&wait) == true)
        wait.note(try progress(Self.one, 300_000))
        #expect(goesOn(&wait) == false)
    }

    @Test("the longest value extends the time a bounded number of times", arguments: [131_073, 640_000, 100_000_000])
    func bounded(_ total: Int) throws {
        var wait = TransferWait(for: [1], .incoming)
        var windows = 0
        for byteCount in stride(from: 0, to: total, by: TransferWait.leastByteCount(of: total)) where byteCount > 0 {
            wait.note(try progress(Self.one, byteCount, of: total))
            windows += wait.endWindow() ? 1 : 0
        }
        #expect(windows <= max(65, total / 65_536 + 1))
        #expect(goesOn(&wait) == false)
    }
}
