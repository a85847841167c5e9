import TestSupport
import Testing

/// Elements with choices at the command line: their names are typed and shown.
struct ChoiceCommandTests {
    static let elements = [
        "1:Mode:uint8:choices off,heat,7 cool down=off", "2:Fan:string:choices slow,fast=slow",
        "3:Power:float:0...0.1:step 0.01:unit kW=0.1",
    ]

    @Test("a choice is set by its name or number, and shown by its name")
    func names() async throws {
        try await Robot.with(Self.elements) { service, target in
            let set = try await ElementalProcess.run("set", target, "Mode=Cool Down", "Fan=FAST")
            #expect(set.status == .exited(0) && set.output == ["Mode=cool down", "Fan=fast"], "\(set)")
            try await service.nextLine { $0.contains(#""value":7,"choice":"cool down""#) }
            let number = try await ElementalProcess.run("set", target, "Mode=0x1", "--json")
            #expect(number.output.first?.contains(#""element":"Mode","value":1,"choice":"heat""#) == true, "\(number)")
            let get = try await ElementalProcess.run("get", target, "Mode", "Fan", "Power")
            #expect(get.output == ["Mode=heat", "Fan=fast", "Power=0.1 kW"], "\(get)")
            try service.writeLine("Mode=off")
            try await eventually("the service has set it") {
                try await ElementalProcess.run("get", target, "Mode").output == ["Mode=off"]
            }
            let watch = try await ElementalProcess.run("watch", target, "Mode", "--count", "1")
            #expect(watch.output == ["Mode=off"], "\(watch)")
        }
    }

    @Test("describe shows the choices, in JSON with their numbers")
    func description() async throws {
        try await Robot.with(Self.elements) { service, target in
            let table = try await ElementalProcess.run("describe", target).output
            #expect(table.contains { $0.contains("off, heat, cool down") && $0.hasSuffix("  off") }, "\(table)")
            #expect(table.contains { $0.contains("0...0.1 step 0.01") }, "\(table)")
            let json = try await ElementalProcess.run("describe", target, "--json").output
            let mode = #""choices":[{"value":0,"name":"off"},{"value":1,"name":"heat"},{"value":7,"name":"cool down"}]"#
            #expect(json.count == 4 && json[1].contains(mode + #","value":0"#), "\(json)")
            #expect(json[2].contains(#""choices":["slow","fast"],"value":"slow""#), "\(json)")
            #expect(json[3].contains(#""choices":null"#), "\(json)")
        }
    }

    @Test("a service refuses what a client takes that does not know the choices")
    func refusedByTheService() async throws {
        try await Robot.with(Self.elements) { service, target in
            let set = try await ElementalProcess.run("set", target, "Mode=2", "--element", "1:Mode:uint8", "--json")
            #expect(set.status == .exited(2), "\(set)")
            #expect(set.errors.joined().contains("not one of the element's choices"), "\(set)")
        }
    }
}
