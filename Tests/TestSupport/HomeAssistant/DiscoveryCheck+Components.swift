import Foundation

extension DiscoveryCheck {
    /// What holds for the fields of a component of its kind.
    mutating func checkFields(of component: Component, _ place: String) {
        if component.fields["name"] != nil, component.text("name")?.isEmpty != false {
            add("\(place): its name is no text")
        }
        check("entity_category", of: component, isAmong: ["config", "diagnostic"], place)
        switch component.platform {
        case "sensor":
            checkClassAndUnit(of: component, place)
            checkSensor(component, place)
        case "number":
            checkClassAndUnit(of: component, place)
            checkNumber(component, place)
        case "binary_sensor", "switch": checkSwitch(component, place)
        case "text": checkText(component, place)
        case "select": checkDistinct(component.fields["options"], "\(place): options")
        case "event": checkDistinct(component.fields["event_types"], "\(place): event_types")
        case "image":
            check("content_type", of: component, isAmong: ["image/png", "image/jpeg", "image/gif"], place)
            check("image_encoding", of: component, isAmong: ["b64"], place)
        case "light": checkLight(component, place)
        default: break
        }
    }

    private mutating func check(
        _ field: String, of component: Component, isAmong allowed: Set<String>, _ place: String
    ) {
        guard let value = component.fields[field] else { return }
        if !allowed.contains(value as? String ?? "") { add("\(place): no \(field) \(value)") }
    }

    private mutating func checkClassAndUnit(of component: Component, _ place: String) {
        let unit = component.text("unit_of_measurement")
        if component.fields["unit_of_measurement"] != nil, unit?.isEmpty != false {
            add("\(place): its unit is no text")
        }
        guard let deviceClass = component.text("device_class") else {
            if component.fields["device_class"] != nil { add("\(place): its device_class is no text") }
            return
        }
        guard DeviceClasses.units[deviceClass] != nil else { return add("\(place): no device_class \(deviceClass)") }
        if component.platform == "number", DeviceClasses.withoutNumbers.contains(deviceClass) {
            add("\(place): no device_class \(deviceClass) of a number")
        }
        if !DeviceClasses.takes(deviceClass, unit: unit) {
            add("\(place): device_class \(deviceClass) does not take \(unit ?? "no unit")")
        } else if followsUnits, let unit, DeviceClasses.isAmbiguous(unit) {
            add("\(place): \(unit) does not say that it is \(deviceClass)")
        }
    }

    private mutating func checkSensor(_ sensor: Component, _ place: String) {
        let deviceClass = sensor.text("device_class")
        let unit = sensor.text("unit_of_measurement")
        check("state_class", of: sensor, isAmong: ["measurement", "total", "total_increasing"], place)
        if let deviceClass, sensor.fields["state_class"] != nil {
            if DeviceClasses.withoutNumbers.contains(deviceClass) {
                add("\(place): no state_class with device_class \(deviceClass)")
            }
            if DeviceClasses.totals.contains(deviceClass), sensor.text("state_class") == "measurement" {
                add("\(place): \(deviceClass) is no measurement")
            }
        }
        let isText = sensor.text("value_template")?.contains("value[") == true
        if isText, unit != nil || sensor.fields["state_class"] != nil {
            add("\(place): a text has neither unit nor state_class")
        }
        if let options = sensor.fields["options"] {
            if deviceClass != "enum" { add("\(place) has options and its device_class is not enum") }
            if unit != nil || sensor.fields["state_class"] != nil {
                add("\(place): one of some options has neither unit nor state_class")
            }
            checkDistinct(options, "\(place): options")
        }
        if let precision = sensor.fields["suggested_display_precision"], Self.integer(precision) ?? -1 < 0 {
            add("\(place): suggested_display_precision is \(precision)")
        }
    }

    private mutating func checkNumber(_ number: Component, _ place: String) {
        guard let low = number.number("min"), let high = number.number("max"), low.isFinite, high.isFinite else {
            return add("\(place): min or max is no number")
        }
        if low >= high { add("\(place): min \(low) is not below max \(high)") }
        for (field, value) in [("min", low), ("max", high)] where Self.isFloatOfTooManyDigits(value) {
            // A state of 0.7 would be outside a range up to 0.699999988079071.
            add("\(place): \(field) is \(value), which is \(Float(value)) printed as a Double")
        }
        if let value = number.fields["step"] {
            if let step = number.number("step") {
                // Anything below makes Home Assistant refuse the component.
                if step < 0.001 { add("\(place): step is \(step), below 0.001") }
                if Self.isFloatOfTooManyDigits(step) { add("\(place): step is \(step), a Float printed as a Double") }
            } else {
                add("\(place): step is \(value)")
            }
        }
        check("mode", of: number, isAmong: ["auto", "box", "slider"], place)
        // A slider over all that a type holds cannot be used.
        if number.text("mode") == "slider", high - low > 1e17 { add("\(place): a slider from \(low) to \(high)") }
    }

    /// Whether a number is a Float's value with more digits than a Float has.
    private static func isFloatOfTooManyDigits(_ value: Double) -> Bool {
        value.magnitude < 1e7 && value != value.rounded() && Double(Float(value)) == value
            && "\(Float(value))" != "\(value)"
    }

