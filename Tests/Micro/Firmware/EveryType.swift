import ElementalMicro

/// An element of every type: this file is compiled into the firmware and into its test.
enum EveryType {
    static let int8 = Element<Int8>(1, "int8", range: -100...100)
    static let uint8 = Element<UInt8>(2, "uint8", choices: [0: "off", 7: "on", 255: "full"])
    static let int16 = Element<Int16>(3, "int16")
    static let uint16 = Element<UInt16>(4, "uint16", unit: "rpm", range: 0...3000)
    static let int32 = Element<Int32>(5, "int32", range: -70_000...70_000)
    static let uint32 = Element<UInt32>(6, "uint32")
    static let int64 = Element<Int64>(7, "int64")
    static let uint64 = Element<UInt64>(8, "uint64")
    static let float = Element<Float>(9, "float", unit: "°C", range: 5...30, step: 0.5)
    static let double = Element<Double>(10, "double", range: -1...1)
    static let string = Element<String>(11, "string")
    static let data = Element<[UInt8]>(12, "data")
    static let bool = Element<Bool>(13, "bool")
    static let float2 = Element<Vector2>(14, "float2", transport: .udp, range: -2...1)
    static let float3 = Element<Vector3>(15, "float3")
    static let float4 = Element<Vector4>(16, "float4")
    static let float4x4 = Element<Matrix4x4>(17, "float4x4")
    static let color = Element<String>(18, "color", choices: ["red", "grün"])
    static let reading = Element<UInt32>(19, "reading", access: .read, latest: true)
    static let button = Element<Bool>(20, "button", access: .write)
    static let all: ElementCatalogue = [
        int8, uint8, int16, uint16, int32, uint32, int64, uint64, float, double, string, data, bool, float2, float3,
        float4, float4x4, color, reading, button,
    ]
}
