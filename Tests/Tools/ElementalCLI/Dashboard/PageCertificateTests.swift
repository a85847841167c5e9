import Foundation
import TestSupport
import Testing

@testable import ElementalCLI

/// The certificate that a dashboard makes for itself.
struct PageCertificateTests {
    private static func make(_ folder: String, _ names: [String], now: Date = Date()) throws -> PageCertificate {
        try PageCertificate(directory: folder, names: names, now: now)
    }

    @Test
    func itStaysAsLongAsItNamesThisMachine() async throws {
        try await withFolder { folder in
            let first = try Self.make(folder, ["pi", "pi.local", "192.0.2.7", "fd00::2"])
            #expect(first.fingerprint.wholeMatch(of: /([0-9A-F]{2}:){31}[0-9A-F]{2}/) != nil)
            let file = "\(folder)/page-certificate.pem"
            #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
            // An address less, and none more.
            for names in [["pi", "pi.local", "192.0.2.7", "fd00::2"], ["pi"]] {
                #expect(try Self.make(folder, names).fingerprint == first.fingerprint)
            }
            #expect(try Self.make(folder, ["pi", "192.0.2.8"]).fingerprint != first.fingerprint)
        }
    }

    @Test
    func itIsMadeAnewBeforeItEndsAndWhereItsFileIsDamaged() async throws {
        try await withFolder { folder in
            let first = try Self.make(folder, ["pi"])
            let later = { Date(timeIntervalSinceNow: 86400 * $0) }
            #expect(try Self.make(folder, ["pi"], now: later(360)).fingerprint == first.fingerprint)
            let second = try Self.make(folder, ["pi"], now: later(370))
            #expect(second.fingerprint != first.fingerprint)
            let file = URL(filePath: "\(folder)/page-certificate.pem")
            let text = try String(contentsOf: file, encoding: .utf8)
            try Data(text.prefix(text.count / 2).utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            let third = try Self.make(folder, ["pi"])
            #expect(third.fingerprint != second.fingerprint)
            #expect(try Self.make(folder, ["pi"]).fingerprint == third.fingerprint)
        }
    }

    @Test
    func whatIsNoNameIsLeftOut() {
        let names = PageCertificate.names(["pi.example.org", "a b", "x\n[other]", "*", "192.0.2.9"])
        #expect(names.contains("pi.example.org") && names.contains("192.0.2.9") && names.contains("localhost"))
        #expect(!names.contains { $0.contains(" ") || $0.contains("\n") || $0.contains("*") })
    }

    @Test("with --lan the page comes by https, with the fingerprint that is told", .backstop)
    func aPageForTheNetwork() async throws {
        try await withFolder { state in
            let arguments = ["dashboard", "127.0.0.1:9", "--port", "0", "--json", "--state", state]
            var told: [String] = []
            for _ in 1...2 {
                try await withCommand(arguments + ["--listen", "0.0.0.0"]) { dashboard in
                    let serving = try await dashboard.nextEvent("serving")
                    let url: String = try #require(serving["url"])
                    #expect(url.hasPrefix("https://"))
                    told.append(try #require(serving["fingerprint"]))
                    try await dashboard.expectExit(after: SIGTERM)
                }
            }
            #expect(told[0] == told[1])
            try await withCommand(arguments + ["--listen", "0.0.0.0", "--http"]) { dashboard in
                let serving = try await dashboard.nextEvent("serving")
                let (url, fingerprint, message): (String?, String?, String?) =
                    (serving["url"], serving["fingerprint"], serving["message"])
                #expect(url?.hasPrefix("http://") == true && fingerprint == nil)
                #expect(message?.contains("the page is read-only") == true)
                try await dashboard.expectExit(after: SIGTERM)
            }
        }
    }

    @Test("without openssl it says what to do", .backstop)
    func withoutOpenSSL() async throws {
        try await withFolder { state in
            let arguments = ["dashboard", "127.0.0.1:9", "--port", "0", "--json", "--state", state, "--lan"]
            try await withCommand(arguments, environment: ["PATH": "/nowhere"]) { dashboard in
                let error = try await dashboard.nextEvent("error")
                #expect(error["reason"] == "certificate")
                let message: String? = error["message"]
                #expect(
                    message?.contains("sudo apt-get install openssl") == true && message?.contains("--http") == true)
                try await dashboard.expectExit(1)
            }
        }
    }
}
