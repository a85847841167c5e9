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
            byElement: [
                0: [handler("a")], 5: [handler("b"), handler("c"), handler("d")], 6: [], 127: [handler("e")],
            ], forAll: [])
        #expect(!snapshot.hasForAll)
        call(snapshot, [0, 1, 4, 5, 6, 126, 127], device)
        #expect(called.all == ["a0", "b5", "c5", "d5", "e127"])
    }

    @Test
    func ofTwoSnapshotsTheFirstOnesHandlersAreCalledFirst() async throws {
        let device = try await Self.device()
        let called = Transcript<String>()
        func handlers(_ name: String, _ ids: Int8...) -> HandlerSnapshot.Handlers {
            let handler = HandlerSnapshot.Handler { value, _ in called.add("\(name)\(value.bytes.first ?? 0)") }
            return (Dictionary(uniqueKeysWithValues: ids.map { ($0, [handler]) }), [])
        }
        let both = HandlerSnapshot(handlers("a", 2, 7), handlers("b", 0, 7, 9))
        call(both, Array(0...10), device)
        #expect(called.all == ["b0", "a2", "a7", "b7", "b9"])
        #expect(both.next == nil)
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
                snapshot = HandlerSnapshot(table.handlers, HandlerTable.none.handlers)
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
        let (shared, own) = (HandlerTable(), HandlerTable())
        var view = HandlerView(shared: shared, own: own)
        func isStale() -> [Bool] { [view.isSharedStale, view.isOwnStale] }
        #expect(isStale() == [false, false])
        for (table, stale) in [(own, [false, true]), (shared, [true, false])] {
            let token = table.reserve()
            table.add(token, for: 2) { value, _ in called.add(value.bytes.first ?? 0) }
            #expect(isStale() == stale)
            view.refresh(at: view.versions)
            #expect(isStale() == [false, false])
            view.handlers._withUnsafeGuaranteedRef { call($0, [2], device) }
            table.remove(token)
            #expect(isStale() == stale)
            view.refresh(at: view.versions)
            view.handlers._withUnsafeGuaranteedRef { call($0, [2], device) }
        }
        #expect(called.all == [2, 2])
    }
}
