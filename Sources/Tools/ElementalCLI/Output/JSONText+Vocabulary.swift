import Elemental
import ElementalFollowing
import Support

// The keys that events have in common: they mean the same in each.
extension JSONText {
    /// The service that an event is about.
    static func members(_ key: ServiceKey) -> Members { members(key.service, key.name) }

    /// The service that an event is about: its name, `nil` for a host and port, and its instance.
    static func members(_ service: String?, _ instance: String?) -> Members {
        [("service", .optional(service)), ("instance", .optional(instance))]
    }

    /// Why something failed: a code for programs and words for people.
    static func members(_ error: any Error) -> Members {
        let failure = error as? CommandFailure ?? CommandFailure(error)
        return members(failure.code, because: failure.description)
    }

    /// A code, and words; neither if nothing failed.
    static func members(_ reason: String?, because message: String?) -> Members {
        [("reason", .optional(reason)), ("message", .optional(message))]
    }

    /// When the next attempt follows; `nil` if none does.
    static func delay(_ delay: Duration?) -> Members { [("delay", delay.map { .seconds($0) } ?? .null)] }
}

extension ElementalDevice {
    /// The service at the other end.
    var key: ServiceKey { ServiceKey(service: service, name: name) }
}
