import ElementalWire

/// The handlers at one point in time, laid out so that a received value finds and calls its own without touching a
/// reference count: the handlers of an element are contiguous.
///
/// Unchecked: the memory is written during initialization only.
final class HandlerSnapshot: @unchecked Sendable {
    /// A boxed closure: calling it through the box retains nothing.
    final class Handler: Sendable {
        fileprivate let body: ValueHandler

        init(_ body: @escaping ValueHandler) { self.body = body }
    }

    let forAll: [AnyValueHandler]
    let hasForAll: Bool
    /// The handlers that come after those for all elements; `nil` for none.
    let next: HandlerSnapshot?
    /// One past the largest identifier that has a handler.
    private let idCount: Int
    /// The position of each identifier's first handler, which is also the end of the previous identifier's.
    private let starts: UnsafeMutablePointer<Int32>
    /// Retained once each, for as long as the snapshot lives.
    private let handlers: UnsafeMutablePointer<Unmanaged<Handler>>
    private let handlerCount: Int

    init(byElement: [Int8: [Handler]], forAll: [AnyValueHandler], next: HandlerSnapshot? = nil) {
        self.forAll = forAll
        self.next = next
        hasForAll = !forAll.isEmpty
        idCount = byElement.filter { !$0.value.isEmpty }.keys.map { Int($0) + 1 }.max() ?? 0
        handlerCount = byElement.values.reduce(0) { $0 + $1.count }
        starts = .allocate(capacity: idCount + 1)
        handlers = .allocate(capacity: handlerCount)
        var position = 0
        for id in 0..<idCount {
            (starts + id).initialize(to: Int32(position))
            for handler in byElement[Int8(id)] ?? [] {
                (handlers + position).initialize(to: Unmanaged.passRetained(handler))
                position += 1
            }
        }
        (starts + idCount).initialize(to: Int32(position))
    }

    /// The handlers of two snapshots, all of the first before any of the second.
    static func joining(_ first: HandlerSnapshot, _ second: HandlerSnapshot) -> HandlerSnapshot {
        if second.isEmpty { return first }
        if first.isEmpty { return second }
        if first.hasForAll { return HandlerSnapshot(byElement: first.byElement, forAll: first.forAll, next: second) }
        return HandlerSnapshot(
            byElement: first.byElement.merging(second.byElement) { $0 + $1 }, forAll: second.forAll)
    }

    private var byElement: [Int8: [Handler]] {
        var all: [Int8: [Handler]] = [:]
        for id in 0..<idCount where starts[id] < starts[id + 1] {
            all[Int8(id)] = (starts[id]..<starts[id + 1]).map { handlers[Int($0)].takeUnretainedValue() }
        }
        return all
    }

    private var isEmpty: Bool { handlerCount == 0 && !hasForAll }

    deinit {
        for position in 0..<handlerCount { handlers[position].release() }
        handlers.deallocate()
        starts.deallocate()
    }

    /// Calls the element's handlers. The caller keeps the snapshot alive meanwhile.
    @inline(__always)
    func call(_ id: Int8, _ value: ReceivedBytes, _ device: ElementalDevice) {
        let position = Int(id)
        guard position < idCount else { return }
        var next = Int(starts[position])
        let end = Int(starts[position + 1])
        while next < end {
            handlers[next]._withUnsafeGuaranteedRef { $0.body(value, device) }
            next += 1
        }
    }
}
