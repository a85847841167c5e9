public import ElementalMicro

public enum Oven {
    public static let target = Element<Float>(1, "Target", unit: "°C", range: 5...30)
    public static let temperature = Element<Float>(2, "Temperature", unit: "°C", access: .read, latest: true)
    public static let count = Element<UInt32>(3, "Count")
    public static let label = Element<String>(4, "Label")
    public static let motion = Element<Int16>(5, "Motion", latest: true)
    public static let all: ElementCatalogue = [target, temperature, count, label, motion]
}

extension TestBoard.Firmware {
    /// Takes targets up to 25, labels but "no", and the rest as it comes; its temperature is 20.5.
    public static func oven(name: String = "Kitchen", service: String = "oven") -> Self {
        Self { seed in
            let device = ElementalService(service, displayName: name, elements: Oven.all, seed: seed)
            device.relay(Oven.target) { target throws(ValueRefusal) in
                guard target <= 25 else { throw ValueRefusal("it burns") }
                return target
            }
            device.relay(Oven.label) { label throws(ValueRefusal) in
                guard label != "no" else { throw ValueRefusal("no label") }
                return label
            }
            device.relay(Oven.count.definition)
            device.relay(Oven.motion.definition)
            try? device.send(20.5, to: Oven.temperature)
            try? device.send(18, to: Oven.target)
            return device
        }
    }

    /// Counts what comes, and says how much it was and whether it was in order.
    public static let counter = Self { seed in
        let device = ElementalService("counter", elements: Oven.all, seed: seed)
        var last: UInt32 = 0
        var isInOrder = true
        device.onValue(of: Oven.count) { count in
            isInOrder = isInOrder && count == last + 1
            last = count
            if isInOrder { try? device.send(Float(count), to: Oven.temperature) }
        }
        return device
    }
}
