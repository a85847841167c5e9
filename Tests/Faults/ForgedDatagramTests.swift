import Foundation
import TestSupport
import Testing

/// Somebody on the network of two paired ends, who hears all of their datagrams and sends what he likes, with any address:
/// what was sealed by one of them, again, to the other one, changed or cut, and what was not sealed at all.
@Suite(
    .serialized, .enabled(if: TestBed.isAvailable, "two hosts are needed"),
    .enabled(if: SecurityPeers.areThere, "Tests/install security"), .backstop)
struct ForgedDatagramTests {
    @Test
    func forgedDatagramsCountForNothing() async throws {
        try await PairedStates.with { keys in
            try await Ledgers.with(keys: keys) { ledgers in
                try await ledgers.expectFlow()
                let bed = ledgers.bed
                let nobody = bed.a.address.split(separator: ".").dropLast().joined(separator: ".") + ".99"
                for (victim, host) in [("service", bed.b), ("client", bed.a)] {
                    let sent = try await SecurityPeers.with(
                        "forge.py", ["veth0", bed.a.address, bed.b.address, nobody, victim], namespace: host.namespace
                    ) { try await $0.nextEvent("sent") }
                    let rejected = sent.int("rejected")
                    #expect(rejected > 1000)
                    print("forged for the \(victim): \(sent)")
                    let process = victim == "service" ? ledgers.service : ledgers.client
                    try await eventually("\(rejected) datagrams are rejected") {
                        try await Ledgers.report(of: process)["one-1"]?.int("datagramsForged") == rejected
                    }
                }
                // What the two send each other goes on, and nothing came but that, once.
                try await ledgers.expectFlow()
                for account in try await ledgers.close() {
                    account.expectUndisturbed()
                    #expect(account.datagrams.lost == 0)
                }
            }
        }
    }
}
