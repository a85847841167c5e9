package import Elemental
internal import ElementalWire

/// What a service was sent, and is to have handled.
package struct Handling: Sendable {
    /// How long a service may take.
    private static let answerTime = Duration.seconds(10)
    /// Larger values go in pieces, which a ping overtakes.
    private static let longValue = 16 * 1024

    private let isLong: Bool
    private let usesUDP: Bool

    package init(_ sent: [(element: ElementDefinition, value: ElementValue)]) {
        isLong = sent.contains { $0.value.wireByteCount > Self.longValue }
        usesUDP = sent.contains { $0.element.transport == .udp }
    }

    /// Waits until the service has handled it.
    ///
    /// - Returns: why that is not known; `nil` if it has.
    package func wait(for device: ElementalDevice) async -> ElementalError? {
        // An older service answers no pings: it is taken to have handled what it was sent.
        guard device.hello?.features.contains(.ping) == true else { return nil }
        do throws(ElementalError) {
            if isLong { try await device.waitUntilSent() }
            if usesUDP { _ = try await device.ping(over: .udp, timeout: Self.answerTime) }
            // Refusals come over TCP, before the answer to this.
            _ = try await device.ping(timeout: Self.answerTime)
            return nil
        } catch {
            return error
        }
    }
}

extension ElementalError {
    /// The service did not confirm a value, for this reason.
    package var notConfirmed: ElementalError {
        ElementalError(code, "the service did not confirm it: \(message)")
    }
}
