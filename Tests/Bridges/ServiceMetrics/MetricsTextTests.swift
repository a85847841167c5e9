import Elemental
import ElementalWire
import Foundation
import Testing

@testable import ServiceMetrics

/// How metrics are spelt.
struct MetricsTextTests {
    private func text(_ body: (inout MetricsText) -> Void) -> String {
        var text = MetricsText()
        body(&text)
        return String(decoding: text.bytes, as: UTF8.self)
    }

    private func numbers(_ value: ElementValue) -> [String] {
        var numbers: [String] = []
        value.forEachNumber { component, number in
            numbers.append(component.isEmpty ? number : "\(component)=\(number)")
        }
        return numbers
    }

    @Test
    func aMetricHasHelpTypeAndSamples() {
        let text = text { text in
            text.begin("elemental_up", .gauge, "Whether it is connected.")
            text.add("elemental_up", MetricLabels().with("service", "robot").with("device", "Rover"), 1)
            text.add("elemental_connections", MetricLabels(), 3)
        }
        #expect(
            text == """
                # HELP elemental_up Whether it is connected.
                # TYPE elemental_up gauge
                elemental_up{service="robot",device="Rover"} 1
                elemental_connections 3

                """)
    }

    @Test(
        arguments: [
            (#"a\b"#, #"a\\b"#), (#"say "hi""#, #"say \"hi\""#), ("two\nlines", #"two\nlines"#),
            (#"\n"#, #"\\n"#), ("Küche 🍳", "Küche 🍳"), ("a\u{0}b", "a\u{FFFD}b"), ("bell\u{7}\r\t", "bell\u{7}\r\t"),
            ("cr\r\nlf", "cr\r\\nlf"), ("}{,=", "}{,="),
        ])
    func labelValuesAreEscaped(_ value: String, _ escaped: String) {
        let text = text { $0.add("x", MetricLabels().with("device", value), 1) }
        #expect(Array(text.utf8) == Array("x{device=\"\(escaped)\"} 1\n".utf8))
        #expect(text.utf8.count { $0 == UInt8(ascii: "\n") } == 1)
    }

    @Test
    func aLabelWithoutAValueIsLeftOut() {
        let labels = MetricLabels().with("service", "").with("device", "10.0.0.1:5000").with("unit", "")
        #expect(labels.text == #"device="10.0.0.1:5000""#)
    }

    @Test
    func labelsAreComparedByteForByte() {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(composed == decomposed)
        #expect(MetricLabels().with("device", composed) != MetricLabels().with("device", decomposed))
    }

    @Test
    func numbersAreSpeltAsPrometheusReadsThem() {
        #expect(numbers(.double(.nan)) == ["NaN"])
        #expect(numbers(.double(-.signalingNaN)) == ["NaN"])
        #expect(numbers(.float(.infinity)) == ["+Inf"])
        #expect(numbers(.float(-.infinity)) == ["-Inf"])
        #expect(numbers(.float(0.1)) == ["0.1"])
        #expect(numbers(.double(1e-9)) == ["1e-09"])
        #expect(numbers(.double(-0.0)) == ["-0.0"])
        #expect(numbers(.int64(.min)) == ["-9223372036854775808"])
        #expect(numbers(.uint64(.max)) == ["18446744073709551615"])
        #expect(numbers(.int8(-1)) == ["-1"])
        #expect(numbers(.bool(true)) == ["1"])
        #expect(numbers(.bool(false)) == ["0"])
    }

    @Test
    func vectorsHaveComponentsAndTextsNoNumber() {
        #expect(numbers(.float2([1, 2])) == ["x=1.0", "y=2.0"])
        #expect(numbers(.float3([1, 2, .nan])) == ["x=1.0", "y=2.0", "z=NaN"])
        #expect(numbers(.float4([1, 2, 3, 4])) == ["x=1.0", "y=2.0", "z=3.0", "w=4.0"])
        #expect(numbers(.string("12")) == [])
        #expect(numbers(.data(Data([1, 2]))) == [])
        // On the wire, column by column: the first four are those of the first column.
        let matrix = numbers(.float4x4(Matrix4x4((0..<16).map { Float($0) })))
        #expect(matrix.count == 16)
        #expect(matrix.prefix(5) == ["m00=0.0", "m01=4.0", "m02=8.0", "m03=12.0", "m10=1.0"])
        #expect(matrix.last == "m33=15.0")
    }

    @Test
    func aHistogramCountsWhatIsAtMostItsBounds() {
        var histogram = RoundTripHistogram()
        for microseconds in [10, 50, 51, 400, 3_000_000, 60_000_000] { histogram.add(.microseconds(microseconds)) }
        histogram.add(.seconds(-1))
        let lines = text { histogram.write("rtt", MetricLabels().with("device", "a"), to: &$0) }.split(separator: "\n")
        #expect(lines.first == #"rtt_bucket{device="a",le="5e-05"} 3"#)
        #expect(lines.contains(#"rtt_bucket{device="a",le="0.0001"} 4"#))
        #expect(lines.contains(#"rtt_bucket{device="a",le="0.0005"} 5"#))
        #expect(lines.contains(#"rtt_bucket{device="a",le="2.5"} 5"#))
        #expect(lines.contains(#"rtt_bucket{device="a",le="5.0"} 6"#))
        #expect(lines.contains(#"rtt_bucket{device="a",le="+Inf"} 7"#))
        #expect(lines.contains(#"rtt_sum{device="a"} 63.000511"#))
        #expect(lines.last == #"rtt_count{device="a"} 7"#)
    }
}
