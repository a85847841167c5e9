import Foundation
import TestSupport
import Testing

/// Where `elemental record` makes its file, and disks that do not take it.
struct RecordDiskTests {
    /// The file's mode is the user's matter, who sets the umask of the process.
    @Test(arguments: [("077", 0o600), ("027", 0o640), ("000", 0o666)])
    func aNewRecordingHasTheModeThatTheUserWants(_ umask: String, _ mode: Int) async throws {
        try await withFolder { folder in
            let file = "\(folder)/new.mcap"
            let target = "127.0.0.1:\(try PortLease.port())"
            let script = "umask \(umask); exec \"$0\" record \(target) --for 0.01 --to '\(file)'"
            try await ChildProcess.with("sh", ["-c", script, ElementalProcess.path]) { _ = try await $0.waitForExit() }
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == mode)
        }
    }

    /// A disk of 300 KiB in a mount namespace of its own.
    @Test(
        .backstop, .enabled(if: geteuid() == 0, "only root can mount a disk"),
        .enabled(if: mayMount, "no mount namespaces here"))
    func aFullDiskLeavesAReadableFile() async throws {
        let text = String(repeating: "x", count: 4000)
        try await withFolder { folder in
            try await ChildProcess.with(ElementalProcess.path, RecordBed.publish(elements: RecordBed.long)) { service in
                let target = "127.0.0.1:\(try await service.listeningPort())"
                let script = """
                    mount -t tmpfs -o size=300k tmpfs '\(folder)' || exit 9
                    "$0" record \(target) --json --to '\(folder)/full.mcap'
                    echo "status $?"
                    "$0" info '\(folder)/full.mcap' --json
                    cat '\(folder)/full.mcap' >&2
                    """
                let arguments = ["--mount", "sh", "-c", script, try ElementalProcess.path]
                try await ChildProcess.with("unshare", arguments) { recorder in
                    try await recorder.nextEvent("serviceState") { $0["state"] == "connected" }
                    // Seen from here, the disk is below the other process's root.
                    let file = "/proc/\(recorder.processID)/root\(folder)/full.mcap"
                    for count in [10, 20, 30] {
                        for _ in 0..<10 { try service.writeLine("Text=\(text)") }
                        try await RecordBed.waitForValues(count + 1, in: file)
                    }
                    for _ in 0..<60 { try service.writeLine("Text=\(text)") }
                    let end = try await recorder.nextEvent("recorded")
                    #expect(end["reason"] == "diskFull" && end.number("lost") ?? 0 > 0)
                    let error = try await recorder.nextEvent("error")
                    #expect(error["reason"] == "diskFull")
                    try await recorder.nextLine(beginningWith: "status 1")
                    let info = try await recorder.nextEvent("recording")
                    #expect(info["complete"] == true && info.number("values") == end.number("values"))
                    #expect(info.number("values") ?? 0 > 30)
                    _ = try await recorder.waitForExit()
                }
            }
        }
    }

    @Test(
        .backstop, .enabled(if: geteuid() == 0, "only root can mount a disk"),
        .enabled(if: mayMount, "no mount namespaces here"))
    func aReadOnlyDiskIsToldAndReadFrom() async throws {
        try await withFolder { folder in
            try await ChildProcess.with(ElementalProcess.path, RecordBed.publish()) { service in
                let target = "127.0.0.1:\(try await service.listeningPort())"
                let file = "\(folder)/there.mcap"
                try await ChildProcess.with(ElementalProcess.path, ["record", target, "--to", file, "--json"]) {
                    recorder in
                    try await recorder.nextEvent("serviceState") { $0["state"] == "connected" }
                    recorder.send(signal: SIGTERM)
                    let status = try await recorder.waitForExit()
                    #expect(status == .exited(0))
                }
                let script = """
                    mount --bind '\(folder)' '\(folder)' && mount -o remount,ro,bind '\(folder)' || exit 9
                    "$0" record \(target) --json --to '\(folder)/new.mcap'
                    echo "status $?"
                    "$0" info '\(file)' --json
                    """
                let arguments = ["--mount", "sh", "-c", script, try ElementalProcess.path]
                let lines = try await ChildProcess.run("unshare", arguments).split(separator: "\n").map(String.init)
                let events = lines.compactMap { JSONLine($0) }
                #expect(
                    events.first { $0.event == "error" }?["reason"] == "readOnly" && lines.contains("status 1"),
                    "\(lines)")
                #expect(events.first { $0.event == "recording" }?["complete"] == true, "\(lines)")
                #expect(!FileManager.default.fileExists(atPath: "\(folder)/new.mcap"))
            }
        }
    }

    private static var mayMount: Bool { (try? ProcessSpawn.run("unshare", ["--mount", "true"])) == .exited(0) }
}
