import Support

/// The data that a service publishes for browsers to read before they connect: keys and values in order.
///
/// A key is 1 or more printable ASCII characters except `=` (RFC 6763, section 6.4). Keys are compared without regard
/// to the case of ASCII letters. A value is any bytes, usually UTF-8. Key and value together take at most 254 bytes.
/// ``encoded()`` checks whether a record can be published.
public struct TXTRecord: Sendable, ExpressibleByDictionaryLiteral {
    /// A key with its value.
    public struct Entry: Hashable, Sendable {
        /// The key as it was written.
        public let key: String
        /// The value's bytes; `nil` for a key that stands alone, without `=`.
        public let value: [UInt8]?
    }

    /// The entries in order.
    public private(set) var entries: [Entry] = []

    /// Creates an empty record.
    public init() {}

    /// Used by the decoder, which has skipped repeated keys.
    init(entries: [Entry]) {
        self.entries = entries
    }

    /// Creates a record of keys and texts in the order written. The last value of a repeated key counts.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (key, value) in elements {
            self[key] = value
        }
    }

    /// Creates a record of keys and texts in the order given. The last value of a repeated key counts.
    public init(_ pairs: some Sequence<(key: String, value: String)>) {
        for (key, value) in pairs {
            self[key] = value
        }
    }

    /// The keys in order.
    public var keys: [String] { entries.map(\.key) }

    /// Whether it has no entries.
    public var isEmpty: Bool { entries.isEmpty }

    /// The value as text; `nil` if the key is missing, stands alone, or has a value that is not UTF-8.
    ///
    /// Setting `nil` removes the key. Setting a text keeps the place of an existing key.
    public subscript(key: String) -> String? {
        get { bytes(for: key).flatMap { String(validating: $0, as: UTF8.self) } }
        set {
            if let newValue {
                set(Array(newValue.utf8), for: key)
            } else {
                removeValue(for: key)
            }
        }
    }

    /// The value's bytes; `nil` if the key is missing or stands alone.
    public func bytes(for key: String) -> [UInt8]? {
        index(of: key).flatMap { entries[$0].value }
    }

    /// Whether the record has the key, with a value or alone.
    public func contains(_ key: String) -> Bool {
        index(of: key) != nil
    }

    /// Sets a value, or the key alone for `nil`. An existing key keeps its place; a new key is appended.
    public mutating func set(_ value: [UInt8]?, for key: String) {
        if let index = index(of: key) {
            entries[index] = Entry(key: key, value: value)
        } else {
            entries.append(Entry(key: key, value: value))
        }
    }

    /// Removes a key.
    public mutating func removeValue(for key: String) {
        if let index = index(of: key) {
            entries.remove(at: index)
        }
    }

    private func index(of key: String) -> Int? {
        entries.firstIndex { $0.key.isSameName(as: key) }
    }
}

extension TXTRecord: Hashable, CustomStringConvertible {
    /// Whether both have the same keys with the same values. The order has no meaning.
    public static func == (one: TXTRecord, other: TXTRecord) -> Bool {
        one.values == other.values
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(values)
    }

    private var values: [ComparableName: [UInt8]?] {
        Dictionary(entries.map { (ComparableName($0.key), $0.value) }) { first, _ in first }
    }

    /// The entries as `key=value`, separated by spaces. A value that is not UTF-8 is shown as its number of bytes.
    public var description: String {
        entries.map { entry in
            guard let value = entry.value else { return entry.key }
            let text = String(validating: value, as: UTF8.self)
            return "\(entry.key)=\(text ?? "<\(value.count) bytes>")"
        }.joined(separator: " ")
    }
}
