import Foundation
import TestSupport
import Testing

/// Services whose TXT record claims to be another service.
@Suite(.serialized, .needsAvahi)
struct ImpersonationTests {
    /// Publishes `lab/NAME` with the element Speed, and passes its port to `body`.
    private func withService(
        _ name: String, speed: String, _ avahi: PrivateAvahi, isListed: Bool = true,
        _ body: (_ port: Int) async throws -> Void
    ) async throws {
        let arguments = ["publish", "lab", "--name", name, "--element", "1:Speed:float=\(speed)", "--json"]
        try await withCommand(arguments + (isListed ? [] : ["--unlisted"]), environment: avahi.environment) { service in
            let port = try await service.listeningPort()
            if isListed { try await service.nextEvent("published") }
            try await body(port)
        }
    }

    /// Makes Avahi list instances at one port, as anyone on the network can.
    private func withListings(
        _ listings: [(name: String, type: String, txt: [String])], _ port: Int, _ avahi: PrivateAvahi,
        _ body: () async throws -> Void
    ) async throws {
        // Each needs a second to be established: all at once.
        let publishers = try listings.map { listing in
            try ChildProcess(
                "avahi-publish", ["-s", listing.name, listing.type, "\(port)", "elemental=1"] + listing.txt,
                environment: avahi.environment)
        }
        let result: Result<Void, any Error>
        do {
            for publisher in publishers { try await publisher.nextLine(of: .error) { $0.contains("Established") } }
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        for publisher in publishers { await publisher.end() }
        try result.get()
    }

    private func get(_ target: String, _ avahi: PrivateAvahi) async throws -> [String] {
        try await withCommand(["get", target, "Speed"], environment: avahi.environment) { child in
            child.closeInput()
            try await child.expectExit()
            return child.lines(of: .output)
        }
    }

    @Test("under its own type a service has the name under which it is listed, whatever its TXT record says")
    func ownType() async throws {
        try await PrivateAvahi.with(hostName: "honest") { avahi in
            try await withService("Rover", speed: "0.5", avahi) { _ in
                try await withService("harmless", speed: "0.25", avahi, isListed: false) { port in
                    let txt = ["instance=Rover", "service=../../etc"]
                    try await withListings([("harmless", "_lab._tcp", txt)], port, avahi) {
                        for _ in 0..<20 { #expect(try await get("lab/Rover", avahi) == ["Speed=0.5"]) }
                        #expect(try await get("lab/harmless", avahi) == ["Speed=0.25"])
                        try await withCommand(["browse", "lab", "--json"], environment: avahi.environment) { browser in
                            try await eventually("both are found") { Self.found(browser).count >= 2 }
                            #expect(Self.found(browser).sorted() == ["lab/Rover", "lab/harmless"])
                            #expect(!browser.transcript.contains("../../etc"))
                        }
                    }
                }
            }
        }
    }

    @Test("in the common listing a service has the name that it claims, if both are at the same host and port")
    func commonListing() async throws {
        try await PrivateAvahi.with(hostName: "honest") { avahi in
            try await withService("Rover", speed: "0.5", avahi) { _ in
                try await withService("harmless", speed: "0.25", avahi, isListed: false) { port in
                    let common = "_elemental._tcp"
                    let listings = [
                        ("harmless", "_lab._tcp", []), ("true", common, ["service=lab", "instance=harmless"]),
                        ("other's", common, ["service=lab", "instance=Rover"]),
                        ("path", common, ["service=../../etc", "instance=passwd"]),
                        ("absent", common, ["service=lab", "instance=Nobody"]),
                        ("empty", common, ["service=lab", "instance="]),
                        ("long", common, ["service=lab", "instance=\(String(repeating: "x", count: 64))"]),
                        ("nameless", common, ["service=lab"]),
                        ("common", common, ["service=elemental", "instance=Rover (lab)"]),
                    ]
                    try await withListings(listings, port, avahi) { try await browseAll(avahi) }
                }
            }
        }
    }

    private func browseAll(_ avahi: PrivateAvahi) async throws {
        try await withCommand(["browse", "--json"], environment: avahi.environment) { browser in
            try await eventually("both are found") { Self.found(browser).contains("lab/harmless") }
            // Listed last, so that the false ones have been seen by then.
            try await withService("Last", speed: "1", avahi) { _ in
                try await browser.nextEvent("found") { $0["instance"] == "Last" }
            }
            try await browser.nextEvent("gone") { $0["instance"] == "Last" }
            #expect(Self.found(browser).sorted() == ["lab/Last", "lab/Rover", "lab/harmless"])
            let rover = browser.lines(of: .output).compactMap { JSONLine($0) }.filter { $0["instance"] == "Rover" }
            #expect(rover.map(\.event) == ["found"], "\(browser.transcript)")
        }
        #expect(try await get("lab/Rover", avahi) == ["Speed=0.5"])
        #expect(try await get("lab/harmless", avahi) == ["Speed=0.25"])
    }

    @Test("the command line cannot claim another name by --txt either")
    func ownKeys() async throws {
        try await PrivateAvahi.with(hostName: "honest") { avahi in
            let arguments = ["publish", "lab", "--element", "1:Speed:float=1", "--txt", "Instance=Rover"]
            try await withCommand(arguments, environment: avahi.environment) { child in
                child.closeInput()
                let status = try await child.waitForExit()
                #expect(status != .exited(0))
                #expect(child.transcript.contains("the TXT key \"Instance\" is used by the framework itself"))
            }
        }
    }

    @Test("a name with slashes is reached by the name that browsing shows")
    func slashes() async throws {
        try await PrivateAvahi.with(hostName: "honest") { avahi in
            try await withService("a/../b", speed: "0.5", avahi) { _ in
                try await withCommand(["browse"], environment: avahi.environment) { browser in
                    let line = try await browser.nextLine(beginningWith: "+ ")
                    #expect(line.text.contains("lab/a/../b"), "\(line)")
                }
                #expect(try await get("lab/a/../b", avahi) == ["Speed=0.5"])
            }
        }
    }

    private static func found(_ browser: ChildProcess) -> [String] {
        browser.events("found").map { json in
            let (service, name): (String?, String?) = (json["service"], json["instance"])
            return "\(service ?? "")/\(name ?? "")"
        }
    }
}
