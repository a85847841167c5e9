import Elemental
import Testing

@testable import ElementalCLI

struct ElementScriptTests {
    @Test
    func aFileIsElementsWithCommandsBelow() throws {
        let script = try ElementScript(
            parsing: """
                # a comment

                1:CPU temperature:float:ro:unit °C
                    read 5: awk '{ print $1 / 1000 }' /sys/temp
                2:Fan:bool=off
                \twrite:  xargs gpioset gpiochip0

                3:Target:float:0...30=20
                    # another
                    write: tee target: x
                    read 0.5: cat target
                4:Log:string:ro
                 follow: journalctl -f
                5:Plain:uint8

                """)
        #expect(script.entries.map(\.spec.definition.name) == ["CPU temperature", "Fan", "Target", "Log", "Plain"])
        #expect(script.entries.map(\.spec.initial) == [nil, "off", "20", nil, nil])
        #expect(
            script.entries[0].commands
                == [.init(purpose: .read, seconds: 5, text: "awk '{ print $1 / 1000 }' /sys/temp")])
        #expect(script.entries[1].commands == [.init(purpose: .write, text: "xargs gpioset gpiochip0")])
        #expect(
            script.entries[2].commands
                == [
                    .init(purpose: .write, text: "tee target: x"),
                    .init(purpose: .read, seconds: 0.5, text: "cat target"),
                ])
        #expect(script.entries[3].commands == [.init(purpose: .follow, text: "journalctl -f")])
        #expect(script.entries[4].commands.isEmpty)
    }

    @Test(arguments: [
        ("", "no element"), ("# only", "no element"), ("  read 1: x", "line 1"), ("1:A:float\n  read: x", "line 2"),
        ("1:A:float\n  read 0: x", "seconds"), ("1:A:float\n  read 1e9: x", "seconds"),
        ("1:A:float\n  read 1:", "missing"), ("1:A:float\n  reed 1: x", "'reed 1'"), ("1:A:float\n  x", "line 2"),
        ("1:A:float\nread 1: x", "line 2: 'read' begins a command; indent it"),
        ("follow: x", "'follow' begins a command"), ("1:A:floot", "line 1"), ("1:A:float:ro\n  write: x", "read-only"),
        ("1:A:float:wo\n  read 1: x", "write-only"),
        ("1:A:float\n  read 1: x\n  follow: y", "one command that reads"),
        ("1:A:float\n  write: x\n  write: y", "one command that takes"),
        ("1:A:float\n  write: x\n  sink: y", "one command that takes"), ("1:A:float:ro\n  sink: x", "read-only"),
        ("1:A:float\n1:B:float", "share"),
    ])
    func whatIsWrongIsSaid(text: String, part: String) {
        #expect { try ElementScript(parsing: text) } throws: { "\($0)".contains(part) }
    }

    @Test
    func linesMayEndAsWindowsEndsThem() throws {
        let text = "# a comment\n\n1:A:string=x\n  read 1: echo a\n2:B:float\n"
        #expect(try ElementScript(parsing: text.replacing("\n", with: "\r\n")) == ElementScript(parsing: text))
    }

    @Test
    func ofErrorsAsMuchIsShownAsAMinuteMayHave() {
        func take(_ text: String, _ errors: inout CommandErrors, after seconds: Int) -> [String] {
            let time = ContinuousClock.now.advanced(by: .seconds(seconds * 1000))
            return Array(text.utf8).withUnsafeBytes { errors.take($0, at: time) }
        }
        var errors = CommandErrors()
        #expect(take("a\r\n\nb", &errors, after: 0) == ["a"])
        #expect(errors.finish() == ["b"])
        let long = take(String(repeating: "x", count: 5000) + "\nc\n", &errors, after: 0)
        #expect(long.map(\.utf8.count) == [CommandErrors.maximumLineLength, 1])
        let flood = take(String(repeating: "y\n", count: 100_000), &errors, after: 0)
        #expect(flood.count < 100 && flood.allSatisfy { $0 == "y" })
        let later = take("d\n", &errors, after: 1)
        #expect(later.count == 2 && later[0].hasSuffix("bytes more)") && later[1] == "d")
        #expect(errors.finish().isEmpty)
    }

    @Test
    func onlyOtherElementsMakeAnotherService() throws {
        let one = try ElementScript(parsing: "1:A:float=1\n  read 1: x")
        #expect(one == (try ElementScript(parsing: "# the same\n1:A:float=1\n  read 1: x\n")))
        let other = try ElementScript(parsing: "1:A:float=1\n  read 2: x")
        #expect(one != other && one.hasElements(of: other))
        #expect(!one.hasElements(of: try ElementScript(parsing: "1:A:float=2\n  read 1: x")))
        #expect(!one.hasElements(of: try ElementScript(parsing: "1:A:float=1\n  read 1: x\n  sink: y")))
        #expect(!one.hasElements(of: try ElementScript(parsing: "1:A:double=1\n  read 1: x")))
    }

    @Test
    func ofAFloodTheNewestLinesAreLeft() {
        func take(_ text: String, _ lines: inout NewestLines) -> (lines: [String], isFlood: Bool) {
            let (taken, isFlood) = Array(text.utf8).withUnsafeBytes { lines.take($0) }
            return (taken.compactMap { try? $0.get() }, isFlood)
        }
        var lines = NewestLines(limit: 100)
        #expect(take("1\n2\n3", &lines) == (["1", "2"], false))
        #expect(take("4\n", &lines) == (["34"], false))
        let flood = take((0..<1000).map { "\($0)\n" }.joined() + "x", &lines)
        #expect(flood.isFlood)
        #expect(flood.lines == (936..<1000).map { "\($0)" })
        #expect(take("y\n", &lines) == (["xy"], false))
        // Few lines can be a flood too.
        let long = take(String(repeating: "z", count: CommandProcess.pieceByteCount - 1) + "\n", &lines)
        #expect(long.isFlood)
        #expect(take("last", &lines) == ([], false))
        #expect((try? lines.last()?.get()) == "last")
    }
}

private func == (a: (lines: [String], isFlood: Bool), b: ([String], Bool)) -> Bool {
    a.lines == b.0 && a.isFlood == b.1
}
