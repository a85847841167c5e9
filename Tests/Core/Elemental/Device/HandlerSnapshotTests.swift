import ElementalWire
import NIOPosix
import TestSupport
import Testing

@testable import Elemental

/// The handlers at one time, and the event loop's view of those that there are now.
struct HandlerSnapshotTests {
    private static func device() async throws -> ElementalDevice {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        return try await loop.submit { ElementalDevice(on: loop) }.get()
    }

    /// Calls the handlers of each element with one byte.
    private func call(_ snapshot: HandlerSnapshot, _ ids: [Int8], _ device: ElementalDevice) {
        for id in ids { [UInt8(id)].withUnsafeBytes { snapshot.call(id, ReceivedBytes($0), device) } }
    }

    @Test
    func eachValueReachesTheHandlersOfItsElementInTheirOrder() async throws {
        let device = try await Self.device()
        let called = Transcript<String>()
        func handler(_ name: String) -> HandlerSnapshot.Handler {
            HandlerSnapshot.Handler { value, _ in called.add("\(name)\(value.bytes.first ?? 0)") }
        }
        let snapshot = HandlerSnapshot(
            (
                byElement: [
                    0: [handler("a")], 5: [handler("b"), handler("c"), handler("d")], 6: [], 127: [handler("e")],
                ], forAll: []
            ))
        #expect(!snapshot.hasForAll)
        call(snapshot, [0, 1, 4, 5, 6, 126, 127], device)
        #expect(called.all == ["a0", "b5", "c5", "d5", "e127"])
    }

    @Test
    func handlersAreLetGoWithTheSnapshot() async throws {
        final class Token: Sendable {}
        let device = try await Self.device()
        weak var observed: Token?
        do {
            let table = HandlerTable()
            var snapshot: HandlerSnapshot?
            do {
                let token = Token()
                observed = token
                let handler = table.reserve()
                #expect(table.add(handler, for: 1) { _, _ in withExtendedLifetime(token) {} })
                snapshot = HandlerSnapshot(table.handlers)
                table.remove(handler)
            }
            #expect(observed != nil)
            if let snapshot { call(snapshot, [1], device) }
            snapshot = nil
            #expect(observed == nil)
        }
    }

    @Test
    func aViewSeesEachChangeWhenItIsRefreshed() async throws {
        let device = try await Self.device()
        let called = Transcript<UInt8>()
        let table = HandlerTable()
        var view = HandlerView(table)
        #expect(!view.isStale)
        let token = table.reserve()
        table.add(token, for: 2) { value, _ in called.add(value.bytes.first ?? 0) }
        #expect(view.isStale)
        view.refresh(at: table.version)
        #expect(!view.isStale)
        view.handlers?._withUnsafeGuaranteedRef { call($0, [2], device) }
        table.remove(token)
        #expect(view.isStale)
        view.refresh(at: table.version)
        view.handlers?._withUnsafeGuaranteedRef { call($0, [2], device) }
        #expect(called.all == [2])
    }
}
