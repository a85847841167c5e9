/// What this project wants to reach.
extension Check {
    static var all: [Check] { trips + [streams, allocations, sealed] + lowest + paced + throughput + rest }

    private static let ours = Contender.handlersName
    private static let allTrips: [(transport: Transport, name: String, must: Double, proud: Double)] = [
        (.tcp, "TCP", 1.03, 0.9), (.udp, "UDP", 1.05, 0.9), (.tls, "TLS 1.3", 1.1, 1),
    ]

    /// Round trips over those of SwiftNIO alone.
    private static var trips: [Check] {
        allTrips.flatMap { transport, name, must, proud in
            [true, false].map { isPinned in
                // What TLS costs is told where both ends share a core: elsewhere most is the waking of the other.
                Check(
                    name: "round trip \(name) p50 \(isPinned ? "on one core" : "free"), over bare SwiftNIO",
                    group: .roundtrip, must: isPinned || transport != .tls ? .atMost(must) : nil, proud: .atMost(proud)
                ) { $0.ratio(trip(transport, ours, isPinned), over: trip(transport, Contender.nioName, isPinned)) }
            }
        } + [
            Check(
                name: "round trip TCP p50 on one core, over raw C", group: .roundtrip, must: nil, proud: .atMost(1.25)
            ) { $0.ratio(trip(.tcp, ours), over: trip(.tcp, Contender.rawName)) },
            Check(
                name: "same p50, ZeroMQ's over ours", group: .roundtrip, must: nil, proud: .atLeast(3)
            ) { $0.ratio(trip(.tcp, Contender.zeroMQName), over: trip(.tcp, ours)) },
        ]
    }

    private static var streams: Check {
        Check(
            name: "streams TCP p50 on one core, over handlers", group: .roundtrip, must: .atMost(1.3),
            proud: .atMost(1.15)
        ) { $0.ratio(trip(.tcp, Contender.streamsName), over: trip(.tcp, ours)) }
    }

    private static var allocations: Check {
        Check(
            name: "allocations a round trip over UDP, at either end", group: .roundtrip, must: .atMost(2),
            proud: .atMost(0.01)
        ) { tripAllocations($0, .udp).max() }
    }

    private static var sealed: Check {
        Check(
            name: "allocations a sealed datagram, sender and receiver", group: .roundtrip, must: .atMost(4),
            proud: .atMost(2)
        ) { book in
            // Each end sends one and receives one.
            let all = tripAllocations(book, .sealed)
            return all.isEmpty ? nil : all.reduce(0, +) / Double(all.count)
        }
    }

    /// Event loops that do not sleep.
    private static var lowest: [Check] {
        [(Transport.tcp, 1.8), (.udp, 2)].map { transport, must in
            Check(
                name: "lowest latency, \(transport.title) p50 free, over raw C spinning", group: .roundtrip,
                must: .atMost(must), proud: .atMost(1.5)
            ) {
                $0.ratio(
                    trip(transport, Contender.lowest.name, false),
                    over: trip(transport, Contender.rawSpinning.name, false))
            }
        }
            + [(1000, 0.5, 0.3), (100, 1, 0.8)].map { rate, must, proud in
                Check(
                    name: "lowest latency, p99 of \(rate) a second, over standard", group: .roundtrip,
                    must: .atMost(must),
                    proud: .atMost(proud)
                ) { $0.ratio(Paced.figure(rate, .lowest, .p99), over: Paced.figure(rate, .handlers, .p99)) }
            }
    }

    /// The senders at a rate sleep in between, and so do all loops.
    private static var paced: [Check] {
        let others = [(Contender.raw, "raw C", 1.4, 1.2), (.nio, "bare SwiftNIO", 1.15, 1)]
        return PacedShapes.rates.map(\.perSecond).flatMap { rate in
            Pace.allCases.flatMap { pace in
                others.map { other, name, must, proud in
                    Check(
                        name: "\(rate) a second by a \(pace.rawValue), TCP p50 free, over \(name)", group: .paced,
                        must: .atMost(must), proud: .atMost(proud)
                    ) {
                        $0.ratio(
                            PacedShapes.figure(rate, pace, .handlers, .p50),
                            over: PacedShapes.figure(rate, pace, other, .p50))
                    }
                }
            }
        }
    }

