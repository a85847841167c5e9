/// What a peer announces about itself in the system element ``SystemElement/hello``.
///
/// `version UInt8 · features UInt32 · udpPort UInt16`, little-endian: 7 bytes. A longer hello is of a later version;
/// the additional bytes are ignored. A shorter one is malformed.
public struct Hello: Sendable, Hashable {
    /// What a peer supports or requests, one bit each. The bits stand beside the elements that they announce, in
    /// ``SystemElement``'s file.
    public struct Features: OptionSet, Sendable, Hashable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }
    }

    /// The version of the extensions that this module implements.
    public static let currentVersion: UInt8 = 1

    /// The version of the extensions that the peer implements, from 1.
    public var version: UInt8
    /// What the peer supports or requests.
    public var features: Features
    /// A client: the port on which it receives datagrams from the service; 0 for none.
    public var udpPort: UInt16

    /// A hello of the current version.
    public init(features: Features, udpPort: UInt16 = 0) {
        version = Self.currentVersion
        self.features = features
        self.udpPort = udpPort
    }

    /// Reads a hello; `nil` if the bytes are not one.
    public init?(wireBytes bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 7, bytes[0] >= 1 else { return nil }
        version = bytes[0]
        features = Features(rawValue: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
        udpPort = UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: 5, as: UInt16.self))
    }

    /// The hello's 7 bytes.
    public var wireBytes: [UInt8] {
        var bytes = [version]
        withUnsafeBytes(of: features.rawValue.littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: udpPort.littleEndian) { bytes.append(contentsOf: $0) }
        return bytes
    }
}
