import Elemental
import Foundation

// A service and clients that send numbers and count what arrives, as processes of their own: tests cut them off, stop and
// kill them, and then check whether anything was lost, duplicated or out of order that should not be.
//
//   ledger serve NAME [HEARTBEAT]                 publishes "ledger/NAME"
//   ledger client NAME PREFIX COUNT [HEARTBEAT]   connects COUNT devices to it, which reconnect for ever
//   ledger serve-times NAME                       publishes "ledger/NAME", with other-clock.c
//   ledger times NAME COUNT SECONDS               asks it for times, at least COUNT ones and for SECONDS
//
// HEARTBEAT is the silence in seconds after which a peer is pinged. With a state directory in $LEDGER_STATE the two ends have
// to be paired, and their connections are encrypted. Both print a JSON line for every event, such as "ready" once all devices
// are connected, and take lines at standard input: "count" tells how many devices are connected, "pass N" waits for N of the
// intervals at which numbers are sent, "stop" stops sending and waits for what is in flight, "report" prints the accounts.
// The process exits at the end of its input.

/// The shared elements: one over each transport in each direction, and one marked `latest`.
enum Numbers {
    static let up = Element<UInt64>(1, "Up")
    static let upDatagram = Element<UInt64>(2, "Up by datagram", transport: .udp)
    static let down = Element<UInt64>(3, "Down")
    static let downDatagram = Element<UInt64>(4, "Down by datagram", transport: .udp)
    static let level = Element<UInt64>(5, "Level", latest: true)
    static let all: ElementCatalogue = [up, upDatagram, down, downDatagram, level]
}

@main
enum Ledger {
    static let interval: Duration = .milliseconds(20)

    /// Identity and trusted peers; `nil` for connections that are not encrypted.
    private static func state() throws -> SecurityState? {
        try ProcessInfo.processInfo.environment["LEDGER_STATE"].map { try SecurityState(directory: $0) }
    }

    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        do {
            switch (arguments.first, Array(arguments.dropFirst())) {
            case ("serve", let rest) where (1...2).contains(rest.count):
                try await ServingLedger(
                    name: rest[0], limits: limits(rest.dropFirst(1).first),
                    security: try state().map { .paired(identity: $0.identity, store: $0.trust) } ?? .open
                ).run()
            case ("client", let rest) where (3...4).contains(rest.count):
                guard let count = Int(rest[2]), count > 0 else { fallthrough }
                try await ClientLedger(
                    service: rest[0], prefix: rest[1], limits: limits(rest.dropFirst(3).first),
                    security: try state().map { .required(identity: $0.identity, store: $0.trust) } ?? .open
                ).run(count: count)
            case ("serve-times", let rest) where rest.count == 1: try await Times.serve(name: rest[0])
            case ("times", let rest) where rest.count == 3:
                guard let count = Int(rest[1]), let seconds = Double(rest[2]) else { fallthrough }
                try await Times.compare(service: rest[0], count: count, seconds: seconds)
            default:
                FileHandle.standardError.write(Data("see the head of Ledger.swift\n".utf8))
                exit(64)
            }
        } catch {
            say("failed", ["reason": "\(error)"])
            exit(1)
        }
    }

    private static func limits(_ heartbeat: String?) -> DeviceLimits {
        var limits = DeviceLimits()
        if let seconds = heartbeat.flatMap(Double.init) { limits.heartbeatInterval = .seconds(seconds) }
        return limits
    }

    /// The run of this process, in the upper half of its service's numbers.
    static let run = UInt64(ProcessInfo.processInfo.processIdentifier) << 32

    static func say(_ event: String, _ members: [String: any Sendable] = [:]) {
        var object: [String: any Sendable] = members
        object["event"] = event
        guard var line = try? JSONSerialization.data(withJSONObject: object, options: .sortedKeys) else { return }
        line.append(0x0A)
        FileHandle.standardOutput.write(line)
    }

    /// The lines of standard input, read on a thread of its own because readLine blocks.
    static func inputLines() -> AsyncStream<String> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
        }
    }

    /// Calls `send` periodically and executes commands from standard input, until its end.
    static func serve(
        send: @escaping @Sendable () -> Void, count: () -> Int, settle: () async -> Void, report: () -> Void
    ) async {
        let sending = Task { await repeating(send) }
        for await line in inputLines() {
            switch line {
            case "count": say("count", ["connected": count()])
            case let line where line.hasPrefix("pass "):
                for _ in 0..<(Int(line.dropFirst(5)) ?? 0) { await pause(until: .now + interval) }
                say("passed")
            case "stop":
                sending.cancel()
                await sending.value
                await settle()
                say("stopped")
            case "report":
                report()
                say("reported")
            default: say("unknown", ["line": line])
            }
        }
        sending.cancel()
    }

    static func repeating(_ body: () -> Void) async {
        var due = SuspendingClock.now
        while !Task.isCancelled {
            body()
            due += interval
            // After a suspension of the process it continues from now, without catching up.
            due = max(due, .now)
            await pause(until: due)
        }
    }

    static func pause(until due: SuspendingClock.Instant) async {
        try? await Task.sleep(until: due, clock: .suspending)
    }
}
