import Foundation

/// The paths of the programs.
struct Programs {
    /// The framework's own command line, in release.
    var elemental: String
    /// The folder of the peers' executables and of the library that counts allocations.
    var peers: String
    /// Runs a command with a private avahi-daemon.
    var privateAvahi: String
    let credentials = Credentials()

    func peer(_ name: String) -> String { "\(peers)/\(name)" }

    var allocationCounter: String { "\(peers)/libAllocationCounter.so" }

    /// Throws if a program is missing.
    func check() throws {
        for program in [elemental, peer("raw-peer"), peer("nio-peer"), allocationCounter, privateAvahi]
        where !FileManager.default.isReadableFile(atPath: program) {
            throw CompareError("\(program) is missing; Benchmarks/compare builds everything that is needed")
        }
    }
}
