import Dashboard
import Elemental
import ElementalFollowing
import Foundation
import Logging
import TestSupport
import Testing

/// Which services a person has paired from a page, also after a restart.
struct PagePairingsTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private let place = ServicePlace.address(host: "127.0.0.1", port: 5301)

    @Test
    func theyAreKept() async throws {
        try await withFolder { folder in
            let pairings = PagePairings(directory: folder, logger: logger)
            #expect(!pairings.contains(place))
            pairings.insert(.address(host: "127.0.0.1", port: 80))
            pairings.insert(place)
            #expect(pairings.contains(place))
            // In either order.
            try await eventually("the list is written") {
                let kept = PagePairings(directory: folder, logger: logger)
                return kept.contains(place) && kept.contains(.address(host: "127.0.0.1", port: 80))
            }
            #expect(!PagePairings(directory: folder, logger: logger).contains(.address(host: "127.0.0.1", port: 81)))
        }
    }

    @Test(arguments: ["", "{", "[1]", String(repeating: " ", count: 300_000)])
    func aDamagedListIsNone(_ text: String) async throws {
        try await withFolder { folder in
            try text.write(toFile: folder + "/page-pairings.json", atomically: true, encoding: .utf8)
            #expect(chmod(folder + "/page-pairings.json", 0o600) == 0)
            #expect(!PagePairings(directory: folder, logger: logger).contains(place))
        }
    }
}