    private static var throughput: [Check] {
        func over(_ transport: Transport, _ size: Int, _ other: String, _ book: Book) -> Double? {
            book.ratio(rate(transport, size, Contender.elementalName), over: rate(transport, size, other))
        }
        return [
            Check(
                name: "throughput TCP, 8 bytes, over ZeroMQ", group: .throughput, must: .atLeast(5), proud: .atLeast(8)
            ) { over(.tcp, 8, Contender.zeroMQPushName, $0) },
            Check(
                name: "throughput TCP, 64 bytes, over ZeroMQ", group: .throughput, must: .atLeast(2), proud: .atLeast(4)
            ) { over(.tcp, 64, Contender.zeroMQPushName, $0) },
            Check(
                name: "throughput TCP, 64 KiB, over raw C", group: .throughput, must: .atLeast(0.9),
                proud: .atLeast(0.97)
            ) { over(.tcp, 65536, Contender.rawLargeName, $0) },
            Check(
                name: "throughput TLS 1.3, 64 KiB, over bare SwiftNIO", group: .throughput, must: .atLeast(0.9),
                proud: .atLeast(1)
            ) {
                // SwiftNIO's sender runs on its event loop too.
                $0.ratio(
                    rate(.tls, 65536, Contender.onLoop.name), over: rate(.tls, 65536, Contender.nioThroughputName))
            },
            Check(
                name: "UDP, 8 bytes, delivered a second, over raw C", group: .throughput, must: .atLeast(1),
                proud: .atLeast(5)
            ) { over(.udp, 8, Contender.rawOneName, $0) },
            Check(
                name: "allocations a received 8-byte message, handler", group: .throughput, must: .atMost(1),
                proud: .atMost(0.005)
            ) { $0.median(Figure(Throughput.allocationMeasure, Contender.elementalName, .serverAllocations)) },
        ]
    }

    private static var rest: [Check] {
        [10, 100, 250].map { devices in
            Check(
                name: "fan-out to \(devices) devices, over throughput to one", group: .fanout, must: .atLeast(0.4),
                proud: .atLeast(0.7)
            ) {
                // If throughput was not measured, the fan-out to one device is used instead.
                $0.ratio(FanOut.figure(devices), over: rate(.tcp, 8, Contender.elementalName))
                    ?? $0.ratio(FanOut.figure(devices), over: FanOut.figure(1))
            }
        } + [
            Check(
                name: "round trip p99 beside 1 MiB values, over idle", group: .load, must: .atMost(4), proud: .atMost(2)
            ) { $0.ratio(UnderLoad.figure(.large, .p99), over: UnderLoad.figure(.nothing, .p99)) },
            Check(
                name: "paired device's p99 at 120 Hz beside ClientHellos, over quiet", group: .handshakes,
                must: .atMost(2), proud: .atMost(1.2)
            ) { $0.ratio(Handshakes.figure(.hellos, .p99), over: Handshakes.figure(.nothing, .p99)) },
            Check(
                name: "memory of an idle connection, of 5,000", group: .scale, must: .atMost(8), proud: .atMost(6),
                unit: " KiB"
            ) { $0.median(Connections.figure(5000, .memoryPerConnection)).map { $0 / 1024 } },
            Check(
                name: "publish to found, over avahi's tools", group: .scale, must: .atMost(1.05), proud: .atMost(1)
            ) { $0.ratio(Discovery.figure(Contender.elementalName), over: Discovery.figure(Discoverer.avahiName)) },
            Check(
                name: "browse's first line, over avahi-browse", group: .start, must: .atMost(3), proud: .atMost(2)
            ) { $0.ratio(Start.figure(Contender.elementalName), over: Start.figure(Discoverer.avahiName)) },
        ]
    }

    private static func trip(_ transport: Transport, _ contender: String, _ isPinned: Bool = true) -> Figure {
        Figure(RoundTrips.measure(transport, isPinned: isPinned), contender, .p50)
    }

    /// Allocations a round trip, of the client and of the server.
    private static func tripAllocations(_ book: Book, _ transport: Transport) -> [Double] {
        [Quantity.clientAllocations, .serverAllocations].compactMap {
            // Counted as the difference of two runs, which differ a little besides.
            book.median(Figure(RoundTrips.allocationMeasure(transport), ours, $0)).map { ($0 * 20).rounded() / 20 }
        }
    }

    private static func rate(_ transport: Transport, _ size: Int, _ contender: String) -> Figure {
        Figure(Throughput.measure(transport, size), contender, .messagesPerSecond)
    }
}
