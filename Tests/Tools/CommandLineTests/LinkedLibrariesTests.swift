import Foundation
import TestSupport
import Testing

/// What the dynamic linker loads when `elemental` starts.
struct LinkedLibrariesTests {
    #if os(Linux)
    /// Full Foundation brings large tables for languages and calendars, and takes its time to start.
    /// FoundationEssentials has all that the program uses.
    @Test
    func noneIsFullFoundation() async throws {
        let program = try ElementalProcess.path
        let libraries = try await ChildProcess.with("ldd", [program]) { child in
            let status = try await child.waitForExit()
            #expect(status == .exited(0), "\(child.transcript)")
            return child.lines(of: .output).compactMap { $0.split(separator: " ").first?.trimmingPrefix("\t") }
        }
        // Otherwise the list was not read as it is meant.
        #expect(libraries.contains { $0.hasPrefix("libc.") }, "\(libraries)")
        let unwanted = ["libFoundation.", "libFoundationInternationalization.", "lib_FoundationICU."]
        #expect(libraries.filter { library in unwanted.contains { library.hasPrefix($0) } } == [])
    }
    #endif
}
