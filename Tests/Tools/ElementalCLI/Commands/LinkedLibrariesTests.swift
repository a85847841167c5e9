import Foundation
import TestSupport
import Testing

/// The libraries that the dynamic linker loads for `elemental`.
struct LinkedLibrariesTests {
    #if os(Linux)
    /// Full Foundation has large tables for languages and calendars, and is slow to start.
    /// FoundationEssentials has everything that the program uses.
    @Test
    func noneIsFullFoundation() async throws {
        let program = try ElementalProcess.path
        let libraries = try await ChildProcess.with("ldd", [program]) { child in
            try await child.expectExit()
            return child.lines(of: .output).compactMap { $0.split(separator: " ").first?.trimmingPrefix("\t") }
        }
        // Otherwise the list was not parsed correctly.
        #expect(libraries.contains { $0.hasPrefix("libc.") }, "\(libraries)")
        let unwanted = ["libFoundation.", "libFoundationInternationalization.", "lib_FoundationICU."]
        #expect(libraries.filter { library in unwanted.contains { library.hasPrefix($0) } } == [])
    }
    #endif
}
