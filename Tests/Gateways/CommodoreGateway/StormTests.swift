import Elemental
import Foundation
import PETSCII
import TestSupport
import Testing

@testable import CommodoreGateway

/// Many clients at once, and a machine at 1200 baud.
struct StormTests {
    private static let clientCount = 10
    /// Longer on request: the variable holds seconds.
    private static let duration = Duration.seconds(
        ProcessInfo.processInfo.environment["COMMODORE_STORM_SECONDS"].flatMap { Double($0) } ?? 4)

    @Test(.backstop)
    func aStormOfValuesLosesNoRecordAndOverrunsNothing() async throws {
        try await withGateway(.tcp(host: "127.0.0.1", port: 0, usesIP232: false)) { running in
            let machine = try RawSocket.connect(to: try running.linePort)
            // Before anything is sent, however late the reader's task begins.
            let start = ContinuousClock.now
            try await machine.connect("storm")
            let records = Transcript<[UInt8]>()
            let reading = Task { try await Self.read(machine, records, since: start) }
            let end = ContinuousClock.now + Self.duration
            let counts = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
                for number in 0..<Self.clientCount {
                    group.addTask { (number, try await Self.storm(number, running, until: end)) }
                }
                // The machine speaks as well; each of its records is answered.
                var spoken = 0
                while ContinuousClock.now < end {
                    try machine.write([6, 6, 5, 1, 0, 0, 0, UInt8(spoken % 32)])
                    spoken += 1
                    try await Task.sleep(for: .milliseconds(100), clock: .suspending)
                }
                var counts = [Int](repeating: 0, count: Self.clientCount)
                for try await (number, count) in group { counts[number] = count }
                return (spoken: spoken, printed: counts)
            }
            let client = try await running.client()
            try client.send("end", to: CommodoreElements.print)
            try await eventually("the end") {
                String(petscii: Self.values(of: 3, records.all).joined(), in: .lowerCase).hasSuffix("end")
            }
            // A colour that the storm does not use: nothing is sent any more once it is there.
            try client.send(15, to: CommodoreElements.border)
            try await eventually("the border") { Self.values(of: 1, records.all).last == [15] }
            machine.closeOutput()
            let (isPaced, isWhole) = try await reading.value
            #expect(isPaced)
            #expect(isWhole)
            #expect(records.all.allSatisfy { $0 == [1, 0] || $0[0] == 3 })
            #expect(records.all.filter { $0 == [1, 0] }.count == counts.spoken)
            let printed = String(petscii: Self.values(of: 3, records.all).joined(), in: .lowerCase)
            for (number, count) in counts.printed.enumerated() {
                let own = printed.split(separator: ";").filter { $0.hasPrefix("\(number)-") }
                #expect(own == (0..<count).map { "\(number)-\($0)" })
            }
            await client.close()
        }
    }

    /// Moves sliders continuously and prints now and then.
    ///
    /// - Returns: how many texts it sent.
    private static func storm(_ number: Int, _ running: RunningGateway, until end: ContinuousClock.Instant) async throws
        -> Int
    {
        let client = try await running.client("client \(number)")
        var generator = SeededGenerator(seed: UInt64(number))
        var printed = 0
        var step = 0
        while ContinuousClock.now < end {
            try client.send(.random(in: 0...511, using: &generator), to: CommodoreElements.spriteX)
            try client.send(.random(in: 0...255, using: &generator), to: CommodoreElements.spriteY)
            try client.send(.random(in: 0...14, using: &generator), to: CommodoreElements.border)
            try client.send(.random(in: 0...3848, using: &generator), to: CommodoreElements.frequencies[step % 3])
            // Ten clients and 14 bytes each 2 s: three fifths of the line.
            if step.isMultiple(of: 1000) {
                try client.send("\(number)-\(printed);", to: CommodoreElements.print)
                printed += 1
            }
            step += 1
            try await Task.sleep(for: .milliseconds(2), clock: .suspending)
        }
        try await client.waitUntilSent()
        await client.close()
        return printed
    }

    /// Reads records to the end of the line.
    ///
    /// - Returns: whether bytes never arrived faster than 1200 baud, and whether the last record is whole.
    private static func read(
        _ machine: RawSocket, _ records: Transcript<[UInt8]>, since start: ContinuousClock.Instant
    ) async throws -> (isPaced: Bool, isWhole: Bool) {
        var parser = ResultParser()
        var count = 0
        var isPaced = true
        while true {
            let bytes = try await machine.readSome()
            guard !bytes.isEmpty else { return (isPaced, !parser.isWaiting) }
            count += bytes.count
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            if Double(count) > seconds * 120 + Double(Pace.lead) + 1 { isPaced = false }
            for byte in bytes {
                if let record = parser.receive(byte) { records.add(record) }
            }
        }
    }

    /// The values of an element among records of whole envelopes.
    private static func values(of id: Int8, _ records: [[UInt8]]) -> [ArraySlice<UInt8>] {
        records.filter { $0[0] == 3 }.flatMap { NativeSession.envelopes(of: Array($0[2...])) ?? [] }
            .filter { $0.id == id }.map(\.value)
    }
}
