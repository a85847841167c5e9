import NIOCore
import NIOFoundationEssentialsCompat

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension JSONCodec {
    // MARK: - Writing

    func write(_ message: HubMessage, into buffer: inout ByteBuffer) {
        buffer.writeStaticString("{\"type\":")
        switch message {
        case .invocation(let id, let target, let arguments, let streams, let headers):
            buffer.writeStaticString("1")
            write(headers, id, into: &buffer)
            write(target, arguments, streams, into: &buffer)
        case .streamItem(let id, let item, let headers):
            buffer.writeStaticString("2")
            write(headers, id, into: &buffer)
            buffer.writeStaticString(",\"item\":")
            buffer.writeImmutableBuffer(item)
        case .completion(let id, let completion, let headers):
            buffer.writeStaticString("3")
            write(headers, id, into: &buffer)
            switch completion {
            case .void: break
            case .value(let value):
                buffer.writeStaticString(",\"result\":")
                buffer.writeImmutableBuffer(value)
            case .error(let text):
                buffer.writeStaticString(",\"error\":")
                buffer.writeJSONString(text)
            }
        case .streamInvocation(let id, let target, let arguments, let streams, let headers):
            buffer.writeStaticString("4")
            write(headers, id, into: &buffer)
            write(target, arguments, streams, into: &buffer)
        case .cancelInvocation(let id, let headers):
            buffer.writeStaticString("5")
            write(headers, id, into: &buffer)
        case .ping:
            buffer.writeStaticString("6")
        case .close(let error, let allowReconnect):
            buffer.writeStaticString("7")
            if let error {
                buffer.writeStaticString(",\"error\":")
                buffer.writeJSONString(error)
            }
            if allowReconnect { buffer.writeStaticString(",\"allowReconnect\":true") }
        case .ack(let number):
            buffer.writeString("8,\"sequenceId\":\(number)")
        case .sequence(let number):
            buffer.writeString("9,\"sequenceId\":\(number)")
        }
        buffer.writeInteger(UInt8(ascii: "}"))
        buffer.writeInteger(Self.recordSeparator)
    }

    private func write(_ headers: [String: String], _ id: String?, into buffer: inout ByteBuffer) {
        if !headers.isEmpty {
            buffer.writeStaticString(",\"headers\":{")
            var isFirst = true
            for (name, value) in headers {
                if !isFirst { separate(into: &buffer) }
                isFirst = false
                buffer.writeJSONString(name)
                buffer.writeStaticString(":")
                buffer.writeJSONString(value)
            }
            buffer.writeStaticString("}")
        }
        if let id {
            buffer.writeStaticString(",\"invocationId\":")
            buffer.writeJSONString(id)
        }
    }

    private func write(_ target: String, _ arguments: ByteBuffer, _ streams: [String], into buffer: inout ByteBuffer) {
        buffer.writeStaticString(",\"target\":")
        buffer.writeJSONString(target)
        buffer.writeStaticString(",\"arguments\":")
        buffer.writeImmutableBuffer(arguments)
        guard !streams.isEmpty else { return }
        buffer.writeStaticString(",\"streamIds\":[")
        for (index, id) in streams.enumerated() {
            if index > 0 { separate(into: &buffer) }
            buffer.writeJSONString(id)
        }
        endArray(into: &buffer)
    }

    // MARK: - Reading

    func read(_ bytes: ByteBuffer) throws(SignalRError) -> HubMessage? {
        let members = try JSONMembers(bytes)
        guard let type = try members.integer("type") else {
            throw .violation("a message without a type: \(bytes.excerpt)")
        }
        switch type {
        case 1:
            return .invocation(
                id: try members.string("invocationId"), target: try members.required("target"),
                arguments: try members.required("arguments"), streams: try members.value("streamIds", decoder) ?? [],
                headers: try members.value("headers", decoder) ?? [:])
        case 2:
            return .streamItem(
                id: try members.required("invocationId"), item: try members.required("item"),
                headers: try members.value("headers", decoder) ?? [:])
        case 3:
            return .completion(
                id: try members.required("invocationId"), try completion(members),
                headers: try members.value("headers", decoder) ?? [:])
        case 4:
            return .streamInvocation(
                id: try members.required("invocationId"), target: try members.required("target"),
                arguments: try members.required("arguments"), streams: try members.value("streamIds", decoder) ?? [],
                headers: try members.value("headers", decoder) ?? [:])
        case 5:
            return .cancelInvocation(
                id: try members.required("invocationId"), headers: try members.value("headers", decoder) ?? [:])
        case 6:
            return .ping
        case 7:
            return .close(
                error: try members.string("error"),
                allowReconnect: try members.value("allowReconnect", decoder) ?? false)
        case 8, 9:
            guard let number = try members.integer("sequenceId"), number >= 0 else {
                throw .violation("a sequence without its number: \(bytes.excerpt)")
            }
            return type == 8 ? .ack(number) : .sequence(number)
        default:
            return nil
        }
    }

    private func completion(_ members: JSONMembers) throws(SignalRError) -> HubCompletion {
        let result = members["result"]
        guard let error = try members.string("error") else { return result.map { .value($0) } ?? .void }
        guard result == nil || members.isNull("result") else {
            throw .violation("a completion with both a result and an error")
        }
        return .error(error)
    }
}
