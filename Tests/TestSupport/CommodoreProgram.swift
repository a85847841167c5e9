import Foundation

/// The 6502 program in Samples/Commodore, built by its own Makefile.
public enum CommodoreProgram {
    private static let folder = Repository.path("Samples/Commodore")

    /// Why the program cannot be built here, or nil.
    public static let unavailableReason: String? = {
        let missing = ["make", "ca65", "ld65", "python3"].filter { !ProcessSpawn.isOnPath($0) }
        return missing.isEmpty
            ? nil
            : "the 6502 program is not tested: \(missing.joined(separator: ", ")) missing (Debian's cc65, make, python3)"
    }()

    public static let isAvailable: Bool = {
        if let unavailableReason { print(unavailableReason) }
        return unavailableReason == nil
    }()

    private static let files = Task<[String: [UInt8]], any Error> {
        let build = NSTemporaryDirectory() + "commodore-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: build) }
        try await ChildProcess.run("make", ["-s", "-C", folder, "BUILD=\(build)", "all", "cartridge", "d64"])
        return try Dictionary(
            uniqueKeysWithValues: ["prg", "crt", "d64"].map { kind in
                (kind, [UInt8](try Data(contentsOf: URL(filePath: build).appending(path: "commodore.\(kind)"))))
            })
    }

    public static var prg: [UInt8] { get async throws { try await files.value["prg"]! } }

    public static var d64: [UInt8] { get async throws { try await files.value["d64"]! } }

    /// The cartridge: its header of 64 and its chip's of 16 bytes, and 8 KiB of ROM.
    public static var crt: [UInt8] { get async throws { try await files.value["crt"]! } }
}
