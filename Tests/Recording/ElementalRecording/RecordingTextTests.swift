import Elemental
import ElementalFollowing
import Foundation
import TestSupport
import Testing

@testable import ElementalRecording

/// Recordings as text for other programs.
struct RecordingTextTests {
    private static let elements: ElementCatalogue = [
        Element<Float>(1, "Speed", unit: "m/s"), Element<String>(2, "A \"note\", long"), Element<Vector2>(3, "Aim"),
        Element<UInt8>(4, "Mode", choices: [1: "on"]),
    ]

    /// Whoever publishes an element chooses its name, its unit and its texts.
    @Test
    func aSpreadsheetRunsNothing() async throws {
        let elements: ElementCatalogue = [
            Element<String>(1, "=cmd|'/c calc'!A0", unit: "@unit"), Element<Int8>(2, "Level", unit: "+x"),
        ]
        func text(_ form: RecordingText.Form, _ isForSpreadsheets: Bool) async throws -> [Substring] {
            try await RecorderTests.withRecorder(RecorderTests.options(RecorderTests.TestClock()), elements) {
                recorder, add in
                try add(.string("-1+1"), "=cmd|'/c calc'!A0")
                try add(.int8(-5), "Level")
                _ = await recorder.finish()
                let recording = try await Recording(path: recorder.path)
                var text = RecordingText(recording, form, isForSpreadsheets: isForSpreadsheets)
                var result = text.head()
                for try await item in recording.items { result += text.text(of: item) }
                return (result + text.end()).split(separator: "\r\n")
            }
        }
        let lines = try await text(.csv, true)
        #expect(lines[1].hasSuffix(",'=cmd|'/c calc'!A0,'-1+1,'@unit") && lines[2].hasSuffix(",Level,-5,'+x"))
        let wide = try await text(.wideCSV, true)
        #expect(wide[0] == "time,'=cmd|'/c calc'!A0,Level" && wide.last?.hasSuffix(",'-1+1,-5") == true)
        let plain = try await text(.csv, false)
        #expect(plain[1].hasSuffix(",=cmd|'/c calc'!A0,-1+1,@unit"))
    }

    private func text(_ form: RecordingText.Form) async throws -> String {
        let time = RecorderTests.TestClock()
        return try await RecorderTests.withRecorder(RecorderTests.options(time), Self.elements) { recorder, add in
            try add(.float(0.5), "Speed")
            try add(.string("one, \"two\"\r\nthree"), "A \"note\", long")
            time.advance(.seconds(1))
            recorder.note(
                .state(
                    RecorderTests.rover,
                    .away(FollowingProblem(.unreachable, code: "connectionFailed", "gone, for now"), retryIn: nil)))
            RecorderTests.connect(recorder, RecorderTests.rover, Self.elements)
            try add(.float2([1, .nan]), "Aim")
            try add(.uint8(1), "Mode")
            _ = await recorder.finish()
            let recording = try await Recording(path: recorder.path)
            var text = RecordingText(recording, form)
            var result = text.head()
            for try await item in recording.items { result += text.text(of: item) }
            return result + text.end()
        }
    }

    @Test
    func csvIsThatOfRFC4180() async throws {
        let instance = "\"Rover / \"\"1\"\"\""
        #expect(
            try await text(.csv)
                == [
                    "time,service,instance,element,value,unit",
                    "2023-11-14T22:13:20.123458Z,robot,\(instance),Speed,0.5,m/s",
                    "2023-11-14T22:13:20.123459Z,robot,\(instance),\"A \"\"note\"\", long\",\"one, \"\"two\"\"\r\nthree\",",
                    "2023-11-14T22:13:21.123462Z,robot,\(instance),Aim,\"1.0,nan\",",
                    "2023-11-14T22:13:21.123463Z,robot,\(instance),Mode,1,",
                    "",
                ].joined(separator: "\r\n"))
    }

    @Test
    func theWideFormHasAColumnForEachElement() async throws {
        #expect(
            try await text(.wideCSV)
                == [
                    "time,Speed,\"A \"\"note\"\", long\",Aim,Mode", "2023-11-14T22:13:20.123458Z,0.5,,,",
                    "2023-11-14T22:13:20.123459Z,0.5,\"one, \"\"two\"\"\r\nthree\",,",
                    // Nothing is known of it after it was away.
                    "2023-11-14T22:13:21.123462Z,,,\"1.0,nan\",", "2023-11-14T22:13:21.123463Z,,,\"1.0,nan\",1", "",
                ].joined(separator: "\r\n"))
    }

    @Test
    func jsonHasAnObjectALine() async throws {
        let lines = try await text(.json).split(separator: "\n").map(String.init)
        #expect(lines.count == 7)
        let value = try #require(JSONLine(lines[1]))
        #expect(value.event == "value" && value["element"] == "Speed" && value.number("value") == 0.5)
        #expect(lines[1].hasSuffix("\"time\":1700000000.123458}"))
        #expect(JSONLine(lines[3])?["message"] == "gone, for now")
        #expect(JSONLine(lines[6])?["choice"] == "on")
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000000Z"), (951_782_400_000_000_999, "2000-02-29T00:00:00.000000Z"),
        (951_868_799_999_999_999, "2000-02-29T23:59:59.999999Z"),
        (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000000Z"),
        (1_767_225_599_000_001_000, "2025-12-31T23:59:59.000001Z"),
    ])
    func timesAreThoseOfTheCalendar(_ nanoseconds: UInt64, _ text: String) {
        #expect(Timestamp(nanoseconds: nanoseconds).text == text)
    }
}
