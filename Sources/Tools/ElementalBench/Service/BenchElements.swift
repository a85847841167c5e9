import Elemental

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// The elements of a bench service: sinks for numbered messages and a report of what arrived, echoes that send each message
/// back to the device that sent it, and broadcasts to all devices.
///
/// Every message carries a ``MessageNumber``. A message of 8 bytes is a number, as a program would define its element;
/// a longer one is data. Only the stamps carry times instead.
package enum BenchElements {
    // Sinks.
    static let data = Element<Data>(0, "Data", access: .write)
    static let dataDatagram = Element<Data>(1, "Data datagram", transport: .udp, access: .write)
    /// A run's number: starts the run, or requests its report if it has started.
    static let ask = Element<UInt32>(2, "Ask", access: .write)
    static let report = Element<JSON<SinkReport>>(3, "Report", access: .read)
    static let number = Element<UInt64>(4, "Number", access: .write)
    static let numberDatagram = Element<UInt64>(5, "Number datagram", transport: .udp, access: .write)
    static let motion = Element<Vector3>(6, "Motion", transport: .udp, access: .write)

    // Echoes, from a handler and from the consumer of an async stream.
    static let echo = Echo(8, "Echo", transport: .tcp)
    static let echoDatagram = Echo(10, "Echo datagram", transport: .udp)
    static let streamEcho = Echo(12, "Stream echo", transport: .tcp)
    static let streamEchoDatagram = Echo(14, "Stream echo datagram", transport: .udp)
    /// Makes the service consume the messages to the stream echoes: on its event loop if true, else on Swift's thread pool.
    static let openStreams = Element<Bool>(16, "Open streams on the loop", access: .write)

    // Broadcasts.
    static let broadcast = Element<JSON<BroadcastRequest>>(17, "Broadcast", access: .write)
    static let broadcastNumber = Element<UInt64>(18, "Broadcast number", access: .read)
    static let broadcastData = Element<Data>(19, "Broadcast data", access: .read)
    static let broadcastReport = Element<JSON<BroadcastReport>>(20, "Broadcast report", access: .read)

    /// The elements of an echo, for messages of 8 bytes and for others.
    struct Echo: Sendable {
        let number: Element<UInt64>
        let data: Element<Data>

        init(_ id: Int, _ name: String, transport: Transport) {
            number = Element(id, name, transport: transport)
            data = Element(id + 1, "\(name), data", transport: transport)
        }
    }

    // Stamps: a message's sending time, which the service returns with the time of reception.
    static let stamp = Stamp(21, "Stamp", transport: .tcp)
    static let stampDatagram = Stamp(23, "Stamp datagram", transport: .udp)

    struct Stamp: Sendable {
        /// Microseconds of the client's clock.
        let sent: Element<Int64>
        let received: Element<Int64>

        init(_ id: Int, _ name: String, transport: Transport) {
            sent = Element(id, name, transport: transport, access: .write)
            received = Element(id + 1, "\(name), received", transport: transport, access: .read).withTimes
        }
    }

    package static let all: ElementCatalogue = [
        data, dataDatagram, ask, report, number, numberDatagram, motion,
        echo.number, echo.data, echoDatagram.number, echoDatagram.data,
        streamEcho.number, streamEcho.data, streamEchoDatagram.number, streamEchoDatagram.data, openStreams,
        broadcast, broadcastNumber, broadcastData, broadcastReport,
        stamp.sent, stamp.received, stampDatagram.sent, stampDatagram.received,
    ]
    /// The name under which a bench service is published.
    package static let service = "elemental_bench"
    /// The minimum length of a message: that of its number.
    package static let minimumByteCount = MessageNumber.byteCount
    /// The maximum length of a message over TCP, and of one requested from a bench service.
    package static let maximumByteCount = 16_000_000

    /// Whether the peer is a bench service of this version.
    static func areKnown(to device: ElementalDevice) -> Bool { device.knownElements.elements == all.elements }

    /// Checks that the peer is a bench service of this version.
    static func check(_ device: ElementalDevice, _ purpose: String) throws(ElementalError) {
        guard !areKnown(to: device) else { return }
        throw ElementalError(
            .unknownElement,
            "\(device.name) is not a bench service, which \(purpose) needs; start one there: elemental bench serve")
    }
}
