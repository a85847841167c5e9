import Foundation
import TestSupport

/// The disk of the machine that keeps the histories: it forgets what was not forced onto it when the power fails, it is full at
/// times, and a program ends at any of its calls.
///
/// The files are real. `simulated-machine.c`, which is loaded before the C library, asks for each call.
final class SimulatedDisk {
    nonisolated(unsafe) private static var current: SimulatedDisk?

    let folder: String
    var isFull = false
    /// How many calls succeed before the program ends in the middle of one; `nil` for all.
    var callsBeforeEnd: Int?
    private(set) var hasEnded = false
    /// Whether this changes the files, and no program.
    private var isOwnCall = false
    private(set) var synchroniseCount = 0
    private var random: SeededGenerator
    /// How long each file certainly is after a power failure.
    private var safeLengths: [String: Int] = [:]
    /// The files that are certainly there after a power failure.
    private var safeNames: Set<String> = []
    /// Files that were removed and may be back after a power failure.
    private var removed: [String: [UInt8]] = [:]

    init(_ folder: String, _ seed: UInt64) {
        self.folder = folder
        random = SeededGenerator(seed: seed)
    }

    /// Of this thread from now on.
    func use() {
        Self.current = self
        SimulatedMachine.set { operation, descriptor, name, count in
            SimulatedDisk.current?.perform(
                operation, descriptor, name.map { String(cString: $0) }, count) ?? count
        }
    }

    // MARK: Calls

    private func perform(_ operation: CInt, _ descriptor: CInt, _ name: String?, _ count: Int) -> Int {
        guard descriptor > 2, !isOwnCall,
            let path = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/self/fd/\(descriptor)"), path.hasPrefix(folder + "/history/")
        else { return count }
        guard !hasEnded else { return -Int(EIO) }
        if let calls = callsBeforeEnd {
            hasEnded = calls == 0
            callsBeforeEnd = calls - 1
        }
        if hasEnded {
            // A part of what was to be written may be in the file.
            return operation == Self.write ? random.number(0...count) : random.once(in: 2) ? count : -Int(EIO)
        }
        switch operation {
        case Self.write where isFull:
            return random.once(in: 2) || count < 2 ? -Int(ENOSPC) : random.number(1...count - 1)
        case Self.synchronise: synchronise(path)
        case Self.remove:
            let file = "\(path)/\(name ?? "")"
            removed[file] = contents(file)
        case Self.shorten: safeLengths[path] = min(safeLengths[path] ?? 0, count)
        default: break
        }
        return count
    }

    private static let (write, synchronise, remove, shorten) = (CInt(1), CInt(2), CInt(3), CInt(4))

    private func synchronise(_ path: String) {
        synchroniseCount += 1
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else { return }
        if isDirectory.boolValue {
            safeNames = Set(files())
            removed = [:]
        } else {
            safeLengths[path] = contents(path).count
        }
    }

    // MARK: The machine

    /// Another program may use it.
    func begin() { (callsBeforeEnd, hasEnded) = (nil, false) }

    /// Each file has what was forced onto the disk, and any part of the rest.
    func failPower() {
        isOwnCall = true
        defer { isOwnCall = false }
        for file in files() {
            let bytes = contents(file)
            let safe = min(safeLengths[file] ?? 0, bytes.count)
            guard safeNames.contains(file) || random.once(in: 2) else {
                try? FileManager.default.removeItem(atPath: file)
                continue
            }
            var rest = Array(bytes.prefix(safe < bytes.count ? random.number(safe...bytes.count) : bytes.count))
            // The length may be on the disk, and not all bytes.
            if rest.count > safe, random.once(in: 4) {
                for place in random.number(safe...rest.count - 1)..<rest.count { rest[place] = 0 }
            }
            write(file, rest)
        }
        for (file, bytes) in removed where random.once(in: 2) { write(file, bytes) }
        isOnDisk()
    }

    /// Everything is on the disk, as after the machine has ended in order or has started.
    func isOnDisk() {
        safeNames = Set(files())
        safeLengths = Dictionary(uniqueKeysWithValues: safeNames.map { ($0, contents($0).count) })
        removed = [:]
    }

    private func files() -> [String] {
        let path = folder + "/history/weather"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { $0 != "lock" }.sorted().map { "\(path)/\($0)" }
    }

    private func contents(_ file: String) -> [UInt8] {
        (try? Data(contentsOf: URL(fileURLWithPath: file))).map { Array($0) } ?? []
    }

    private func write(_ file: String, _ bytes: [UInt8]) {
        check(
            FileManager.default.createFile(
                atPath: file, contents: Data(bytes), attributes: [.posixPermissions: 0o600]),
            "\(file) cannot be written")
    }

    var byteCount: Int { files().reduce(0) { $0 + contents($1).count } }
}

/// The functions of `simulated-machine.c`.
enum SimulatedMachine {
    typealias Disk = @convention(c) (CInt, CInt, UnsafePointer<CChar>?, Int) -> Int

    private typealias SetTime = @convention(c) (Int64) -> Void
    private typealias SetDisk = @convention(c) (Disk?) -> Void
    private static let setTime: SetTime = find("simulated_machine_set_time")
    private static let setDisk: SetDisk = find("simulated_machine_set_disk")

    private static func find<Function>(_ name: String) -> Function {
        guard let function = dlsym(nil, name) else { fatalError("simulated-machine.c is not loaded") }
        return unsafeBitCast(function, to: Function.self)
    }

    static func set(_ disk: @escaping Disk) { setDisk(disk) }

    /// - Parameter time: microseconds since that machine's start.
    static func set(time: Int64) { setTime(time * 1000) }
}
