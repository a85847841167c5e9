import Elemental
import Support

/// What clients set and no command has taken yet: of each element the newest value. It outlives the commands, which are
/// others when their file is read again.
final class SetValues: Sendable {
    private let values = Locked<[Int8: ElementValue]>([:])
    private let latches: [Int8: Latch]
    private let registration = Locked<HandlerRegistration?>(nil)

    /// - Parameter service: whose clients set them.
    init(of service: ElementalService) {
        latches = Dictionary(uniqueKeysWithValues: service.elements.map { ($0.id, Latch()) })
        let made = service.onAnyValue { [weak self] element, value, _ in self?.put(value, of: element) }
        registration.withLock { $0 = made }
    }

    deinit { registration.withLock { $0 }?.cancel() }

    private func put(_ value: ElementValue, of element: ElementDefinition) {
        values.withLock { $0[element.id] = value }
        latches[element.id]?.open()
    }

    /// A value that a command did not get to the end with, unless a newer one has come.
    func putBack(_ value: ElementValue, of element: ElementDefinition) {
        values.withLock { if $0[element.id] == nil { $0[element.id] = value } }
        latches[element.id]?.open()
    }

    /// The next value of an element; `nil` if the task was cancelled.
    func next(of element: ElementDefinition) async -> ElementValue? {
        while let latch = latches[element.id], await latch.wait(), !Task.isCancelled {
            latch.close()
            if let value = values.withLock({ $0.removeValue(forKey: element.id) }) { return value }
        }
        return nil
    }
}
