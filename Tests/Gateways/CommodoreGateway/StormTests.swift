import Elemental
import Foundation
import PETSCII
import TestSupport
import Testing

@testable import CommodoreGateway

/// Many clients at once, and a machine at 1200 baud.
struct StormTests {
    private static let clientCount = 10
    private static let rounds = 20

    @Test(.backstop)
    func aStormOfValuesLosesNoRecordAndOverrunsNothing() async throws {
        try await withGateway(.loopback) { running in
            let machine = try RawSocket.connect(to: try running.linePort)
            // Before anything is sent, however late the reader's task begins.
            let start = ContinuousClock.now
            try await machine.connect("storm")
            let records = Transcript<[UInt8]>()
            let reading = Task { try await Self.read(machine, records, since: start) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<Self.clientCount { group.addTask { try await Self.storm(number, running) } }
                // The machine speaks as well; each of its records is answered.
                for round in 0..<Self.rounds {
                    try machine.write([6, 6, 5, 1, 0, 0, 0, UInt8(round)])
                    try await records.next("the answer to record \(round)") { $0 == [1, 0] }
                }
                try await group.waitForAll()
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
            #expect(records.all.count { $0 == [1, 0] } == Self.rounds)
            let printed = String(petscii: Self.values(of: 3, records.all).joined(), in: .lowerCase)
            for number in 0..<Self.clientCount {
                let own = printed.split(separator: ";").filter { $0.hasPrefix("\(number)-") }
                #expect(own == (0..<Self.rounds / 5).map { "\(number)-\($0)" })
            }
            await client.close()
        }
    }

    /// Moves sliders, and prints every fifth round. A round begins when the service has read the one before.
    private static func storm(_ number: Int, _ running: RunningGateway) async throws {
        let client = try await running.client("client \(number)")
        var generator = SeededGenerator(seed: UInt64(number))
        for round in 0..<rounds {
            for step in 0..<50 {
                try client.send(.random(in: 0...511, using: &generator), to: CommodoreElements.spriteX)
                try client.send(.random(in: 0...255, using: &generator), to: CommodoreElements.spriteY)
                try client.send(.random(in: 0...14, using: &generator), to: CommodoreElements.border)
                try client.send(.random(in: 0...3848, using: &generator), to: CommodoreElements.frequencies[step % 3])
            }
            if round.isMultiple(of: 5) { try client.send("\(number)-\(round / 5);", to: CommodoreElements.print) }
            _ = try await client.ping(timeout: Patience.wait)
        }
        await client.close()
    }

    /// Reads records to the end of the line: whether bytes never came faster than 1200 baud, and whether the last record is
    /// whole.
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
