import Foundation
import TestSupport
import Testing

/// The Debian package that `Samples/make-deb` makes, here of the tests' own build.
@Suite(.enabled(if: DebianScripts.unavailableReason == nil, Comment(rawValue: DebianScripts.unavailableReason ?? "")))
struct PackageTests {
    @Test(
        .long,
        .enabled(if: DebianScripts.missing("lintian") == nil, "lintian is missing: run Tests/install bare-debian"),
        .backstop)
    func lintianFindsNothingInIt() async throws {
        let package = try await DebianScripts.package.value
        // Beside the other tests: it takes half a minute.
        try await ChildProcess.run(
            "lintian", ["--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0", package.path],
            within: Patience.wait * 4)
    }

    @Test(.backstop)
    func itSaysWhatItIsAndWhatItNeeds() async throws {
        let package = try await DebianScripts.package.value
        let version = try await ElementalProcess.run("--version").output.first
        let fields = try await ChildProcess.run("dpkg-deb", ["-f", package.path])
        for field in [
            "Package: elemental", "Version: \(version ?? "?")", "Maintainer: ", "Section: net", "Description: ",
            "Recommends: avahi-daemon", "libavahi-compat-libdnssd1 (>= ", "libsodium23 (>= ", "libc6 (>= ",
        ] {
            #expect(fields.contains(field), "\(fields)")
        }
        // A person's changes to these outlive an upgrade.
        let configuration = try String(contentsOfFile: package.content + "/DEBIAN/conffiles", encoding: .utf8)
        for file in try FileManager.default.subpathsOfDirectory(atPath: package.content + "/etc") {
            var isFolder: ObjCBool = false
            let isThere = FileManager.default.fileExists(
                atPath: "\(package.content)/etc/\(file)", isDirectory: &isFolder)
            #expect(isThere && (isFolder.boolValue || configuration.contains("/etc/\(file)\n")), "\(file)")
        }
    }

