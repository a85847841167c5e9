import Elemental
import Support

/// The values of a command that the service has refused.
final class Refusals: Sendable {
    private let refused = Locked<[Int8: (element: ElementDefinition, refusal: ValueRefusal)]>([:])
    private let registration: HandlerRegistration

    /// Records refusals from now on.
    init(of device: ElementalDevice) {
        registration = device.onRefusal { [refused] element, refusal, _ in
            refused.withLock { $0[element.id] = (element, refusal) }
        }
    }

    deinit { registration.cancel() }

    /// A failure that says which of these elements' values were refused, and why; `nil` if none was.
    func failure(of device: String, among elements: [ElementDefinition]) -> CommandFailure? {
        let refused = refused.withLock { refused in elements.compactMap { refused[$0.id] } }
        guard let first = refused.first else { return nil }
        let reasons = refused.map { "'\($0.element.name)': \($0.refusal.description)" }
        return CommandFailure(first.refusal.code, "\(device) refused \(reasons.joined(separator: "; "))")
    }
}

extension ValueRefusal {
    /// The reason as one word, for programs.
    fileprivate var code: String {
        switch reason {
        case .outOfRange, .notAChoice: "outOfRange"
        case .notAllowed: "notAllowed"
        case .notAuthorised: "notAuthorised"
        case .refused: "refused"
        }
    }
}
