import ArgumentParser
import Elemental
import Support

/// A file of elements, each with commands that give its readings or take its values. It describes a device without a program.
///
/// ```text
/// # A line that is not indented is an element, as --element takes it.
/// 1:CPU temperature:float:ro:unit °C
///     read 5: awk '{ print $1 / 1000 }' /sys/class/thermal/thermal_zone0/temp
/// 2:Fan:uint8:0...1=0
///     sink: while read -r value; do echo $value > /sys/class/leds/fan/brightness; done
/// 3:Log:string:ro
///     follow: journalctl -f -n 0 -o cat
/// ```
struct ElementScript: Sendable, Equatable {
    /// The purpose of a command, by its word in the file.
    enum Purpose: String, CaseIterable, Sendable {
        /// Its output is a reading. It runs again after an interval.
        case read
        /// Each line of its output is a reading. It keeps running.
        case follow
        /// It receives a value that a client sets on its standard input.
        case write
        /// It receives each value that a client sets as a line on its standard input. It keeps running.
        case sink

        var takesValues: Bool { self == .write || self == .sink }
    }

    struct Command: Sendable, Equatable {
        let purpose: Purpose
        /// The interval of a command that reads, in seconds.
        var seconds = 0.0
        /// For `/bin/sh -c`.
        let text: String
    }

    struct Entry: Sendable {
        let spec: ElementSpec
        var commands: [Command] = []

        var takesValues: Bool { commands.contains { $0.purpose.takesValues } }
    }

    let entries: [Entry]

    /// The minimum interval in seconds. More frequent readings need a program of their own.
    private static let leastInterval = 0.05

    init(parsing text: String) throws(ValidationError) {
        var entries: [Entry] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isLineEnd).enumerated() {
            func problem(_ what: String) -> ValidationError { ValidationError("line \(index + 1): \(what)") }
            let content = line.drop { $0 == " " || $0 == "\t" }
            if String(content).trimmed.isEmpty || content.first == "#" { continue }
            if content.startIndex == line.startIndex {
                do {
                    entries.append(Entry(spec: try ElementSpec(parsing: String(content).trimmed)))
                } catch {
                    let word = String(content.prefix { $0.isLetter })
                    throw problem(
                        Purpose(rawValue: word) != nil
                            ? "'\(word)' begins a command; indent it below its element" : "\(error)")
                }
                continue
            }
            guard !entries.isEmpty else { throw problem("a command needs an element above it") }
            do throws(ValidationError) {
                let command = try Self.command(content)
                try Self.check(command, of: entries[entries.count - 1])
                entries[entries.count - 1].commands.append(command)
            } catch {
                throw problem(error.description)
            }
        }
        guard !entries.isEmpty else { throw ValidationError("it contains no element") }
        self.entries = entries
        _ = try checked { try ElementCatalogue(entries.map(\.spec.definition)) }
    }

    private static func command(_ line: Substring) throws(ValidationError) -> Command {
        guard let colon = line.firstIndex(of: ":") else {
            throw ValidationError(
                "write 'read SECONDS: COMMAND', 'follow: COMMAND', 'write: COMMAND' or 'sink: COMMAND'")
        }
        let words = line[..<colon].split { $0 == " " || $0 == "\t" }
        let text = String(line[line.index(after: colon)...]).trimmed
        guard !text.isEmpty else { throw ValidationError("the command is missing") }
        guard let purpose = words.first.flatMap({ Purpose(rawValue: String($0)) }),
            words.count == (purpose == .read ? 2 : 1)
        else {
            throw ValidationError("'\(line[..<colon].excerpt)' is not 'read SECONDS', 'follow', 'write' or 'sink'")
        }
        guard purpose == .read else { return Command(purpose: purpose, text: text) }
        guard let seconds = Double(words[1]), (leastInterval...86400).contains(seconds) else {
            throw ValidationError("read takes seconds from \(leastInterval) to 86400, not '\(words[1].excerpt)'")
        }
        return Command(purpose: purpose, seconds: seconds, text: text)
    }

    private static func check(_ command: Command, of entry: Entry) throws(ValidationError) {
        let access = entry.spec.definition.access
        switch command.purpose {
        case .read, .follow:
            guard access.contains(.read) else { throw ValidationError("a write-only element cannot be read") }
            guard entry.commands.allSatisfy(\.purpose.takesValues) else {
                throw ValidationError("an element can have only one command that reads")
            }
        case .write, .sink:
            guard access.contains(.write) else { throw ValidationError("a read-only element cannot be set") }
            guard !entry.takesValues else {
                throw ValidationError("an element can have only one command that takes its values")
            }
        }
    }

    /// Whether both have the same elements, and commands that take the values of the same ones.
    func hasElements(of other: ElementScript) -> Bool {
        entries.elementsEqual(other.entries) {
            $0.spec.definition == $1.spec.definition && $0.spec.initial == $1.spec.initial
                && $0.takesValues == $1.takesValues
        }
    }

    static func == (a: ElementScript, b: ElementScript) -> Bool {
        a.hasElements(of: b) && a.entries.elementsEqual(b.entries) { $0.commands == $1.commands }
    }
}
