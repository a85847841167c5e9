public import Elemental
import Support

/// What a bridge forwards, and how fast.
public struct BridgeOptions: Sendable {
    /// The hub's methods, by element name. An element that is missing here uses ``method(for:)``.
    public var methods: [String: String] = [:]
    /// Whether only the elements in ``methods`` are forwarded.
    public var passesMappedOnly = false
    /// The minimum time between two values of one element in the same direction; zero for no limit. Of an element
    /// marked latest only the newest value is forwarded then; values of other elements wait in a queue.
    public var interval: Duration = .milliseconds(50)
    /// Whether the hub can set elements. If so, every client that may call this client's methods through the hub
    /// controls the device. Otherwise its calls are refused, which a ``BridgeEvent`` reports once for each element.
    public var setsElements = false
    /// The maximum number of values of one element, not marked latest, that wait for the interval to pass or the hub to
    /// return.
    public var queueLimit = 1000
    /// The maximum bytes of these values together, in each direction; the newest values of elements marked latest may
    /// have four times as many. A single longer value is accepted.
    public var queueByteLimit = 8 << 20
    /// The clock for ``interval``, which tests replace.
    var now: @Sendable () -> ContinuousClock.Instant = { .now }

    /// Creates options with the defaults.
    public init() {}

    /// Returns the default method of an element: the words of its name capitalized and joined, as is usual for hub
    /// methods. `Left arm` becomes `LeftArm`.
    public static func method(for name: String) -> String {
        name.split { !$0.isLetter && !$0.isNumber }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// Returns the elements to forward, each with its method.
    func routes(
        _ elements: ElementCatalogue
    ) throws(BridgeError) -> [(element: ElementDefinition, method: String)] {
        for name in methods.keys.sorted() where elements[name] == nil {
            let names = elements.map { "'\($0.name)'" }.joined(separator: ", ")
            throw BridgeError("there is no element '\(name)'; the elements are \(names)", code: .unknownElement)
        }
        var routes: [(element: ElementDefinition, method: String)] = []
        // Method names of hubs are case-insensitive.
        var taken: [String: String] = [:]
        for element in elements {
            let mapped = methods[element.name]
            if passesMappedOnly, mapped == nil { continue }
            let method = mapped ?? Self.method(for: element.name)
            guard !method.isEmpty else {
                throw BridgeError("the name of element '\(element.name)' gives no method name: map it to a method")
            }
            if let other = taken.updateValue(element.name, forKey: method.lowercased()) {
                throw BridgeError(
                    "'\(other)' and '\(element.name)' have the same method '\(method)': map one to another method")
            }
            routes.append((element, method))
        }
        return routes
    }
}

/// An error in a bridge's options.
public struct BridgeError: Error, Sendable, CustomStringConvertible {
    /// `unknownElement` for a name that no element has, otherwise `invalidValue`.
    public let code: ElementalError.Code
    /// What is wrong and what to do.
    public let message: String
    /// The message with control characters escaped.
    public var description: String { message.printable }

    init(_ message: String, code: ElementalError.Code = .invalidValue) {
        self.code = code
        self.message = message
    }
}
