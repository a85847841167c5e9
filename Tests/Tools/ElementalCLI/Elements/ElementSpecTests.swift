import Elemental
import Testing

@testable import ElementalCLI

/// An element as it is spelled on the command line says all that a catalogue can.
struct ElementSpecTests {
    @Test
    func allThatACatalogueSays() throws {
        let speed = try ElementSpec(parsing: "7:Speed:float:-0.5...2.5:step 0.1:unit m/s:udp:latest:ro=1.5")
        #expect(speed.initial == "1.5")
        let same = try ElementDefinition(
            id: 7, name: "Speed", type: .float, transport: .udp, unit: "m/s", range: -0.5...2.5,
            step: Double(Float(0.1)), access: .read, latest: true)
        #expect(speed.definition == same)
        // In any order.
        #expect(try ElementSpec(parsing: "7:Speed:float:ro:unit m/s:latest:step 0.1:udp:-0.5...2.5").definition == same)
        let plain = try ElementSpec(parsing: "1:a=b:uint8=5").definition
        #expect(plain == (try ElementDefinition(id: 1, name: "a=b", type: .uint8)))
        #expect(try ElementSpec(parsing: "1:a:uint8:0x10 ... 0x20").definition.range == 16...32)
        #expect(try ElementSpec(parsing: "1:a:int64:-9...9:tcp:wo").definition.access == .write)
        #expect(
            try ElementSpec(parsing: "1:a:float3:-0.1...1=0,0,1").definition
                == Element<Vector3>(1, "a", range: -0.1...1).definition)
    }

    @Test(
        "choices are numbers with names or texts",
        arguments: [
            ("uint8:choices 0 off,1 on", ["off 0", "on 1"]), ("uint8:choices off,on", ["off 0", "on 1"]),
            (
                "int8:choices -1 left, middle , 5 far right,further",
                ["left -1", "middle 0", "far right 5", "further 6"]
            ),
            ("uint16:choices 0x10 a b,300", ["a b 16", "300 300"]),
            ("string:choices slow,very fast", ["slow slow", "very fast very fast"]),
            (#"string:choices a\,b,c\:d,e\=f,g\\h"#, ["a,b a,b", "c:d c:d", "e=f e=f", #"g\h g\h"#]),
            ("uint64:choices 18446744073709551615 most", ["most 18446744073709551615"]),
        ] as [(String, [String])])
    func choices(_ options: String, _ expected: [String]) throws {
        let definition = try ElementSpec(parsing: "1:a:\(options)").definition
        #expect(definition.choices.map { "\($0.name) \($0.value)" } == expected)
    }

    @Test(
        "a history's limits are values, a time and bytes, in any order",
        arguments: [
            ("history", HistoryLimits()), ("history 24h", HistoryLimits(seconds: 86_400)),
            ("history 1000", HistoryLimits(count: 1000)), ("history 4MB", HistoryLimits(byteCount: 4_000_000)),
            ("timed:history 2d 10  500kB:ro", HistoryLimits(count: 10, seconds: 172_800, byteCount: 500_000)),
            ("history 90s", HistoryLimits(seconds: 90)), ("history 1.5m", HistoryLimits(seconds: 90)),
        ])
    func history(_ options: String, _ limits: HistoryLimits) throws {
        #expect(try ElementSpec(parsing: "1:a:float:\(options)=1").definition.history == limits)
    }

    @Test(
        arguments: [
            "history 0", "history 1 2", "history 1h 2m", "history 1x", "history -1", "history 5MB 1kB",
            "history 5000MB",
            "history 0s", "history 0.5s", "history 1e30d", "history nan", "history:history", "history 9999999999999MB",
            "history -99999999999999MB",
        ])
    func noHistory(_ options: String) {
        #expect(throws: (any Error).self) { try ElementSpec(parsing: "1:a:float:\(options)") }
    }

    @Test
    func theLeastRoles() throws {
        let usual = try ElementSpec(parsing: "1:Door:bool").definition
        #expect(usual.readers == .plain && usual.writers == .control)
        let door = try ElementSpec(parsing: "1:Door:bool:readers observe:writers admin=off").definition
        #expect(door.readers == .observe && door.writers == .admin)
        let other = try ElementSpec(parsing: "1:Door:bool:writers plain:readers control").definition
        #expect(other.readers == .control && other.writers == .plain)
    }

    @Test
    func anInitialValueMayBeAChoice() throws {
        let spec = try ElementSpec(parsing: "1:Mode:uint8:choices off,cool down:rw=cool down")
        #expect(spec.initial == "cool down" && spec.definition.choices.count == 2)
        #expect(try ElementSpec(parsing: "1:Text:string=a:b=c\\").initial == "a:b=c\\")
        #expect(try ElementSpec(parsing: #"1:Angle:float:unit \:\=°=5"#).definition.unit == ":=°")
    }

    @Test(
        "a mistake is told with its place",
        arguments: [
            ("1:a:float:0..5", "'0..5' (at character 11) is unknown; give"),
            ("1:a:flot", "'flot' (at character 5) is not a TYPE; did you mean"),
            ("1:a:float:0...x", "'0...x' (at character 11) is invalid: 'x' is not a valid float"),
            ("1:a:float:5...0", "an inverted range"),
            ("1:a:bool:readers", "'readers' (at character 10) needs a role: plain, observe, control, admin"),
            ("1:a:bool:writers root", "needs a role"), ("1:a:bool:writers Admin", "needs a role"),
            ("1:a:bool:writers admin:writers admin", "a second option of its kind"),
            ("1:a:float:...5", "lacks a number"),
            ("1:a:uint8:0...256", "'256' is not a valid uint8: give a whole number"),
            ("1:a:float:0...inf", "not a finite number"), ("1:a:float:step", "lacks a number"),
            ("1:a:float:step 0", "the step is invalid; give a finite number above 0"),
            ("1:a:bool:0...1", "means nothing for type bool"), ("1:a:float2:step 1", "means nothing for type float2"),
            ("1:a:float4x4:0...1", "means nothing for type float4x4"), ("1:a:float2:0...1=0,2", "INITIAL: '0,2' is"),
            ("1:a:float:unit", "needs a unit"),
            ("1:a:float:0...1:0...2", "'0...2' (at character 17) is a second option"),
            ("1:a:float:udp:tcp", "a second option of its kind"),
            ("1:a:float:latest:latest", "a second option of its kind"),
            ("1:a:float:choices 1,2", "means nothing for type float"), ("1:a:uint8:choices", "lacks a choice"),
            ("1:a:uint8:choices a,,b", "lacks a choice"), ("1:a:uint8:choices a,a", "'a' is listed twice"),
            ("1:a:uint8:choices 1 a,1 b", "number of another"),
            ("1:a:uint8:choices 255 a,b", "'b' (at character 25) has the number 256"),
            ("1:a:uint8:0...1:choices 0 a,2 b", "'b' is outside the range"), ("1:a:float:udp x", "is unknown"),
            ("1:a:uint8:choices off,on=5", "INITIAL: '5' is outside"),
            ("1:a:uint8:choices off,on=up", "not one of its choices"), ("1:a:float:0...1=2", "INITIAL: '2' is outside"),
            ("1:a:float:wo=1", "write-only"), ("1:a", "TYPE is missing"),
        ])
    func mistakes(_ spec: String, _ message: String) {
        let problem = #expect(throws: (any Error).self) { try ElementSpec(parsing: spec) }
        let text = problem.map { "\($0)" } ?? ""
        #expect(text.contains(message), "\(text)")
    }

    @Test("an endless list of choices is an error, not a long wait")
    func manyChoices() {
        let list = String(repeating: "a,", count: 500_000)
        #expect(throws: (any Error).self) { try ElementSpec(parsing: "1:a:string:choices \(list)b") }
    }
}
