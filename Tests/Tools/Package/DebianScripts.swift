import Foundation
import TestSupport

/// The scripts that make a Debian package and install it, and the package that they make of the tests' own build.
enum DebianScripts {
    /// Why no package can be made here, or nil.
    static var unavailableReason: String? {
        #if os(Linux)
        if Sanitizer.current != nil { return "a package has no sanitizer" }
        return missing("dh") ?? missing("dpkg-deb")
        #else
        return "packages are for Debian"
        #endif
    }

    /// That a program is not installed, or nil.
    static func missing(_ program: String) -> String? {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/" + program)
            ? nil : "\(program) is missing: run Tests/install package"
    }

    /// Why it cannot be installed in a bare Debian here, or nil.
    static var noInstallationReason: String? {
        if let unavailableReason { return unavailableReason }
        guard FileManager.default.fileExists(atPath: Repository.path(".build/debian/ready")) else {
            return "there is no bare Debian: run Tests/install bare-debian as root"
        }
        return TestBed.unavailableReason
    }

    struct Package: Sendable {
        let path: String
        /// The folder into which it was unpacked, with its control files in `DEBIAN`.
        let content: String
    }

    /// The package, which is made once for all tests of this process.
    static let package = Task {
        let build = URL(filePath: try ElementalProcess.path).deletingLastPathComponent()
        let folder = URL(filePath: try ProcessFolder.path + "/package")
        let log = try await ChildProcess.run(
            Repository.path("Tests/debian/package"), [build.path, folder.path], within: Patience.wait * 4)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".deb") }
        guard let name = names.first, names.count == 1 else { throw TestSupportError("made: \(names)\n\(log)") }
        let path = folder.appending(path: name).path
        let content = folder.appending(path: "content").path
        try await ChildProcess.run("dpkg-deb", ["-R", path, content])
        return Package(path: path, content: content)
    }
}
