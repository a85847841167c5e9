public import Elemental

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// The elements of a bench service: sinks for the messages of a throughput run and a report of what arrived.
///
/// A message begins with the run's number (UInt32) and the message's number within it (UInt32, from 0), little-endian;
/// the rest is padding.
public enum BenchElements {
    static let stream = Element<Data>(0, "Stream", access: .write)
    static let datagram = Element<Data>(1, "Datagram", transport: .udp, access: .write)
    /// A run's number: asks for the report of that run.
    static let ask = Element<UInt32>(2, "Ask", access: .write)
    static let report = Element<JSON<SinkReport>>(3, "Report", access: .read)

    /// All of them.
    public static let all: ElementCatalogue = [stream, datagram, ask, report]
    /// The name under which a bench service is published.
    public static let service = "elemental_bench"
    /// The fewest bytes of a message: the two numbers.
    public static let minimumByteCount = 8
}
