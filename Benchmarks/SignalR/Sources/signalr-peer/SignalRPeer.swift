import SignalR
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// This package's client as a contender: `signalr-peer URL json|messagepack roundtrip|send|receive COUNT`.
///
/// Prints the seconds that the messages took, this process's CPU seconds, and for round trips the median and the 99th
/// percentile in microseconds.
@main
struct SignalRPeer {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let count = Int(arguments[4]), count > 0 else {
            throw Misuse(description: "signalr-peer URL json|messagepack roundtrip|send|receive COUNT")
        }
        let connection = HubConnectionBuilder(url: arguments[1]).withTransports(.webSockets)
            .withHubProtocol(arguments[2] == "json" ? .json : .messagePack).build()
        let arrivals = Arrivals()
        connection.on("Number") { (_: Int) in arrivals.add() }
        try await connection.start()
        switch arguments[3] {
        case "roundtrip": try await measureRoundTrips(connection, count)
        case "send": try await measureSending(connection, count)
        case "receive": try await measureReceiving(connection, arrivals, count)
        default: throw Misuse(description: "there is no measure '\(arguments[3])'")
        }
        await connection.stop()
    }

    private static func measureRoundTrips(_ connection: HubConnection, _ count: Int) async throws {
        for number in 0..<200 { let _: Int = try await connection.invoke("Echo", number) }
        var times: [Duration] = []
        times.reserveCapacity(count)
        let clock = ContinuousClock()
        let run = Run()
        for number in 0..<count {
            let start = clock.now
            let same: Int = try await connection.invoke("Echo", number)
            times.append(clock.now - start)
            guard same == number else { throw Misuse(description: "the hub answered \(same) for \(number)") }
        }
        run.finish(times.map { $0 / .microseconds(1) }.sorted())
    }

    private static func measureSending(_ connection: HubConnection, _ count: Int) async throws {
        let run = Run()
        for number in 0..<count { try await connection.send("Take", number) }
        let taken: Int = try await connection.invoke("Taken")
        guard taken == count else { throw Misuse(description: "the hub took \(taken) of \(count)") }
        run.finish()
    }

    private static func measureReceiving(_ connection: HubConnection, _ arrivals: Arrivals, _ count: Int) async throws {
        let run = Run()
        try await connection.send("Flood", count)
        for await arrived in arrivals.counts where arrived >= count { break }
        run.finish()
    }
}

/// Counts calls of the hub.
private final class Arrivals: Sendable {
    private let count = Atomic(0)
    private let continuation: AsyncStream<Int>.Continuation
    let counts: AsyncStream<Int>

    init() { (counts, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func add() { continuation.yield(count.add(1, ordering: .relaxed).newValue) }
}

/// The wall-clock and CPU time of a run.
private struct Run {
    private let start = ContinuousClock.now
    private let used = Self.processorSeconds

    func finish(_ sorted: [Double] = []) {
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let percentiles = sorted.isEmpty ? "" : " \(sorted[sorted.count / 2]) \(sorted[sorted.count * 99 / 100])"
        print("\(seconds) \(Self.processorSeconds - used)\(percentiles)")
    }

    private static var processorSeconds: Double {
        var usage = rusage()
        #if canImport(Glibc)
        getrusage(RUSAGE_SELF.rawValue, &usage)
        #else
        getrusage(RUSAGE_SELF, &usage)
        #endif
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }
}

private struct Misuse: Error, CustomStringConvertible {
    let description: String
}
