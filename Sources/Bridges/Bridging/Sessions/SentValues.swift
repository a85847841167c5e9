package import Elemental
package import NIOCore
internal import Support

/// The values that a service was sent and of which it has said nothing yet. It belongs to one event loop.
///
/// A service need not say a value again that it takes. So a bridge waits until the service has handled what it was sent, and
/// shows it then.
package final class SentValues {
    private struct Sent {
        let element: ElementDefinition
        let value: ElementValue
        /// Its number among all that were sent.
        let number: UInt64
    }

    /// Called with a value that the service has handled without a word, or with why that is not known.
    package var onHandled: (ElementDefinition, ElementValue, _ failure: String?) -> Void = { _, _, _ in }

    private let loop: any EventLoop
    private var sent: [Int8: Sent] = [:]
    private var lastNumber: UInt64 = 0
    private var isWaiting = false
    /// The connection over which the values were sent.
    private var device: ElementalDevice?

    package init(on loop: any EventLoop) { self.loop = loop }

    /// The newest value of the element that was sent and not answered.
    package subscript(_ element: ElementDefinition) -> ElementValue? { sent[element.id]?.value }

    /// The service was sent a value. ``confirm(by:)`` follows.
    package func add(_ value: ElementValue, of element: ElementDefinition) {
        lastNumber += 1
        sent[element.id] = Sent(element: element, value: value, number: lastNumber)
    }

    /// The service has said what became of the element's value.
    package func answered(_ element: ElementDefinition) { sent[element.id] = nil }

    /// There is no connection any more, or the elements are others.
    package func removeAll() {
        sent = [:]
        device = nil
    }

    /// Waits until the service has handled what it was sent over this connection.
    package func confirm(by device: ElementalDevice) {
        self.device = device
        guard !isWaiting, !sent.isEmpty else { return }
        isWaiting = true
        let handling = Handling(sent.values.map { ($0.element, $0.value) })
        let numbers = sent.mapValues(\.number)
        let (loop, bound) = (loop, NIOLoopBound(self, eventLoop: loop))
        Task {
            let failure = await handling.wait(for: device)
            await loop.run { bound.value.handled(numbers, failure) }
        }
    }

    private func handled(_ numbers: [Int8: UInt64], _ failure: String?) {
        isWaiting = false
        // What was sent over a later connection has another number.
        for (id, number) in numbers {
            guard let value = sent[id], value.number == number else { continue }
            sent[id] = nil
            onHandled(value.element, value.value, failure)
        }
        if let device { confirm(by: device) }
    }
}
