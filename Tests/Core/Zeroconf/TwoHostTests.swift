import TestSupport
import Testing

/// Two hosts with an avahi-daemon each.
@Suite(.serialized, .enabled(if: TestBed.isAvailable, Comment(rawValue: TestBed.unavailableReason ?? "")))
struct TwoHostTests {
    @Test func aServiceIsFoundChangedAndGone() async throws {
        try await TestBed.with { bed in
            try await probe(bed.b, ["browse", "_robot._tcp"]) { browser in
                try await probe(bed.a, ["publish", "Rover", "_robot._tcp", "7000", "state=off"]) { publisher in
                    let address = bed.a.address
                    try await browser.nextLine { $0 == "found Rover | a.local. | 7000 | \(address) | state=off" }
                    try publisher.writeLine("txt state=on level=3")
                    try await browser.nextLine { $0.hasPrefix("updated Rover") && $0.hasSuffix("state=on level=3") }
                    let second = try await bed.addAddress(77, to: bed.a)
                    try await browser.nextLine { $0.hasPrefix("updated Rover") && $0.contains(second) }
                    publisher.send(signal: 9)
                    // The daemon sends a goodbye for a client that has exited. Its records would live for minutes.
                    try await browser.nextLine("gone Rover") { $0 == "gone Rover" }
                }
            }
        }
    }

    @Test func aNameTakenOnAnotherHostIsChanged() async throws {
        try await TestBed.with { bed in
            try await probe(bed.a, ["publish", "Rover", "_robot._tcp", "7000"]) { one in
                try await one.nextLine { $0 == "published Rover" }
                try await probe(bed.b, ["publish", "Rover", "_robot._tcp", "7000"]) { two in
                    try await two.nextLine { $0 == "published Rover #2" }
                }
            }
        }
    }

    @Test func aNameThatClashesLaterIsTold() async throws {
        try await TestBed.with { bed in
            try await bed.cutLink()
            try await probe(bed.a, ["publish", "Rover", "_robot._tcp", "7000"]) { one in
                try await probe(bed.b, ["publish", "Rover", "_robot._tcp", "7000"]) { two in
                    try await one.nextLine { $0 == "published Rover" }
                    try await two.nextLine { $0 == "published Rover" }
                    try await bed.restoreLink()
                    try await probe(bed.a, ["browse", "_robot._tcp"]) { browser in
                        try await browser.nextLine { $0.hasPrefix("found Rover #2") }
                    }
                    try await eventually("one of them says that it was renamed") {
                        (one.lines(of: .output) + two.lines(of: .output)).contains("renamed Rover -> Rover #2")
                    }
                }
            }
        }
    }

    @Test func aCutLinkTakesServicesAwayAndBringsThemBack() async throws {
        try await TestBed.with { bed in
            try await probe(bed.a, ["publish", "Rover", "_robot._tcp", "7000"]) { _ in
                try await probe(bed.b, ["browse", "_robot._tcp"]) { browser in
                    try await browser.nextLine { $0.hasPrefix("found Rover") }
                    try await bed.cutLink(at: bed.b)
                    let end = try await browser.nextLine { $0 == "gone Rover" }
                    try await bed.restoreLink()
                    try await browser.nextLine(beginningWith: "found Rover", after: end.place)
                }
            }
        }
    }

    @Test func eachServiceIsToldOnceOverBothFamilies() async throws {
        try await TestBed.with(usesIPv6: true) { bed in
            try await probe(bed.a, ["publish", "Rover", "_robot._tcp", "7000"]) { publisher in
                try await publisher.nextLine { $0 == "published Rover" }
                try await probe(bed.b, ["browse", "_robot._tcp"]) { browser in
                    let address = bed.a.address
                    // A link-local address is of use only with its scope.
                    try await browser.nextLine { $0.contains(address) && $0.contains("fe80:") && $0.contains("%veth0") }
                    publisher.send(signal: 9)
                    try await browser.nextLine { $0 == "gone Rover" }
                    #expect(browser.lines(of: .output).count { $0.hasPrefix("found") } == 1)
                    #expect(browser.lines(of: .output).count { $0.hasPrefix("gone") } == 1)
                }
            }
        }
    }

    @Test func theLargestTXTRecordGetsThrough() async throws {
        // Five entries of 256 bytes with their length, and one of 20: 1300.
        let pairs = (0..<5).map { "k\($0)=" + String(repeating: "x", count: 252) } + ["k5=0123456789abcdef"]
        // The longest name, too.
        let name = String(repeating: "n", count: 63)
        try await TestBed.with { bed in
            try await probe(bed.a, ["publish", name, "_abcdefghijklmno._tcp", "7000"] + pairs) { publisher in
                try await publisher.nextLine { $0 == "published \(name)" }
                try await probe(bed.b, ["browse", "_abcdefghijklmno._tcp"]) { browser in
                    try await browser.nextLine {
                        $0.hasPrefix("found \(name)") && $0.hasSuffix(pairs.joined(separator: " "))
                    }
                }
            }
        }
    }

    @Test func bedsDoNotSeeEachOther() async throws {
        try await TestBed.with { bed in
            try await TestBed.with { other in
                #expect(bed.a.address != other.a.address && bed.a.namespace != other.a.namespace)
                try await probe(bed.a, ["publish", "Here", "_robot._tcp", "7000"]) { publisher in
                    try await publisher.nextLine { $0 == "published Here" }
                    try await probe(other.a, ["publish", "There", "_robot._tcp", "7000"]) { _ in
                        try await probe(other.b, ["browse", "_robot._tcp"]) { browser in
                            try await browser.nextLine { $0.hasPrefix("found There") }
                            #expect(browser.lines(of: .output).allSatisfy { !$0.contains("Here") })
                        }
                    }
                }
            }
        }
    }

    private func probe(
        _ host: TestBed.Host, _ arguments: [String], _ body: (ChildProcess) async throws -> Void
    ) async throws {
        try await host.withChild(try BuiltProduct.path(of: "zeroconf-probe"), arguments, body)
    }
}
