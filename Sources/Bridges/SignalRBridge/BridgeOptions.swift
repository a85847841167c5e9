import Elemental

/// What passes a bridge, and how fast.
public struct BridgeOptions: Sendable {
    /// The hub's methods by the names of elements. An element that is not named has the method that
    /// ``method(for:)`` makes of its name.
    public var methods: [String: String] = [:]
    /// Whether only the elements of ``methods`` pass.
    public var passesMappedOnly = false
    /// The shortest time between two values of one element that go the same way; zero for no limit. Of an element marked
    /// latest, the newest value passes then; those of others wait in a queue.
    public var interval: Duration = .milliseconds(50)
    /// The most values of one element, not marked latest, that wait for the time to pass or the hub to return.
    public var queueLimit = 1000

    /// The defaults.
    public init() {}

    /// The method of an element: the words of its name in a row, each with a capital letter, as methods of hubs are
    /// written. `Left arm` becomes `LeftArm`.
    public static func method(for name: String) -> String {
        name.split { !$0.isLetter && !$0.isNumber }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// The elements that pass, each with its method.
    func routes(
        _ elements: ElementCatalogue
    ) throws(BridgeError) -> [(element: ElementDefinition, method: String)] {
        for name in methods.keys.sorted() where elements[name] == nil {
            let names = elements.map { "'\($0.name)'" }.joined(separator: ", ")
            throw BridgeError(message: "there is no element '\(name)'; there are \(names)")
        }
        var routes: [(element: ElementDefinition, method: String)] = []
        // Hubs do not tell upper from lower case in names.
        var taken: [String: String] = [:]
        for element in elements {
            let mapped = methods[element.name]
            if passesMappedOnly, mapped == nil { continue }
            let method = mapped ?? Self.method(for: element.name)
            guard !method.isEmpty else {
                throw BridgeError(message: "element '\(element.name)' has no name for a method: map it to one")
            }
            if let other = taken.updateValue(element.name, forKey: method.lowercased()) {
                throw BridgeError(
                    message: "'\(other)' and '\(element.name)' have the same method '\(method)': map one to another")
            }
            routes.append((element, method))
        }
        return routes
    }
}

/// Why a bridge cannot be as its options say.
public struct BridgeError: Error, Sendable, CustomStringConvertible {
    /// What is wrong and what to do, for a person.
    public let message: String
    public var description: String { message }
}