    @Test(.backstop)
    func itsFilesAreWhereDebianLooksForThem() async throws {
        let content = try await DebianScripts.package.value.content
        for file in [
            "usr/bin/elemental", "usr/share/doc/elemental/copyright", "usr/share/doc/elemental/changelog.gz",
            "usr/share/doc/elemental/examples/lamp.elements", "lib/udev/rules.d/70-elemental.rules",
            "etc/elemental/system-monitor.elements",
        ] {
            #expect(FileManager.default.fileExists(atPath: "\(content)/\(file)"), "\(file)")
        }
        // Each file has the checksum that the package says.
        try await ChildProcess.run(
            "sh", ["-c", #"cd "$0" && md5sum --check --quiet --strict DEBIAN/md5sums"#, content])
    }

    @Test(.backstop, arguments: ["postinst", "prerm", "postrm"])
    func itsScriptsAreShellScripts(_ name: String) async throws {
        let script = try await DebianScripts.package.value.content + "/DEBIAN/" + name
        #expect(FileManager.default.isExecutableFile(atPath: script))
        #expect(try String(contentsOfFile: script, encoding: .utf8).hasPrefix("#!/bin/sh\n"))
        try await ChildProcess.run("sh", ["-n", script])
    }

    @Test(.backstop)
    func everyCommandHasAManualPage() async throws {
        struct Command: Decodable {
            let commandName: String
            let superCommands: [String]?
            let subcommands: [Command]?

            var pages: [String] {
                guard commandName != "help" else { return [] }
                let name = ((superCommands ?? []) + [commandName]).joined(separator: "-")
                return [name] + (subcommands ?? []).flatMap(\.pages)
            }
        }
        struct Told: Decodable { let command: Command }

        let content = try await DebianScripts.package.value.content
        let told = try await ElementalProcess.run("--experimental-dump-help").output.joined(separator: "\n")
        let pages = try JSONDecoder().decode(Told.self, from: Data(told.utf8)).command.pages
        #expect(pages.count > 30 && pages.contains("elemental-trust-list"))
        let files = try FileManager.default.contentsOfDirectory(atPath: content + "/usr/share/man/man1")
        #expect(Set(files) == Set(pages.map { $0 + ".1.gz" }))
        // What argument-parser's own writer loses: examples line by line, and what is not ASCII.
        let page = try await ChildProcess.run(
            "man", ["-l", content + "/usr/share/man/man1/elemental-publish.1.gz"],
            environment: ["MANWIDTH": "120", "MANPAGER": "cat", "LC_ALL": "C.UTF-8"])
        #expect(page.contains("\n         1:Temperature:float:ro:unit °C\n             read 5: awk"), "\(page)")
    }

    @Test(.backstop)
    func shellsCompleteCommands() async throws {
        let content = try await DebianScripts.package.value.content
        let script = """
            PATH=\(content)/usr/bin:$PATH
            source \(content)/usr/share/bash-completion/completions/elemental
            compopt() { :; } # It works while a completion is made.
            COMP_WORDS=(elemental pub) COMP_CWORD=1 COMP_LINE='elemental pub' COMP_POINT=13
            "$(complete -p elemental | sed 's/.*-F \\([^ ]*\\).*/\\1/')" elemental pub elemental
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        #expect(try await ChildProcess.run("bash", ["-c", script]) == "publish")
        for (shell, file) in [
            ("zsh", "zsh/vendor-completions/_elemental"), ("fish", "fish/vendor_completions.d/elemental.fish"),
        ] {
            let path = content + "/usr/share/" + file
            #expect(try String(contentsOfFile: path, encoding: .utf8).contains("---complete \(shell)"))
            guard FileManager.default.isExecutableFile(atPath: "/usr/bin/" + shell) else { continue }
            try await ChildProcess.run(shell, ["-n", path])
        }
    }

    @Test(.backstop)
    func theUnitsAreValidAndConfined() async throws {
        let content = try await DebianScripts.package.value.content
        let folder = content + "/lib/systemd/system/"
        let units = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(
            units == [
                "elemental-c64-gateway@.service", "elemental-dashboard.service", "elemental-mqtt.service",
                "elemental-publish@.service", "elemental-serial@.service", "elemental-system-monitor.service",
            ])
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze") else { return }
        // A root with what units stand on and nothing else: programs that may be run, and systemd's own targets.
        let root = content + "-units"
        let files = FileManager.default
        for folder in ["/lib/systemd/system", "/usr/bin", "/bin"] {
            try files.createDirectory(atPath: root + folder, withIntermediateDirectories: true)
        }
        for program in ["/usr/bin/elemental", "/bin/kill"] {
            try files.copyItem(atPath: "/bin/true", toPath: root + program)
        }
        let own = "/lib/systemd/system/"
        for unit in try files.contentsOfDirectory(atPath: own)
        where unit.hasSuffix(".target") || unit.hasSuffix(".slice") {
            try Data(contentsOf: URL(filePath: own + unit)).write(to: URL(filePath: root + own + unit))
        }
        for unit in units {
            try files.copyItem(atPath: folder + unit, toPath: root + own + unit)
            try await ChildProcess.with("systemd-analyze", ["verify", "--man=no", "--root", root, root + own + unit]) {
                let status = try await $0.waitForExit()
                // It says of a line that it does not know that it ignores it, with status 0.
                #expect(status == .exited(0) && $0.lines(of: .error).isEmpty, "\($0.transcript)")
            }
            // From 0, confined in every way, to 10.
            try await ChildProcess.run(
                "systemd-analyze", ["security", "--offline=yes", "--threshold=30", folder + unit])
        }
    }

    @Test(
        .long,
        .enabled(
            if: DebianScripts.noInstallationReason == nil, Comment(rawValue: DebianScripts.noInstallationReason ?? "")),
        .backstop)
    func inABareDebianItIsInstalledUsedUpgradedAndPurged() async throws {
        let package = try await DebianScripts.package.value
        try await ChildProcess.with(Repository.path("Tests/debian/check"), [package.path]) { child in
            child.closeInput()
            let status = try await child.waitForExit(within: Patience.wait * 9)
            let passed = child.lines(of: .output).filter { $0.hasPrefix("passed ") }
            #expect(status == .exited(0), "\(child.transcript)")
            #expect(passed.count == 10, "\(child.transcript)")
        }
    }

    @Test(arguments: [
        [], ["--unknown", "/tmp"], ["/tmp", "/tmp"], ["--binary"], ["--verify", "--binary", "/bin/true", "/tmp"],
    ])
    func mistakesAreTold(_ arguments: [String]) async throws {
        try await ChildProcess.with(Repository.path("Samples/make-deb"), arguments) { child in
            try await child.expectExit(64)
            #expect(!child.lines(of: .error).isEmpty)
        }
    }
}
