import Foundation
import NIOCore
import TestSupport
import Testing
import WebServer

@testable import Dashboard

/// The page's files as they are in the program.
struct PageFilesTests {
    private static let folder = Repository.root.appending(path: "Sources/Bridges/Dashboard/Page/files")

    @Test
    func allOfThemAreServed() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(DashboardServer.files.keys) == Set(names.map { $0 == "index.html" ? "/" : "/\($0)" }))
        for name in names {
            let bytes = try Data(contentsOf: Self.folder.appending(path: name))
            let served = DashboardServer.files[name == "index.html" ? "/" : "/\(name)"]
            #expect(served.map { Array(buffer: $0.bytes) } == Array(bytes), "\(name)")
        }
    }

    /// A phone in a slow network loads them, and they are part of every program.
    @Test
    func theyAreSmall() {
        #expect(DashboardServer.files.values.reduce(0) { $0 + $1.bytes.readableBytes } <= 160_000)
    }

    /// The page works where there is no way to anywhere else. The one address in it is the name of SVG.
    @Test
    func theyReferToNothingElsewhere() {
        for (path, file) in DashboardServer.files {
            let text = String(buffer: file.bytes).replacing("http://www.w3.org/2000/svg", with: "")
            for scheme in ["http:", "https:", "//cdn", "url(//", "src=\"//"] {
                #expect(!text.contains(scheme), "\(path)")
            }
        }
    }
}
