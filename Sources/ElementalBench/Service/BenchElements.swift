public import Elemental

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// The elements of a bench service: sinks for numbered messages and a report of what arrived.
///
/// Every message bears a ``MessageNumber``. One of 8 bytes is a number, as a program would define its element; one of
/// another length is data.
public enum BenchElements {
    // Sinks.
    static let data = Element<Data>(0, "Data", access: .write)
    static let dataDatagram = Element<Data>(1, "Data datagram", transport: .udp, access: .write)
    /// A run's number: begins the run, or asks for its report if it has begun.
    static let ask = Element<UInt32>(2, "Ask", access: .write)
    static let report = Element<JSON<SinkReport>>(3, "Report", access: .read)
    static let number = Element<UInt64>(4, "Number", access: .write)
    static let numberDatagram = Element<UInt64>(5, "Number datagram", transport: .udp, access: .write)

    /// All of them.
    public static let all: ElementCatalogue = [data, dataDatagram, ask, report, number, numberDatagram]
    /// The name under which a bench service is published.
    public static let service = "elemental_bench"
    /// The fewest bytes of a message: those of its number.
    public static let minimumByteCount = 8

    /// Makes sure that the other end is a bench service of this version.
    static func check(_ device: ElementalDevice, _ purpose: String) throws(ElementalError) {
        guard device.knownElements.elements != all.elements else { return }
        throw ElementalError(
            .unknownElement,
            "\(device.name) is no bench service, which \(purpose) needs; start one there with: elemental bench serve")
    }
}
