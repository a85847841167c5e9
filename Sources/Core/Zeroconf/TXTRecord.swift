import Support

/// What a service tells about itself before anyone connects: keys and values in order.
///
/// Keys are compared without regard to the case of ASCII letters and are 1 or more printable ASCII characters but `=`
/// (RFC 6763, section 6.4). A value is any bytes, mostly UTF-8. Key and value together take at most 254 bytes. Whether a
/// record can be published is checked when it is encoded.
public struct TXTRecord: Sendable, ExpressibleByDictionaryLiteral {
    /// A key with its value.
    public struct Entry: Hashable, Sendable {
        /// The key as it was written.
        public let key: String
        /// The value's bytes; nil for a key that stands alone, without `=`.
        public let value: [UInt8]?
    }

    /// The entries in order.
    public private(set) var entries: [Entry] = []

    /// An empty record.
    public init() {}

    /// For the decoder, which has made sure that no key is there twice.
    init(entries: [Entry]) {
        self.entries = entries
    }

    /// A record of keys and texts in the order written; of a key written twice the last value stays.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (key, value) in elements {
            self[key] = value
        }
    }

    /// A record of keys and texts in the order given; of a key given twice the last value stays.
    public init(_ pairs: some Sequence<(key: String, value: String)>) {
        for (key, value) in pairs {
            self[key] = value
        }
    }

    /// The keys in order.
    public var keys: [String] { entries.map(\.key) }

    /// Whether it has no entries.
    public var isEmpty: Bool { entries.isEmpty }

    /// The value as text; nil if the key is not there, stands alone, or its value is not UTF-8.
    ///
    /// Setting nil removes the key; setting a text keeps the place of a key that is there.
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

    /// The value's bytes; nil if the key is not there or stands alone.
    public func bytes(for key: String) -> [UInt8]? {
        index(of: key).flatMap { entries[$0].value }
    }

    /// Whether the key is there, with a value or alone.
    public func contains(_ key: String) -> Bool {
        index(of: key) != nil
    }

    /// Sets a value, or the key alone if it is nil, in the place of the key if it is there, at the end otherwise.
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
    /// Whether both have the same keys with the same values, in whatever order: no meaning is attached to it.
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

    /// The entries as `key=value`, separated by spaces; values that are not UTF-8 as their number of bytes.
    public var description: String {
        entries.map { entry in
            guard let value = entry.value else { return entry.key }
            let text = String(validating: value, as: UTF8.self)
            return "\(entry.key)=\(text ?? "<\(value.count) bytes>")"
        }.joined(separator: " ")
    }
}
