/// A ratio with a required target and an ambitious one.
struct Check {
    enum Bound {
        case atMost(Double)
        case atLeast(Double)

        func holds(_ value: Double) -> Bool {
            switch self {
            case .atMost(let bound): value <= bound
            case .atLeast(let bound): value >= bound
            }
        }
    }

    var name: String
    /// The part of the comparison that it belongs to.
    var group: Group
    /// `nil` if the ratio is only reported.
    var must: Bound?
    var proud: Bound
    var unit = ""
    var value: (Book) -> Double?

    /// A required target without a figure fails.
    func mustHolds(_ book: Book) -> Bool {
        guard let value = value(book) else { return false }
        return must?.holds(value) ?? true
    }

    func proudHolds(_ book: Book) -> Bool { value(book).map(proud.holds) ?? false }
}

extension Check {
    static var all: [Check] {
        let pinned = RoundTrips.measure(.tcp, isPinned: true)
        func trip(_ contender: String, _ quantity: Quantity) -> Figure { Figure(pinned, contender, quantity) }
        func rate(_ transport: Transport, _ size: Int, _ contender: String) -> Figure {
            Figure(Throughput.measure(transport, size), contender, .messagesPerSecond)
        }
        let ours = Contender.handlersName
        return [
            Check(
                name: "round trip TCP p50 on one core, over raw C", group: .roundtrip,
                must: .atMost(1.6), proud: .atMost(1.25)
            ) { $0.ratio(trip(ours, .p50), over: trip(Contender.rawName, .p50)) },
            Check(
                name: "same, p99", group: .roundtrip, must: .atMost(2.5), proud: .atMost(1.5)
            ) { $0.ratio(trip(ours, .p99), over: trip(Contender.rawName, .p99)) },
            Check(
                name: "same p50, ZeroMQ's over ours", group: .roundtrip, must: .atLeast(2), proud: .atLeast(3)
            ) { $0.ratio(trip(Contender.zeroMQName, .p50), over: trip(ours, .p50)) },
            Check(
                name: "round trip TLS 1.3 p50 on one core, over bare SwiftNIO TLS", group: .roundtrip,
                must: .atMost(1.25), proud: .atMost(1.1)
            ) { $0.ratio(Self.trip(.tls, ours), over: Self.trip(.tls, Contender.nioName)) },
            Check(
                name: "round trip UDP p50 on one core, sealed over plain", group: .roundtrip,
                must: nil, proud: .atMost(1.5)
            ) { $0.ratio(Self.trip(.sealed, ours), over: Self.trip(.udp, ours)) },
            Check(
                name: "allocations a sealed datagram, sender and receiver", group: .roundtrip,
                must: .atMost(4), proud: .atMost(2)
            ) { book in
                let all = [Quantity.clientAllocations, .serverAllocations].compactMap {
                    book.median(Figure(RoundTrips.allocationMeasure(.sealed), ours, $0))
                }
                return all.count == 2 ? (all[0] + all[1]) / 2 : nil
            },
            Check(
                name: "throughput TCP, 8 bytes, over ZeroMQ", group: .throughput, must: .atLeast(3), proud: .atLeast(6)
            ) {
                $0.ratio(rate(.tcp, 8, Contender.elementalName), over: rate(.tcp, 8, Contender.zeroMQPushName))
            },
            Check(
                name: "throughput TCP, 64 KiB, over raw C", group: .throughput,
                must: .atLeast(0.7), proud: .atLeast(0.95)
            ) {
                $0.ratio(rate(.tcp, 65536, Contender.elementalName), over: rate(.tcp, 65536, Contender.rawLargeName))
            },
            Check(
                name: "UDP, 8 bytes, delivered a second, over raw C", group: .throughput,
                must: .atLeast(1), proud: .atLeast(5)
            ) {
                $0.ratio(rate(.udp, 8, Contender.elementalName), over: rate(.udp, 8, Contender.rawOneName))
            },
            Check(
                name: "fan-out to 250 devices, over throughput to one", group: .fanout,
                must: .atLeast(0.3), proud: .atLeast(0.7)
            ) {
                // If throughput was not measured, the fan-out to one device is used instead.
                $0.ratio(FanOut.figure(250), over: rate(.tcp, 8, Contender.elementalName))
                    ?? $0.ratio(FanOut.figure(250), over: FanOut.figure(1))
            },
            Check(
                name: "round trip p99 beside 1 MiB values, over idle", group: .load, must: nil, proud: .atMost(5)
            ) { $0.ratio(UnderLoad.figure(.large, .p99), over: UnderLoad.figure(.nothing, .p99)) },
            Check(
                name: "paired device's p99 at 120 Hz beside ClientHellos, over quiet", group: .handshakes,
                must: .atMost(2), proud: .atMost(1.2)
            ) { $0.ratio(Handshakes.figure(.hellos, .p99), over: Handshakes.figure(.nothing, .p99)) },
            Check(
                name: "memory of an idle connection, of 5,000", group: .scale,
                must: .atMost(16), proud: .atMost(6), unit: " KiB"
            ) { $0.median(Connections.figure(5000, .memoryPerConnection)).map { $0 / 1024 } },
            Check(
                name: "allocations a received 8-byte message, handler", group: .throughput,
                must: .atMost(1), proud: .atMost(0.005)
            ) {
                $0.median(Figure(Throughput.allocationMeasure, Contender.elementalName, .serverAllocations))
            },
        ]
    }

    private static func trip(_ transport: Transport, _ contender: String) -> Figure {
        Figure(RoundTrips.measure(transport, isPinned: true), contender, .p50)
    }

    /// - Parameter withTargets: whether to show the targets too.
    static func table(_ checks: [Check], _ book: Book, withTargets: Bool) -> Table {
        var table = Table(
            title: "Ratios", note: "within each round, their median",
            header: ["", "measured"] + (withTargets ? ["must", "", "proud", ""] : []))
        for check in checks {
            let measured = [check.name, Format.with(check.unit, Format.ratio(check.value(book)))]
            guard withTargets else {
                table.rows.append(measured)
                continue
            }
            table.rows.append(
                measured + [
                    check.must.map(Format.bound) ?? "told", check.mustHolds(book) ? "holds" : "FAILS",
                    Format.bound(check.proud), check.proudHolds(book) ? "reached" : "not yet",
                ])
        }
        return table
    }
}
