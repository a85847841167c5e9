internal import Elemental
internal import ElementalFollowing
internal import ElementalWire
internal import Support

/// Converts a recording to text for other programs, item by item.
public struct RecordingText: Sendable {
    /// The format of the text.
    public enum Form: Sendable, Hashable {
        /// Comma-separated values as in RFC 4180: a line for each value, with the columns time, service, instance,
        /// element, value and unit. The time is when the value was measured, if known, otherwise when it was recorded.
        case csv
        /// The same with a column for each element: a line for each time of recording, with the newest values of all
        /// elements.
        case wideCSV
        /// A JSON object per line, in the format of `elemental watch --json`.
        case json
    }

    private struct Column: Hashable {
        var service: Int
        var name: String
    }

    private let services: [RecordedService]
    /// In nanoseconds since 1970; the items' times are added to it.
    private let start: UInt64
    /// The elements to include; `nil` for all.
    private let wanted: Set<Column>?
    private let form: Form
    private let isForSpreadsheets: Bool
    private var columns: [Column: Int] = [:]
    private var cells: [String] = []
    /// The time whose line is not complete yet.
    private var open: Duration?

    /// Creates text for a recording.
    ///
    /// - Parameter isForSpreadsheets: whether to put an apostrophe before a text in CSV that a spreadsheet would
    ///   execute as a formula. Names and values come from other machines.
    public init(_ recording: Recording, _ form: Form, isForSpreadsheets: Bool = false) {
        self.init(recording.services, begunAt: recording.start, form, isForSpreadsheets: isForSpreadsheets)
    }

    /// Creates text for items that do not come from a file.
    ///
    /// - Parameters:
    ///   - start: in nanoseconds since 1970; the items' times are added to it.
    ///   - only: the names of the elements to include; empty for all.
    package init(
        _ services: [RecordedService], begunAt start: UInt64, _ form: Form, isForSpreadsheets: Bool,
        only: [String] = []
    ) {
        self.services = services
        self.start = start
        let catalogues = services.enumerated().lazy.flatMap { place, service in service.catalogues.map { (place, $0) } }
        let columns = catalogues.flatMap { place, catalogue in
            only.compactMap { catalogue[$0] }.map { Column(service: place, name: $0.name) }
        }
        wanted = only.isEmpty ? nil : Set(columns)
        self.form = form
        self.isForSpreadsheets = isForSpreadsheets
    }

    /// Returns the beginning of the text. Call it first.
    public mutating func head() -> String {
        switch form {
        case .json: return ""
        case .csv: return Self.line(["time", "service", "instance", "element", "value", "unit"])
        case .wideCSV:
            var names = ["time"]
            for (place, service) in services.enumerated() {
                for element in service.catalogues.joined() {
                    let column = Column(service: place, name: element.name)
                    guard columns[column] == nil, wanted?.contains(column) != false else { continue }
                    columns[column] = names.count
                    let name = services.count == 1 ? element.name : "\(service.key)/\(element.name)"
                    names.append(cell(name))
                }
            }
            cells = [String](repeating: "", count: names.count)
            return Self.line(names)
        }
    }

    /// Returns the text that is complete with this item; empty if there is none.
    public mutating func text(of item: RecordedItem) -> String {
        switch (form, item.content) {
        case (_, .value(let value)) where !isWanted(value): return ""
        case (.csv, .value(let value)):
            let service = services[value.service]
            return Self.line([
                time(item.time, value).text, service.service ?? "", cell(service.instance), cell(value.element.name),
                cell(value), cell(value.element.unit),
            ])
        case (.csv, .event): return ""
        case (.json, .value(let value)): return json(value, item.time).text + "\n"
        case (.json, .event(let event, _)): return json(event, item.time).text + "\n"
        case (.wideCSV, .value(let value)):
            let before = open == item.time ? "" : end()
            open = item.time
            if let column = columns[Column(service: value.service, name: value.element.name)] {
                cells[column] = cell(value)
            }
            return before
        case (.wideCSV, .event(let event, let service)):
            guard event.kind == .away || event.kind == .refused, let service else { return "" }
            // The service's values are unknown from now on.
            let before = end()
            for (column, place) in columns where column.service == service { cells[place] = "" }
            return before
        }
    }

    /// Returns the end of the text. Call it after the last item.
    public mutating func end() -> String {
        guard let time = open else { return "" }
        open = nil
        cells[0] = self.time(time).text
        return Self.line(cells)
    }

    private func cell(_ value: RecordedValue) -> String {
        let text = value.value.description
        return value.element.type == .string ? cell(text) : text
    }

    private func cell(_ text: String) -> String {
        guard isForSpreadsheets, let first = text.unicodeScalars.first, "=+-@\t\r".unicodeScalars.contains(first)
        else { return text }
        return "'" + text
    }

    private func time(_ time: Duration) -> Timestamp {
        Timestamp(nanoseconds: start &+ UInt64(max(0, time.nanoseconds)))
    }

    private func isWanted(_ value: RecordedValue) -> Bool {
        wanted?.contains(Column(service: value.service, name: value.element.name)) != false
    }

    /// Returns when a value was measured, if known, otherwise when it was recorded.
    private func time(_ time: Duration, _ value: RecordedValue) -> Timestamp {
        let (measured, isBeyond) = Int64(bitPattern: start)
            .subtractingReportingOverflow(value.age.nanoseconds &- max(0, time.nanoseconds))
        return isBeyond || measured < 0 ? self.time(time) : Timestamp(nanoseconds: UInt64(measured))
    }

    func json(_ value: RecordedValue, _ time: Duration) -> JSONText {
        let service = services[value.service]
        let choice = value.element.type == .string ? nil : value.element.choice(value.value)
        return .event(
            "value",
            [("element", .string(value.element.name)), ("value", value.value.json)]
                + (choice.map { [("choice", .string($0.name))] } ?? [])
                + [
                    ("service", .optional(service.service)), ("instance", .string(service.instance)),
                    ("time", .number(self.time(time, value).seconds)),
                ])
    }

    func json(_ event: RecordedEvent, _ time: Duration) -> JSONText {
        .event(
            event.kind.rawValue,
            [("service", .optional(event.service)), ("instance", .optional(event.instance))]
                + (event.reason.map { [("message", .string($0))] } ?? [])
                + (event.count.map { [("count", .integer($0))] } ?? []) + [("time", .number(self.time(time).seconds))])
    }

    /// Returns a line as in RFC 4180: fields with a comma, a quote or a line end are quoted.
    static func line(_ fields: [String]) -> String {
        fields.map(field).joined(separator: ",") + "\r\n"
    }

    private static func field(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            byte != UInt8(ascii: ",") && byte != UInt8(ascii: "\"") && byte != 0x0A && byte != 0x0D
        }
        return isPlain ? text : "\"" + text.replacing("\"", with: "\"\"") + "\""
    }
}