    private mutating func checkSwitch(_ component: Component, _ place: String) {
        // Home Assistant's own are ON and OFF, which are no values of a bool.
        for (field, payload) in [("payload_on", "true"), ("payload_off", "false")]
        where component.text(field) != payload {
            add("\(place): \(field) is \(component.fields[field] ?? "missing"), not the text \(payload)")
        }
        check("state_on", of: component, isAmong: ["true"], place)
        check("state_off", of: component, isAmong: ["false"], place)
        let isSwitch = component.platform == "switch"
        let classes: Set = isSwitch ? ["outlet", "switch"] : DeviceClasses.ofBinarySensors
        check("device_class", of: component, isAmong: classes, place)
    }

    private mutating func checkText(_ text: Component, _ place: String) {
        let low = text.fields["min"] == nil ? 0 : Self.integer(text.fields["min"])
        let high = text.fields["max"] == nil ? 255 : Self.integer(text.fields["max"])
        guard let low, let high, low >= 0, low < high, high <= 255 else {
            return add("\(place): min and max are not between 0 and 255")
        }
        check("mode", of: text, isAmong: ["text", "password"], place)
    }

    private mutating func checkDistinct(_ value: Any?, _ place: String) {
        guard let options = value as? [String], !options.isEmpty, !options.contains("") else {
            return add("\(place) is no list of texts")
        }
        if Set(options).count != options.count { add("\(place) has one twice") }
        if options.contains(where: { $0.lowercased() == "none" }) { add("\(place) has one that is read as unknown") }
        if options.contains(where: { $0.count > 255 }) { add("\(place) has one of more than 255 characters") }
    }

    private mutating func checkLight(_ light: Component, _ place: String) {
        check("schema", of: light, isAmong: ["basic"], place)
        check("on_command_type", of: light, isAmong: ["first", "last", "brightness"], place)
        guard light.text("on_command_type") == "brightness" else { return }
        for field in ["brightness_command_topic", "brightness_state_topic"] where light.fields[field] == nil {
            add("\(place) switches on by its brightness and has no \(field)")
        }
        // Home Assistant's brightness is one of 255, the element's one of 1.
        if light.fields["brightness_scale"] == nil {
            for field in ["brightness_command_template", "brightness_value_template"]
            where light.text(field)?.contains("255") != true {
                add("\(place): \(field) does not convert from and to 255 steps")
            }
        }
        // Off is sent as it is to an element of numbers, and its state is made of one.
        let off = light.text("payload_off") ?? "OFF"
        if Double(off) != 0 { add("\(place): payload_off is \(off)") }
        let on = light.text("payload_on") ?? "ON"
        let template = light.text("state_value_template") ?? ""
        for payload in [on, off] where !template.contains("'\(payload)'") && !template.contains("\"\(payload)\"") {
            add("\(place): state_value_template never gives \(payload)")
        }
    }
}

extension DiscoveryCheck.Component {
    /// What is wrong with what was published at the component's state topic: what Home Assistant would drop, with a line in
    /// its log, or show as "unknown"; `nil` if nothing is.
    public func problem(ofState payload: [UInt8]) -> String? {
        guard platform != "image" else { return payload.isEmpty ? "an empty image" : nil }
        guard let text = String(validating: payload, as: UTF8.self) else { return "no UTF-8" }
        guard let value = value(in: text) else {
            return "\(self.text("value_template") ?? "") has no value in '\(text)'"
        }
        switch platform {
        case "switch", "binary_sensor":
            return [self.text("payload_on"), self.text("payload_off"), "None"].contains(value)
                ? nil : "'\(value)' is neither on nor off"
        case "number":
            if value == "None" { return nil }
            guard let number = Double(value), number.isFinite else { return "'\(value)' is no number" }
            guard let low = self.number("min"), let high = self.number("max"), (low...high).contains(number) else {
                return "\(number) is out of range"
            }
            return nil
        case "select":
            return (fields["options"] as? [String] ?? []).contains(value) ? nil : "'\(value)' is no option"
        case "sensor":
            if fields["unit_of_measurement"] != nil || fields["state_class"] != nil
                || fields["suggested_display_precision"] != nil
            {
                guard value == "None" || Double(value)?.isFinite == true else { return "'\(value)' is no number" }
            }
            if let options = fields["options"] as? [String], !options.contains(value) {
                return "'\(value)' is no option"
            }
            if self.text("value_template")?.contains("value[") == true, value == "None" { return "read as unknown" }
            return value.unicodeScalars.count > 255 ? "longer than 255 characters" : nil
        case "text":
            if self.text("value_template") != nil, value == "None" { return "read as unknown" }
            let high = self.number("max") ?? 255
            return Double(value.unicodeScalars.count) > high ? "longer than \(high) characters" : nil
        default: return nil
        }
    }

    /// What the value template makes of a payload, for those that this package writes; others leave it as it is.
    private func value(in text: String) -> String? {
        let template = self.text("value_template")?.filter { $0 != " " } ?? ""
        if let index = template.wholeMatch(of: /\{\{value_json\[([0-9])\]\}\}/)?.1 {
            guard let list = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [Any],
                let index = Int(index), list.indices.contains(index)
            else { return text == "None" ? text : nil }
            return list[index] is NSNull ? "None" : "\(list[index])"
        }
        if template.contains("'none'"), text.lowercased() == "none" { return "'\(text)'" }
        if template.contains("'None'"), text == "None" { return "'None'" }
        if template.contains("value[:255]") { return String(String.UnicodeScalarView(text.unicodeScalars.prefix(255))) }
        return text
    }
}
