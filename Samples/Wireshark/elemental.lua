-- Elemental in Wireshark and tshark: https://www.wireshark.org, from version 4.0.
--
--     tshark -X lua_script:elemental.lua -r FILE.pcapng
--
-- or copy it into the folder of personal Lua plugins (Help, About Wireshark, Folders). Connections are recognised by
-- their first frame; for those that began before the capture, set the preference "elemental.ports". What it shows is the
-- page Wireshark.md of the documentation; the bytes are on the page Wire.md.

local elemental = Proto("elemental", "Elemental")

-- MARK: The wire's tables

local systemNames = {
    [-1] = "UDP identifier", [-2] = "device name", [-3] = "shutdown", [-4] = "hello", [-5] = "catalogue", [-6] = "ping",
    [-7] = "pong", [-8] = "piece", [-9] = "pieces taken", [-10] = "Commodore catalogue", [-11] = "refused",
    [-13] = "admission", [-14] = "datagram secret", [-16] = "clock", [-17] = "timed value", [-18] = "history",
}

local clockKinds = { "request", "answer" }
local historyKinds, historyForms = { "request", "answer", "refusal" }, { "a time", "the newest", "a position" }
local historyReasons = { "no history for this client", "too many requests" }

-- By code. `size` is missing where the length varies; `numeric` types may have a range.
local types = {
    { name = "int8", size = 1, kind = "int", numeric = true }, { name = "uint8", size = 1, kind = "uint", numeric = true },
    { name = "int16", size = 2, kind = "int", numeric = true }, { name = "uint16", size = 2, kind = "uint", numeric = true },
    { name = "int32", size = 4, kind = "int", numeric = true }, { name = "uint32", size = 4, kind = "uint", numeric = true },
    { name = "int64", size = 8, kind = "int", numeric = true }, { name = "uint64", size = 8, kind = "uint", numeric = true },
    { name = "float", size = 4, kind = "float", numeric = true }, { name = "double", size = 8, kind = "double", numeric = true },
    { name = "string", kind = "string" }, { name = "data", kind = "data" }, { name = "bool", size = 1, kind = "bool" },
    { name = "float2", size = 8, kind = "floats" }, { name = "float3", size = 12, kind = "floats" },
    { name = "float4", size = 16, kind = "floats" }, { name = "float4x4", size = 64, kind = "floats" },
}
local typeNames, typeCodes = {}, {}
for code, type in ipairs(types) do
    typeNames[code] = type.name
    typeCodes[type.name] = code
end

local refusalReasons = {
    [1] = "outside the element's range", [2] = "not one of the element's choices", [3] = "clients may not write the element",
    [4] = "the client's role does not permit setting it", [5] = "refused by the service",
}
local roleNames = { [1] = "observe", [2] = "control", [3] = "admin" }
local kindNames = { [1] = "a code of six digits", [2] = "a long secret" }
local admissionNames = {
    [1] = "connect", [2] = "pair", [3] = "offer", [4] = "initiation", [5] = "response", [6] = "confirmation", [7] = "granted",
    [16] = "open a window", [17] = "window opened", [18] = "revoke", [19] = "revoked", [255] = "refused",
}
local admissionCodes = {
    [1] = "the other end broke the rules", [2] = "another version", [3] = "the client wants another service", [4] = "not paired",
    [5] = "the role does not permit it", [6] = "no pairing window is open", [7] = "another client is pairing at this moment",
    [8] = "wrong code", [9] = "too slow", [10] = "already paired, or the name is taken", [11] = "it cannot be done now",
}

local streamHeader, datagramHeader = 5, 6
local sealedMark, sealedHeader, sealedTag = 0xF4, 8, 16
local pieceHeader, maximumPiece = 9, 65536
local maximumPing, maximumText = 1024, 1024
local maximumCatalogue = 1048576
local protocolName = "\11elemental/1" -- in a ClientHello's ALPN, with its length

-- MARK: Bounds of what is kept and shown

-- Reassembled values are kept, for Wireshark comes back to a frame: one of them, and all together, in bytes.
local keptValue, keptValues = 32 * 1048576, 256 * 1048576
-- Messages named in the column Info, and characters of a text there.
local namedMessages, namedCharacters = 8, 48
-- Characters of a value as text, and bytes of data that it shows.
local textCharacters, textBytes = 200, 32

-- MARK: Fields

-- By bit, from 1.
local masks = { 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x100 }

local f = {}
local fields = {}
local function field(key, abbreviation, kind, name, ...)
    f[key] = ProtoField[kind]("elemental" .. abbreviation, name, ...)
    fields[#fields + 1] = f[key]
end

field("message", ".message", "none", "Message")
field("id", ".id", "int8", "Identifier", base.DEC)
field("system", ".system", "string", "System element", base.UNICODE)
field("length", ".length", "uint32", "Length", base.DEC)
field("udpIdentifier", ".udp_identifier", "uint8", "UDP identifier", base.DEC)
field("fromService", ".from_service", "bool", "From the service")
field("name", ".name", "string", "Name", base.UNICODE)
field("type", ".type", "uint8", "Type", base.DEC, typeNames)
field("unit", ".unit", "string", "Unit", base.UNICODE)
field("value", ".value", "string", "Value", base.UNICODE)
field("int", ".value.int", "int64", "Signed integer", base.DEC)
field("uint", ".value.uint", "uint64", "Unsigned integer", base.DEC)
field("float", ".value.float", "double", "Number")
field("bool", ".value.bool", "bool", "Boolean")
field("string", ".value.string", "string", "Text", base.UNICODE)
field("data", ".value.data", "bytes", "Data")
field("choice", ".choice", "string", "Choice", base.UNICODE)
field("undecoded", ".undecoded", "bytes", "Bytes")

field("client", ".client", "string", "Client's name", base.UNICODE)
field("shutdown", ".shutdown", "string", "Reason", base.UNICODE)

field("helloVersion", ".hello.version", "uint8", "Version", base.DEC)
field("helloFeatures", ".hello.features", "uint32", "Features", base.HEX)
local featureBits = {
    { "empty_values", "Accepts empty strings and data" }, { "catalogue", "A service: sends its catalogue on request" },
    { "pings", "Answers pings" }, { "wants_catalogue", "A client: wants the catalogue" },
    { "pieces", "Accepts large values in pieces" }, { "refusals", "Tells, or wants to be told, of refused values" },
    { "clock", "Exchanges times" }, { "timed_values", "Takes values with times" },
    { "history", "Asks for values of the past, or answers" },
}
for bit, feature in ipairs(featureBits) do
    field("feature" .. bit, ".hello.features." .. feature[1], "bool", feature[2], 32, nil, masks[bit])
end
field("helloPort", ".hello.udp_port", "uint16", "UDP port of the client", base.DEC)

field("catalogueForm", ".catalogue.form", "uint8", "Form", base.DEC)
field("catalogueCount", ".catalogue.count", "uint8", "Elements", base.DEC)
field("entry", ".catalogue.element", "none", "Element")
field("entrySize", ".catalogue.size", "uint16", "Size", base.DEC)
field("entryID", ".catalogue.id", "int8", "Identifier", base.DEC)
field("entryType", ".catalogue.type", "uint8", "Type", base.DEC, typeNames)
field("entryFlags", ".catalogue.flags", "uint8", "Flags", base.HEX)
local flagBits = {
    { "udp", "Sent in datagrams" }, { "latest", "Only the newest value" }, { "read", "The client may read it" },
    { "write", "The client may write it" }, { "has_range", "Has a range" }, { "has_step", "Has a step" },
    { "has_choices", "Has choices" }, { "timed", "Values carry times" },
}
for bit, flag in ipairs(flagBits) do
    field("flag" .. bit, ".catalogue." .. flag[1], "bool", flag[2], 8, nil, masks[bit])
end
field("entryName", ".catalogue.name", "string", "Name", base.UNICODE)
field("entryUnit", ".catalogue.unit", "string", "Unit", base.UNICODE)
field("entryLower", ".catalogue.lower", "double", "Least value")
field("entryUpper", ".catalogue.upper", "double", "Greatest value")
field("entryStep", ".catalogue.step", "double", "Step")
field("entryChoice", ".catalogue.choice", "string", "Choice", base.UNICODE)
field("entryExtension", ".catalogue.extension", "uint8", "Extension", base.DEC)

field("ping", ".ping", "bytes", "Bytes of the ping")
field("pingAnswer", ".ping.answered_in", "framenum", "Answered in", base.NONE, frametype.RESPONSE)
field("pingRequest", ".ping.answer_to", "framenum", "Answer to", base.NONE, frametype.REQUEST)
field("pingTime", ".ping.time", "double", "Seconds since the ping")

field("pieceElement", ".piece.element", "int8", "Element", base.DEC)
field("pieceTotal", ".piece.total", "uint32", "Bytes of the whole value", base.DEC)
field("pieceOffset", ".piece.offset", "uint32", "Offset", base.DEC)
field("pieceData", ".piece.data", "bytes", "Bytes")
field("reassembled", ".reassembled", "bool", "Put together from pieces")
field("taken", ".pieces_taken", "uint32", "Bytes taken, modulo 2^32", base.DEC)

field("refusedElement", ".refused.element", "int8", "Element", base.DEC)
field("refusedReason", ".refused.reason", "uint8", "Reason", base.DEC, refusalReasons)
field("refusedMessage", ".refused.message", "string", "Message", base.UNICODE)

field("admission", ".admission.message", "uint8", "Message", base.DEC, admissionNames)
field("admissionVersion", ".admission.version", "uint8", "Version", base.DEC)
field("admissionService", ".admission.service", "string", "Service", base.UNICODE)
field("admissionName", ".admission.name", "string", "Name", base.UNICODE)
field("admissionRole", ".admission.role", "uint8", "Role", base.DEC, roleNames)
field("admissionKind", ".admission.kind", "uint8", "Kind", base.DEC, kindNames)
field("admissionNonce", ".admission.nonce", "bytes", "Nonce")
field("admissionPoint", ".admission.point", "bytes", "Point")
field("admissionTag", ".admission.tag", "bytes", "Tag")
field("admissionSeconds", ".admission.seconds", "uint16", "Seconds", base.DEC)
field("admissionSecret", ".admission.secret", "bytes", "Secret")
field("admissionFingerprint", ".admission.fingerprint", "bytes", "Fingerprint")
field("admissionCount", ".admission.count", "uint16", "Clients that it paired", base.DEC)
field("admissionCode", ".admission.code", "uint8", "Code", base.DEC, admissionCodes)
field("admissionSentence", ".admission.sentence", "string", "Sentence", base.UNICODE)

field("clockKind", ".clock.kind", "uint8", "Kind", base.DEC, clockKinds)
field("clockNonce", ".clock.nonce", "uint64", "Nonce", base.HEX)
field("clockFirst", ".clock.first", "int64", "First time (ns)", base.DEC)
field("clockSecond", ".clock.second", "int64", "Second time (ns)", base.DEC)
field("clockAnchor", ".clock.anchor", "int64", "Clock to time of day (ns)", base.DEC)
field("clockSlept", ".clock.slept", "uint32", "Milliseconds asleep", base.DEC)
field("historyKind", ".history.kind", "uint8", "Kind", base.DEC, historyKinds)
field("historyToken", ".history.token", "uint64", "Token", base.HEX)
field("historyElement", ".history.element", "int8", "Element", base.DEC)
field("historyWaits", ".history.waits", "bool", "Waits for a value", 8, nil, 0x01)
field("historyCancelled", ".history.cancelled", "bool", "Needs no answer any more", 8, nil, 0x02)
field("historyForm", ".history.form", "uint8", "From", base.DEC, historyForms)
field("historyCount", ".history.count", "uint32", "Values before the newest", base.DEC)
field("historyLife", ".history.life", "bytes", "Life")
field("historyNumber", ".history.number", "uint64", "Number", base.DEC)
field("historyNext", ".history.next", "uint64", "Number of the next value", base.DEC)
field("historyCheck", ".history.check", "uint64", "Check", base.HEX)
field("historyMissing", ".history.missing", "uint64", "Missing values", base.DEC)
field("historyAtMost", ".history.at_most", "uint64", "Missing values at most", base.DEC)
field("historyValue", ".history.value", "bytes", "Value")
field("historyReason", ".history.reason", "uint8", "Reason", base.DEC, historyReasons)
field("time", ".time", "int64", "Measured at (µs of the sender's clock)", base.DEC)
field("secretEpoch", ".secret.epoch", "uint8", "Epoch", base.DEC)
field("secretBytes", ".secret.bytes", "bytes", "Random bytes")

field("tls", ".tls", "bool", "Encrypted by TLS")
field("sealed", ".sealed", "bytes", "Sealed bytes")
field("counter", ".counter", "uint64", "Counter", base.DEC)
field("tag", ".sealed.tag", "bytes", "Tag")
elemental.fields = fields

local e = {}
local experts = {}
local function notice(key, text, group, severity)
    e[key] = ProtoExpert.new("elemental.expert." .. key, text, expert.group[group], expert.severity[severity])
    experts[#experts + 1] = e[key]
end
notice("malformed", "A frame of a wrong form", "MALFORMED", "ERROR")
notice("wrong_length", "A value of a wrong length", "MALFORMED", "ERROR")
notice("truncated", "Cut off", "MALFORMED", "WARN")
notice("violation", "A violation that ends the connection", "PROTOCOL", "ERROR")
notice("unknown", "An unknown element", "UNDECODED", "WARN")
notice("unexpected", "A system element where it does not belong", "PROTOCOL", "WARN")
notice("out_of_range", "Outside the element's range", "PROTOCOL", "WARN")
notice("not_a_choice", "Not one of the element's choices", "PROTOCOL", "WARN")
notice("not_allowed", "This end may not send the element", "PROTOCOL", "WARN")
notice("refused", "The service refused a value", "RESPONSE_CODE", "NOTE")
notice("reassembly", "About putting pieces together", "REASSEMBLE", "NOTE")
notice("identifier", "About the UDP identifier", "PROTOCOL", "NOTE")
elemental.experts = experts

-- MARK: Preferences

elemental.prefs.ports = Pref.range("Ports of services", "", "Ports of services whose first frames are not in the capture, "
    .. "or that Wireshark takes for another protocol's; TCP and UDP.", 65535)
elemental.prefs.limit = Pref.uint("Longest value", 134217728, "A frame that announces more bytes ends the connection.")
elemental.prefs.elements = Pref.string("Elements of older services", "", "For services that send no catalogue: "
    .. "ID:NAME:TYPE[:unit UNIT], separated by semicolons, as in 1:Speed:float:unit m/s; 2:Light:bool")

-- MARK: Text from the network

-- The length of the UTF-8 sequence at a position, or nil if there is none.
local function sequenceLength(text, at)
    local lead, second = text:byte(at, at + 1)
    if lead < 0x80 then return 1 end
    if not second or lead < 0xC2 or lead > 0xF4 then return nil end
    local low, high = 0x80, 0xBF
    if lead == 0xE0 then low = 0xA0 elseif lead == 0xED then high = 0x9F elseif lead == 0xF0 then low = 0x90
    elseif lead == 0xF4 then high = 0x8F end
    if second < low or second > high then return nil end
    local length = lead < 0xE0 and 2 or lead < 0xF0 and 3 or 4
    for position = at + 2, at + length - 1 do
        local byte = text:byte(position)
        if not byte or byte < 0x80 or byte > 0xBF then return nil end
    end
    return length
end

local function isUTF8(text)
    local at = text:find("[\128-\255]")
    while at do
        local length = sequenceLength(text, at)
        if not length then return false end
        at = text:find("[\128-\255]", at + length)
    end
    return true
end

local function scalar(text, at, length)
    local lead = text:byte(at)
    if length == 1 then return lead end
    local value = lead % (length == 2 and 0x20 or length == 3 and 0x10 or 0x08)
    for position = at + 1, at + length - 1 do value = value * 64 + text:byte(position) % 64 end
    return value
end

-- First and last code points, in pairs, that control a terminal, change the direction of writing, end a line, or are not
-- visible.
local unsafe = {
    0x00, 0x1F, 0x7F, 0x9F, 0xAD, 0xAD, 0x034F, 0x034F, 0x061C, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180F, 0x200B,
    0x200F, 0x2028, 0x202E, 0x2060, 0x206F, 0x3164, 0x3164, 0xE000, 0xF8FF, 0xFE00, 0xFE0F, 0xFEFF, 0xFEFF, 0xFFA0, 0xFFA0,
    0xFFF0, 0xFFFB, 0xFFFE, 0xFFFF, 0x1D173, 0x1D17A, 0xE0000, 0x10FFFF,
}
local function isSafe(value)
    for index = 1, #unsafe, 2 do
        if value < unsafe[index] then return true end
        if value <= unsafe[index + 1] then return false end
    end
    return true
end

-- The text as it may be shown: what is not printable as escapes, and no more than so many characters.
local function printable(text, limit)
    limit = limit or textCharacters
    if #text <= limit and not text:find("[^\32-\126]") then return text end
    local parts, at, count = {}, 1, 0
    while at <= #text do
        if count == limit then
            parts[#parts + 1] = "…"
            break
        end
        local length = sequenceLength(text, at)
        if not length then
            parts[#parts + 1] = string.format("\\x%02x", text:byte(at))
            length = 1
        else
            local value = scalar(text, at, length)
            parts[#parts + 1] = isSafe(value) and text:sub(at, at + length - 1)
                or string.format(value < 0x80 and "\\x%02x" or "\\u{%X}", value)
        end
        at = at + length
        count = count + 1
    end
    return table.concat(parts)
end

local function quoted(text, limit) return '"' .. printable(text, limit or namedCharacters) .. '"' end

local function hexadecimal(bytes)
    local shown = bytes:sub(1, textBytes):gsub(".", function(byte) return string.format("%02x", byte:byte()) end)
    return #bytes > textBytes and shown .. "…" or shown
end

local function counted(count, noun) return count .. " " .. noun .. (count == 1 and "" or "s") end

-- So many bytes, which may be none: Wireshark has no such range.
local function bytesOf(tvb, offset, length)
    if length == 0 then return "" end
    return tvb:raw(offset, length)
end

-- MARK: Numbers

-- The shortest text that reads as the same number.
local function shortest(value, isDouble)
    if value ~= value then return "nan" end
    if value == math.huge then return "inf" end
    if value == -math.huge then return "-inf" end
    for digits = isDouble and 15 or 6, isDouble and 17 or 9 do
        local text = string.format("%." .. digits .. "g", value)
        local read = tonumber(text)
        if read == value or not isDouble and Struct.unpack("<f", Struct.pack("<f", read)) == value then return text end
    end
    return string.format("%.17g", value)
end

-- MARK: What was seen

-- By tcp.stream and udp.stream, and by the address and port of a service. All are begun anew with each capture.
local streams, datagramStreams, services
local keptCount
-- By the bytes of a catalogue: many clients get the same one.
local catalogues

local function forget() streams, datagramStreams, services, catalogues, keptCount = {}, {}, {}, {}, 0 end
forget()
elemental.init = forget

local tcpStream, udpStream = Field.new("tcp.stream"), Field.new("udp.stream")
local addressFields = {
    { Field.new("ip.src"), Field.new("ip.dst") }, { Field.new("ipv6.src"), Field.new("ipv6.dst") },
}

-- The addresses' bytes; their text may be a name, and another one the next time.
local function addresses()
    local ends = { "", "" }
    for _, pair in ipairs(addressFields) do
        for side = 1, 2 do
            for _, info in ipairs({ pair[side]() }) do ends[side] = ends[side] .. info.range:bytes():raw() end
        end
    end
    return ends[1], ends[2]
end

local function serviceKey(address, port) return address .. ":" .. port end

local function newStream(pinfo)
    local source, destination = addresses()
    return {
        address = { source, destination }, port = { pinfo.src_port, pinfo.dst_port },
        -- Of each side: the frame from which on it is decoded, and the one at which that ended.
        from = {}, stopped = {},
        -- Of each side: the value that is being put together; and what became of pieces, by their place.
        pieces = {}, outcomes = {},
        catalogues = {}, pings = {}, answers = {}, requests = {},
    }
end

-- The stream of a packet, and which of its sides sent it: 1 sent the first packet that was seen.
local function streamOf(list, fieldInfo, pinfo)
    local number = fieldInfo and fieldInfo.value or -1
    local known = list[number]
    if not known then
        known = newStream(pinfo)
        list[number] = known
    end
    local side = known.port[1] == pinfo.src_port and 1 or 2
    if known.port[1] == known.port[2] then side = known.address[1] == addresses() and 1 or 2 end
    return known, side
end

-- Notes which side is the service.
local function serve(stream, side)
    if stream.service then return end
    stream.service = side
    local key = serviceKey(stream.address[side], stream.port[side])
    services[key] = services[key] or { catalogues = {}, clients = {} }
    stream.known = services[key]
end

local ports = ""

-- Whether a port is in the preference's ranges.
local function isServicePort(port)
    for range in ports:gmatch("[^,]+") do
        local first, last = range:match("(%d*)%-?(%d*)")
        first = tonumber(first) or 1
        last = range:find("-", 1, true) and (tonumber(last) or 65535) or first
        if port >= first and port <= last then return true end
    end
    return false
end

-- Takes the side for the service whose port is in the preference, if nothing better is known.
local function serveByPort(stream)
    if stream.service or ports == "" then return end
    local first, second = isServicePort(stream.port[1]), isServicePort(stream.port[2])
    if first ~= second then serve(stream, first and 1 or 2) end
end

-- The newest of what was noted at or before a frame, or the first after it: on a second look it is known.
local function at(list, frame)
    local low, high = 1, #list
    while low < high do
        local middle = math.floor((low + high + 1) / 2)
        if list[middle].frame <= frame then low = middle else high = middle - 1 end
    end
    return list[low]
end

local function note(list, entry)
    local last = list[#list]
    if last and last.what == entry.what then return end
    list[#list + 1] = entry
end

-- The catalogue of the preference `elements`, or nil.
local listed

-- The catalogue for a frame of a stream, or nil: the client's own, or the newest that the service sent to anyone.
local function catalogueFor(stream, frame)
    local entry = at(stream.catalogues, frame)
    if not entry and stream.known then entry = at(stream.known.catalogues, frame) end
    if not entry and not stream.service then
        for side = 1, 2 do
            local service = services[serviceKey(stream.address[side], stream.port[side])]
            entry = entry or service and at(service.catalogues, frame)
        end
    end
    return entry and entry.what or listed
end

-- MARK: Catalogues

local Reader = {}
Reader.__index = Reader

local function reader(tvb, offset, limit) return setmetatable({ tvb = tvb, offset = offset, limit = limit }, Reader) end

-- The offset of so many bytes, or nil if there are not so many.
function Reader:take(count)
    local offset = self.offset
    if self.limit - offset < count then return nil end
    self.offset = offset + count
    return offset
end

function Reader:uint8()
    local offset = self:take(1)
    return offset and self.tvb(offset, 1):uint(), offset
end

function Reader:uint16()
    local offset = self:take(2)
    return offset and self.tvb(offset, 2):le_uint(), offset
end

function Reader:double()
    local offset = self:take(8)
    return offset and self.tvb(offset, 8):le_float(), offset
end

-- A text after its length; the second result is where it begins.
function Reader:text()
    local length = self:uint8()
    local offset = length and self:take(length)
    return offset and bytesOf(self.tvb, offset, length), offset, length
end

local function has(flags, bit) return math.floor(flags / 2 ^ bit) % 2 == 1 end

local function isFinite(number) return number == number and number ~= math.huge and number ~= -math.huge end

-- The texts of an integer's bytes, by which choices are compared.
local function integerText(range, type)
    if type.size < 8 then return tostring(type.kind == "int" and range:le_int() or range:le_uint()) end
    return tostring(type.kind == "int" and range:le_int64() or range:le_uint64())
end

-- Whether a range of the type is one of each component.
local function isVector(type) return type.kind == "floats" and type.size <= 16 end

-- Whether an entry's extensions can be found: where choices end of a type that has none is not known.
local function hasExtensions(flags, type)
    return not has(flags, 6) or type.kind == "int" or type.kind == "uint" or type.kind == "string"
end

-- Reads an entry's next extension: its tag, its length and where its bytes begin; nil where there is no whole one.
local function readExtension(r)
    local tag, length = r:uint8(), r:uint8()
    local place = length and r:take(length)
    if place then return tag, length, place end
end

-- Reads an entry. Returns the element, nil if its type is unknown, and what is wrong with it.
local function readEntry(tvb, offset, limit)
    local r = reader(tvb, offset, limit)
    local id, code, flags = r:uint8(), r:uint8(), r:uint8()
    local name = flags and r:text()
    local unit = name and r:text()
    if not unit then return nil, "an entry is cut off" end
    if not isUTF8(name) or not isUTF8(unit) then return nil, "a name or unit is not UTF-8" end
    local type = types[code]
    if not type then return nil end
    if id > 127 then return nil, "an identifier is negative" end
    if name == "" then return nil, "a name is empty" end
    local element = {
        id = id, code = code, type = type, name = name, label = printable(name), unit = printable(unit),
        mayRead = has(flags, 2), mayWrite = has(flags, 3),
    }
    if not element.mayRead and not element.mayWrite then return nil, "an element may be neither read nor written" end
    if has(flags, 4) then
        element.lower, element.upper = r:double(), r:double()
        if not element.upper or not isFinite(element.lower) or not isFinite(element.upper) or element.lower > element.upper
            or not type.numeric then
            return nil, "a range is missing, inverted, not finite, or of an element without numbers"
        end
    end
    if has(flags, 5) then
        element.step = r:double()
        if not element.step or not isFinite(element.step) or element.step <= 0 or not type.numeric then
            return nil, "a step is missing, not above 0, or of an element without numbers"
        end
    end
    if has(flags, 6) and (type.kind == "int" or type.kind == "uint" or type.kind == "string") then
        local count = r:uint8()
        if not count or count == 0 then return nil, "choices are missing" end
        element.choices = {}
        local names = {}
        for _ = 1, count do
            local value
            if type.size then
                local place = r:take(type.size)
                if not place then return nil, "choices are cut off" end
                value = integerText(tvb(place, type.size), type)
            end
            local text = r:text()
            if not text or text == "" or not isUTF8(text) then return nil, "a choice is cut off, empty or not UTF-8" end
            value = value or text
            if element.choices[value] or names[text] then return nil, "a choice is there twice" end
            element.choices[value] = printable(text)
            names[text] = true
        end
    end
    if not isVector(type) or not hasExtensions(flags, type) then return element end
    for tag, length, place in readExtension, r do
        if tag == 1 then
            local bounds = reader(tvb, place, place + length)
            element.lower, element.upper = bounds:double(), bounds:double()
            if length ~= 16 or not isFinite(element.lower) or not isFinite(element.upper) or element.lower > element.upper then
                return nil, "a range of components is missing, inverted or not finite"
            end
        end
    end
    return element
end

-- Reads a catalogue's elements by identifier. Returns nil and what is wrong with it if it is invalid.
local function readCatalogue(tvb, offset, length)
    local r = reader(tvb, offset, offset + length)
    local form, count = r:uint8(), r:uint8()
    if not count then return nil, "it is cut off" end
    if form ~= 1 then return nil, "its form is " .. form end
    if count > 128 then return nil, "it announces " .. count .. " elements" end
    local elements, names = { count = 0 }, {}
    for _ = 1, count do
        local size = r:uint16()
        local start = size and r:take(size)
        if not start then return nil, "it is cut off after " .. counted(elements.count, "element") end
        local element, problem = readEntry(tvb, start, start + size)
        if problem then return nil, problem end
        if element then
            if elements[element.id] or names[element.name] then return nil, "an identifier or name is there twice" end
            elements[element.id], names[element.name] = element, true
            elements.count = elements.count + 1
        end
    end
    return elements
end

-- The catalogue of the preference, for services that send none.
local function readElements(text)
    local elements
    for spec in text:gmatch("[^;]+") do
        local id, name, kind, rest = spec:match("^%s*(%d+):([^:]+):(%w+)(.*)$")
        local code = kind and typeCodes[kind]
        if code and tonumber(id) <= 127 then
            elements = elements or { count = 0 }
            elements[tonumber(id)] = {
                id = tonumber(id), code = code, type = types[code], name = name, label = printable(name),
                unit = printable(rest:match(":unit ([^:]+)") or ""):gsub("%s+$", ""), mayRead = true, mayWrite = true,
            }
            elements.count = elements.count + 1
        end
    end
    return elements
end

-- MARK: Messages

-- What is known while a packet's messages are shown: pinfo, tree, stream, side, transport ("TCP" or "UDP"), fromService
-- (nil if unknown), catalogue (nil if unknown), labels for the column Info, and the count of messages.

local function complain(item, kind, text) item:add_proto_expert_info(e[kind], text) end

local function generated(item)
    item:set_generated(true)
    return item
end

local function addName(item, range, element)
    generated(item:add(f.name, range, element.label))
    generated(item:add(f.type, range, element.code))
    if element.unit ~= "" then generated(item:add(f.unit, range, element.unit)) end
end

-- Adds a value of a known type. Returns its text, its number or its components if its type may have a range, the key of its
-- choice, and what is wrong with its form.
local function addValue(item, tvb, offset, length, type)
    if length == 0 then return "", nil, "" end
    local range = tvb(offset, length)
    local kind = type.kind
    if kind == "int" or kind == "uint" then
        item:add_le(f[kind], range)
        local text = integerText(range, type)
        return text, tonumber(text), text
    elseif kind == "float" or kind == "double" then
        local value = range:le_float()
        item:add(f.float, range, value)
        return shortest(value, kind == "double"), value
    elseif kind == "bool" then
        item:add(f.bool, range)
        local byte = range:uint()
        return byte == 0 and "false" or "true", nil, nil, byte > 1 and "a bool of " .. byte or nil
    elseif kind == "floats" then
        local texts, numbers = {}, {}
        for place = offset, offset + length - 4, 4 do
            local value = tvb(place, 4):le_float()
            item:add(f.float, tvb(place, 4), value)
            texts[#texts + 1], numbers[#numbers + 1] = shortest(value), value
        end
        return table.concat(texts, ", "), numbers
    elseif kind == "string" then
        local text = bytesOf(tvb, offset, length)
        if not isUTF8(text) then
            item:add(f.undecoded, range)
            return printable(text), nil, nil, "a string that is not UTF-8"
        end
        item:add_packet_field(f.string, range, ENC_UTF_8)
        return printable(text), nil, text
    end
    item:add(f.data, range)
    return hexadecimal(bytesOf(tvb, offset, math.min(length, textBytes + 1)))
end

-- Whether a number, or each of several, is within the element's range.
local function isInRange(element, value)
    for _, number in ipairs(type(value) == "table" and value or { value }) do
        if not (number >= element.lower and number <= element.upper) then return false end
    end
    return true
end

-- How a value is called in the column Info and at the top of the tree.
local function label(element, text, length)
    local kind = element.type.kind
    if kind == "string" then text = '"' .. (#text > namedCharacters and printable(text, namedCharacters) or text) .. '"' end
    if kind == "data" then text = counted(length, "byte") end
    if kind == "floats" then text = "(" .. (#text > 4 * namedCharacters and text:sub(1, 4 * namedCharacters) .. "…" or text) .. ")" end
    return element.label .. "=" .. text .. (element.unit ~= "" and " " .. element.unit or "")
end

-- Adds a user's value, and what the receiver would find wrong with it. Returns its label.
local function addUserValue(context, item, tvb, offset, length, id, header)
    local catalogue = context.catalogue
    local element = catalogue and catalogue[id]
    local range = length > 0 and tvb(offset, length) or header
    if not element then
        if length > 0 then item:add(f.undecoded, range) end
        local text = "element " .. id .. " (" .. counted(length, "byte") .. ")"
        if not catalogue then return text end
        complain(item, "unknown", "The catalogue has no element " .. id)
        return text .. " [unknown]"
    end
    addName(item, range, element)
    local type = element.type
    if type.size and type.size ~= length then
        if length > 0 then item:add(f.undecoded, range) end
        complain(item, "wrong_length", element.label .. " has " .. counted(length, "byte") .. ", and " .. type.name .. " has "
            .. type.size)
        return element.label .. " [" .. counted(length, "byte") .. " instead of " .. type.size .. "]"
    end
    local text, number, choice, problem = addValue(item, tvb, offset, length, type)
    local shown = item:add(f.value, range, text)
    generated(shown)
    if element.unit ~= "" then shown:append_text(" " .. element.unit) end
    local name = label(element, text, length)
    if problem then
        complain(item, "malformed", element.label .. " is " .. problem)
        return name .. " [malformed]"
    end
    if context.fromService == false and not element.mayWrite or context.fromService and not element.mayRead then
        complain(item, "not_allowed", (context.fromService and "The client may not read " or "The client may not write ")
            .. element.label)
        name = name .. " [not allowed]"
    end
    if element.lower and number and not isInRange(element, number) then
        complain(item, "out_of_range", string.format("%s is outside %.15g...%.15g", text, element.lower, element.upper))
        name = name .. " [outside its range]"
    end
    if element.choices then
        local known = element.choices[choice]
        if known then
            if type.kind ~= "string" then
                generated(item:add(f.choice, range, known))
                name = name .. " (" .. known .. ")"
            end
        else
            complain(item, "not_a_choice", text .. " is not one of the choices of " .. element.label)
            name = name .. " [not a choice]"
        end
    end
    return name
end

-- A text that is a whole value. Returns it as it may be shown.
local function addText(item, key, tvb, offset, length)
    if length == 0 then return "" end
    local text = bytesOf(tvb, offset, math.min(length, maximumText))
    if isUTF8(text) or length > maximumText then
        item:add_packet_field(f[key], tvb(offset, math.min(length, maximumText)), ENC_UTF_8)
    else
        item:add(f.undecoded, tvb(offset, length))
        complain(item, "malformed", "The text is not UTF-8")
    end
    return text
end

local function named(context, id)
    local element = context.catalogue and context.catalogue[id]
    return element and element.label or "element " .. id
end

-- The system elements, by identifier: each adds its value and returns its label, or its label with what is wrong.
local system = {}

system[-1] = function(context, item, tvb, offset, length)
    if length ~= 1 then return "UDP identifier", "wrong_length", "a UDP identifier has 1 byte" end
    local identifier = tvb(offset, 1):uint()
    item:add(f.udpIdentifier, tvb(offset, 1))
    if context.fromService and not context.pinfo.visited and identifier > 0 then
        local stream = context.stream
        local key = stream.address[3 - context.side] .. "#" .. identifier
        local clients = stream.known.clients
        clients[key] = clients[key] or {}
        note(clients[key], { frame = context.pinfo.number, what = stream })
    end
    if identifier == 0 then return "no UDP identifier" end
    if identifier == 255 then return "UDP identifier 255", "malformed", "UDP identifiers are 1...254, or 0 for none" end
    return "UDP identifier " .. identifier
end

system[-2] = function(_, item, tvb, offset, length)
    return "device name " .. quoted(addText(item, "client", tvb, offset, length))
end

system[-3] = function(_, item, tvb, offset, length)
    return "shutdown " .. quoted(addText(item, "shutdown", tvb, offset, length), textCharacters)
end

system[-4] = function(context, item, tvb, offset, length)
    if length < 7 then return "hello", "malformed", "a hello has at least 7 bytes" end
    item:add(f.helloVersion, tvb(offset, 1))
    local features = item:add_le(f.helloFeatures, tvb(offset + 1, 4))
    for bit = 1, #featureBits do features:add_le(f["feature" .. bit], tvb(offset + 1, 4)) end
    item:add_le(f.helloPort, tvb(offset + 5, 2))
    if length > 7 then item:add(f.undecoded, tvb(offset + 7, length - 7)) end
    local port = tvb(offset + 5, 2):le_uint()
    return "hello" .. (port > 0 and ", takes datagrams at port " .. port or "")
end

-- Shows an entry of a catalogue as far as its bytes reach.
local function addEntry(tree, tvb, offset, size)
    local entry = tree:add(f.entry, tvb(offset - 2, size + 2))
    entry:add_le(f.entrySize, tvb(offset - 2, 2))
    local r = reader(tvb, offset, offset + size)
    local id, place = r:uint8()
    if not id then return end
    entry:add(f.entryID, tvb(place, 1))
    local code
    code, place = r:uint8()
    if not code then return end
    entry:add(f.entryType, tvb(place, 1))
    local flags
    flags, place = r:uint8()
    if not flags then return end
    local item = entry:add(f.entryFlags, tvb(place, 1))
    for bit = 1, #flagBits do item:add(f["flag" .. bit], tvb(place, 1)) end
    local name, from, length = r:text()
    if not name then return end
    if length > 0 then entry:add_packet_field(f.entryName, tvb(from, length), ENC_UTF_8) end
    local unit
    unit, from, length = r:text()
    if not unit then return end
    if length > 0 then entry:add_packet_field(f.entryUnit, tvb(from, length), ENC_UTF_8) end
    entry:set_text(string.format("%d %s: %s%s", id, printable(name, namedCharacters), typeNames[code] or "unknown type " .. code,
        unit ~= "" and ", " .. printable(unit, namedCharacters) or ""))
    for _, key in ipairs({ has(flags, 4) and "entryLower", has(flags, 4) and "entryUpper", has(flags, 5) and "entryStep" }) do
        if key then
            local number
            number, place = r:double()
            if not number then return end
            entry:add(f[key], tvb(place, 8), number)
        end
    end
    local type = types[code]
    if not type or not hasExtensions(flags, type) then return end
    for _ = 1, has(flags, 6) and r:uint8() or 0 do
        local start = r.offset
        local value = type.size and r:take(type.size)
        local text = r:text()
        if not text then return end
        local shown = printable(text)
        if value then shown = integerText(tvb(value, type.size), type) .. " " .. shown end
        entry:add(f.entryChoice, tvb(start, r.offset - start), shown)
    end
    for tag, size, start in readExtension, r do
        local extension = entry:add(f.entryExtension, tvb(start - 2, 1))
        extension:set_len(2 + size)
        if tag == 1 and size == 16 then
            extension:append_text(" (range of each component)")
            extension:add_le(f.entryLower, tvb(start, 8))
            extension:add_le(f.entryUpper, tvb(start + 8, 8))
        end
    end
end

system[-5] = function(context, item, tvb, offset, length)
    if length > maximumCatalogue then return "catalogue", "malformed", "a catalogue has at most 1 MiB" end
    if length < 2 then return "catalogue", "malformed", "the catalogue is cut off" end
    item:add(f.catalogueForm, tvb(offset, 1))
    item:add(f.catalogueCount, tvb(offset + 1, 1))
    local count = tvb(offset + 1, 1):uint()
    local r = reader(tvb, offset + 2, offset + length)
    if tvb(offset, 1):uint() == 1 then
        for _ = 1, count do
            local size = r:uint16()
            local start = size and r:take(size)
            if not start then break end
            addEntry(item, tvb, start, size)
        end
    end
    local bytes = bytesOf(tvb, offset, length)
    local known = catalogues[bytes]
    if not known then
        local catalogue, problem = readCatalogue(tvb, offset, length)
        known = { catalogue = catalogue, problem = problem }
        catalogues[bytes] = known
    end
    local text = "catalogue, " .. counted(count, "element")
    if not known.catalogue then return text, "malformed", "the catalogue is invalid: " .. known.problem end
    if context.fromService and not context.pinfo.visited then
        local entry = { frame = context.pinfo.number, what = known.catalogue }
        note(context.stream.catalogues, entry)
        note(context.stream.known.catalogues, entry)
        context.catalogue = known.catalogue
    end
    return text
end

local function pingKey(context, side, bytes) return side .. context.transport .. bytes end

system[-6] = function(context, item, tvb, offset, length)
    if length < 1 or length > maximumPing then return "ping", "malformed", "a ping has 1 to 1,024 bytes" end
    item:add(f.ping, tvb(offset, length))
    local stream, frame = context.stream, context.pinfo.number
    local key = pingKey(context, context.side, bytesOf(tvb, offset, length))
    if not context.pinfo.visited then stream.pings[key] = { frame = frame, time = context.pinfo.rel_ts } end
    local answer = stream.answers[frame .. key]
    if answer then generated(item:add(f.pingAnswer, tvb(offset, length), answer)) end
    return "ping"
end

system[-7] = function(context, item, tvb, offset, length)
    if length < 1 or length > maximumPing then return "pong", "malformed", "a pong has 1 to 1,024 bytes" end
    item:add(f.ping, tvb(offset, length))
    local stream, frame = context.stream, context.pinfo.number
    local key = pingKey(context, 3 - context.side, bytesOf(tvb, offset, length))
    local request = stream.pings[key]
    if not context.pinfo.visited and request then
        stream.requests[frame .. key] = request
        stream.answers[request.frame .. key] = frame
        stream.pings[key] = nil
    end
    request = stream.requests[frame .. key]
    if not request then return "pong" end
    local seconds = context.pinfo.rel_ts - request.time
    generated(item:add(f.pingRequest, tvb(offset, length), request.frame))
    generated(item:add(f.pingTime, tvb(offset, length), seconds))
    return string.format("pong after %.3f ms", 1000 * seconds)
end

-- Takes a piece at its first sight. Returns what became of it: a problem, or the value with the last piece, or neither.
local function takePiece(context, id, total, offset, bytes)
    local pieces, side = context.stream.pieces, context.side
    local value = pieces[side]
    if not value and offset > 0 then return { problem = "the beginning of the value is not in the capture" } end
    if not value then
        value = { id = id, total = total, count = 0, parts = {}, isKept = total <= keptValue and keptCount + total <= keptValues }
        pieces[side] = value
    end
    if id ~= value.id or total ~= value.total or offset ~= value.count or #bytes > total - offset then
        pieces[side] = nil
        return {
            isViolation = true,
            problem = string.format("a piece of element %d at %d of %d does not follow %d of %d bytes of element %d", id, offset,
                total, value.count, value.total, value.id),
        }
    end
    value.count = value.count + #bytes
    if value.isKept then value.parts[#value.parts + 1] = bytes end
    if value.count < total then return {} end
    pieces[side] = nil
    if not value.isKept then return { problem = "the value is too large to be kept here" } end
    keptCount = keptCount + total
    return { value = table.concat(value.parts) }
end

system[-8] = function(context, item, tvb, offset, length)
    local count = length - pieceHeader
    if count < 1 or count > maximumPiece then return "piece", "violation", "a piece has 1 to 65,536 bytes of a value" end
    local id = tvb(offset, 1):int()
    local total, start = tvb(offset + 1, 4):le_uint(), tvb(offset + 5, 4):le_uint()
    item:add(f.pieceElement, tvb(offset, 1))
    item:add_le(f.pieceTotal, tvb(offset + 1, 4))
    item:add_le(f.pieceOffset, tvb(offset + 5, 4))
    item:add(f.pieceData, tvb(offset + pieceHeader, count))
    if id < 0 then return "piece", "violation", "a piece of a system element" end
    local name = named(context, id)
    local text = string.format("piece of %s, %d of %d bytes", name, start + count, total)
    if total > elemental.prefs.limit then return text, "violation", "the value is longer than the limit" end
    -- The place decides: Wireshark may come to the same frame several times.
    local key = table.concat({ context.pinfo.number, context.side, id, total, start }, ":")
    local outcome = context.stream.outcomes[key]
    if not outcome and not context.pinfo.visited then
        outcome = takePiece(context, id, total, start, bytesOf(tvb, offset + pieceHeader, count))
        context.stream.outcomes[key] = outcome
    end
    if outcome and outcome.value then
        local whole = ByteArray.new(outcome.value, true):tvb("Value of " .. name)
        local range = whole(0, total)
        item:add(f.reassembled, range, true):set_generated(true)
        generated(item:add(f.id, range, id))
        return addUserValue(context, item, whole, 0, total, id, range) .. " (put together from pieces)"
    end
    local element = context.catalogue and context.catalogue[id]
    if element then generated(item:add(f.name, tvb(offset, 1), element.label)) end
    if outcome and outcome.problem then return text, outcome.isViolation and "violation" or "reassembly", outcome.problem end
    return text
end

system[-9] = function(_, item, tvb, offset, length)
    if length ~= 4 then return "pieces taken", "wrong_length", "it has 4 bytes" end
    item:add_le(f.taken, tvb(offset, 4))
    return "pieces taken, " .. tvb(offset, 4):le_uint() .. " bytes"
end

system[-11] = function(context, item, tvb, offset, length)
    if length < 2 or length > 2 + maximumText then return "refused", "malformed", "it has 2 to 1,026 bytes" end
    local id, reason = tvb(offset, 1):int(), tvb(offset + 1, 1):uint()
    item:add(f.refusedElement, tvb(offset, 1))
    item:add(f.refusedReason, tvb(offset + 1, 1))
    local element = context.catalogue and context.catalogue[id]
    if element then generated(item:add(f.name, tvb(offset, 1), element.label)) end
    local message = addText(item, "refusedMessage", tvb, offset + 2, length - 2)
    local text = "refused " .. named(context, id) .. ": " .. (refusalReasons[reason] or refusalReasons[5])
    if message ~= "" then text = text .. "; " .. printable(message) end
    return text, "refused", text
end

-- What a message of the admission consists of.
local admissionFields = {
    [1] = { "service", "role", "name" }, [2] = { "service" }, [3] = { "kind", "nonce", "seconds", "service" },
    [4] = { "nonce", "point", "role", "name" }, [5] = { "point", "role", "tag" }, [6] = { "tag" }, [7] = { "role", "service" },
    [16] = { "service", "seconds", "role", "kind" }, [17] = { "seconds", "role", "kind", "secret" },
    [18] = { "service", "fingerprint" }, [19] = { "count", "list" }, [255] = { "code", "sentence" },
}
local admissionSizes = { role = 1, kind = 1, code = 1, nonce = 16, point = 32, tag = 32, fingerprint = 32 }
local admissionKeys = {
    service = "admissionService", role = "admissionRole", name = "admissionName", kind = "admissionKind",
    nonce = "admissionNonce", seconds = "admissionSeconds", point = "admissionPoint", tag = "admissionTag",
    secret = "admissionSecret", fingerprint = "admissionFingerprint", count = "admissionCount", code = "admissionCode",
    sentence = "admissionSentence",
}

-- Adds a field of an admission. Returns whether it is there.
local function addAdmissionField(item, r, what)
    local tvb, key = r.tvb, f[admissionKeys[what]]
    if admissionSizes[what] then
        local place = r:take(admissionSizes[what])
        if place then item:add(key, tvb(place, admissionSizes[what])) end
        return place
    elseif what == "seconds" or what == "count" then
        local _, place = r:uint16()
        if place then item:add_le(key, tvb(place, 2)) end
        return place
    elseif what == "secret" then
        local place, length = r.offset, r.limit - r.offset
        if length ~= 6 and length ~= 20 then return nil end
        item:add(key, tvb(place, length))
        return r:take(length)
    end
    local text, place, length = r:text()
    if text and length > 0 then item:add_packet_field(key, tvb(place, length), ENC_UTF_8) end
    return text
end

system[-13] = function(context, item, tvb, offset, length)
    if length < 2 then return "admission", "malformed", "it is cut off" end
    local version, message = tvb(offset, 1):uint(), tvb(offset + 1, 1):uint()
    item:add(f.admissionVersion, tvb(offset, 1))
    item:add(f.admission, tvb(offset + 1, 1))
    local text = "admission: " .. (admissionNames[message] or "unknown message " .. message)
    if version ~= 1 or not admissionFields[message] then return text, "malformed", "an unknown version or message" end
    local r = reader(tvb, offset + 2, offset + length)
    for _, what in ipairs(admissionFields[message]) do
        if what == "list" then
            while r.offset < r.limit do
                if not addAdmissionField(item, r, "fingerprint") or not addAdmissionField(item, r, "name") then
                    return text, "malformed", "it is cut off"
                end
            end
        elseif not addAdmissionField(item, r, what) then
            return text, "malformed", "it is cut off"
        end
    end
    if r.offset < r.limit then return text, "malformed", "it has bytes after its fields" end
    if message == 255 then
        local code = tvb(offset + 2, 1):uint()
        text = text .. ", " .. (admissionCodes[code] or "code " .. code)
    end
    return text
end

system[-14] = function(_, item, tvb, offset, length)
    if length ~= 33 then return "datagram secret", "wrong_length", "it has 33 bytes" end
    item:add(f.secretEpoch, tvb(offset, 1))
    item:add(f.secretBytes, tvb(offset + 1, 32))
    return "datagram secret"
end

system[-16] = function(context, item, tvb, offset, length)
    if length ~= 37 then return "clock", "wrong_length", "it has 37 bytes" end
    local kind = tvb(offset, 1):uint()
    item:add(f.clockKind, tvb(offset, 1))
    item:add_le(f.clockNonce, tvb(offset + 1, 8))
    for place, key in ipairs { "clockFirst", "clockSecond", "clockAnchor" } do
        item:add_le(f[key], tvb(offset + 1 + 8 * place, 8))
    end
    item:add_le(f.clockSlept, tvb(offset + 33, 4))
    local name = clockKinds[kind]
    if not name then return "clock", "malformed", "an unknown kind" end
    if context.fromService ~= nil and (name == "answer") ~= context.fromService then
        return "clock " .. name, "malformed", "only a " .. (name == "answer" and "service" or "client") .. " sends it"
    end
    return "clock " .. name
end

-- A value behind its time; with 128 added to the element, the value comes later.
system[-17] = function(context, item, tvb, offset, length)
    if length < 9 then return "timed value", "malformed", "it has 9 bytes at least" end
    local id = tvb(offset, 1):uint()
    item:add_le(f.time, tvb(offset + 1, 8))
    if id < 128 then return addUserValue(context, item, tvb, offset + 9, length - 9, id, tvb(offset, 1)) .. " (timed)" end
    if length > 9 then return "time of a value", "malformed", "the value comes later" end
    return "time of the next " .. named(context, id - 128)
end

-- A number of missing values: all bits set if it is not known.
local function addMissing(item, field, range)
    local shown = item:add_le(field, range)
    if range:bytes():tohex() == "FFFFFFFFFFFFFFFF" then shown:append_text(" (not known)") end
end

local historyFields = {
    function(item, tvb, offset, length)
        if length < 12 then return "it is cut off" end
        item:add(f.historyElement, tvb(offset + 9, 1))
        item:add(f.historyWaits, tvb(offset + 10, 1))
        item:add(f.historyCancelled, tvb(offset + 10, 1))
        local form = tvb(offset + 11, 1):uint()
        item:add(f.historyForm, tvb(offset + 11, 1))
        if length ~= 12 + (({ 8, 4, 32 })[form] or -1) then return "an unknown form, or another length" end
        if form == 1 then item:add_le(f.time, tvb(offset + 12, 8)) end
        if form == 2 then item:add_le(f.historyCount, tvb(offset + 12, 4)) end
        if form < 3 then return end
        item:add(f.historyLife, tvb(offset + 12, 16))
        item:add_le(f.historyNumber, tvb(offset + 28, 8))
        item:add_le(f.historyCheck, tvb(offset + 36, 8))
    end,
    function(item, tvb, offset, length)
        if length < 65 then return "it is cut off" end
        item:add(f.historyLife, tvb(offset + 9, 16))
        item:add_le(f.historyNumber, tvb(offset + 25, 8))
        item:add_le(f.historyNext, tvb(offset + 33, 8))
        item:add_le(f.historyCheck, tvb(offset + 41, 8))
        addMissing(item, f.historyMissing, tvb(offset + 49, 8))
        addMissing(item, f.historyAtMost, tvb(offset + 57, 8))
        local at = 65
        while at < length do
            local count = at + 12 <= length and tvb(offset + at + 8, 4):le_uint()
            if not count or at + 12 + count > length then return "a value is cut off" end
            item:add_le(f.time, tvb(offset + at, 8))
            if count > 0 then item:add(f.historyValue, tvb(offset + at + 12, count)) end
            at = at + 12 + count
        end
    end,
    function(item, tvb, offset, length)
        if length ~= 10 then return "it has 10 bytes" end
        item:add(f.historyReason, tvb(offset + 9, 1))
    end,
}

system[-18] = function(context, item, tvb, offset, length)
    if length < 9 then return "history", "malformed", "it is cut off" end
    local kind = tvb(offset, 1):uint()
    item:add(f.historyKind, tvb(offset, 1))
    item:add_le(f.historyToken, tvb(offset + 1, 8))
    local name, read = historyKinds[kind], historyFields[kind]
    if not name then return "history", "malformed", "an unknown kind" end
    local problem = read(item, tvb, offset, length)
    if problem then return "history " .. name, "malformed", problem end
    if context.fromService ~= nil and (kind ~= 1) ~= context.fromService then
        return "history " .. name, "malformed", "only a " .. (kind == 1 and "client" or "service") .. " sends it"
    end
    return "history " .. name
end

-- Who may send a system element: "service", "client", or missing for either.
local senders = { [-1] = "service", [-2] = "client", [-3] = "service", [-5] = "service", [-11] = "service" }

-- Adds a message whose bytes are all there.
local function addMessage(context, tvb, offset, headerLength, id, length)
    local item = context.tree:add(f.message, tvb(offset, headerLength + length))
    local header, body = tvb(offset, headerLength), offset + headerLength
    item:add(f.id, tvb(offset, 1))
    if id < 0 then generated(item:add(f.system, tvb(offset, 1), systemNames[id] or "unknown")) end
    item:add_le(f.length, tvb(offset + 1, 4))
    if headerLength == datagramHeader then item:add(f.udpIdentifier, tvb(offset + 5, 1)) end
    if context.fromService ~= nil then generated(item:add(f.fromService, header, context.fromService)) end
    local text, kind, problem
    local sender = senders[id]
    if id >= 0 then
        text = addUserValue(context, item, tvb, body, length, id, header)
    elseif not system[id] or context.transport == "UDP" and id ~= -6 and id ~= -7 and id ~= -17 then
        text = systemNames[id] or "system element " .. id
        if length > 0 then item:add(f.undecoded, tvb(body, length)) end
        if not systemNames[id] then
            kind, problem = "unknown", "there is no system element " .. id
        elseif system[id] then
            kind, problem = "unexpected", "it is not sent in datagrams"
        else
            kind, problem = "unexpected", "it travels on a Commodore's serial line only"
        end
    else
        text, kind, problem = system[id](context, item, tvb, body, length)
        if not kind then
            if sender and context.fromService ~= nil and (sender == "service") ~= context.fromService then
                kind, problem = "unexpected", "only a " .. sender .. " sends it"
            elseif (id == -13 or id == -14) and not context.isInside then
                kind, problem = "unexpected", "it is sent inside TLS only"
            end
        end
    end
    if kind then
        complain(item, kind, kind == "refused" and problem or systemNames[id] and systemNames[id] .. ": " .. problem or problem)
        if kind ~= "refused" then text = text .. " [" .. (kind == "reassembly" and problem or kind:gsub("_", " ")) .. "]" end
    end
    item:set_text(text)
    context.count = context.count + 1
    if context.count <= namedMessages then context.labels[context.count] = text end
end

-- MARK: Packets

local function beginPacket(context)
    if context.tree then return end
    context.tree = context.root:add(elemental, context.tvb)
end

-- Writes the columns, and the line at the top of the tree.
local function endPacket(context)
    if not context.tree then return end
    local pinfo = context.pinfo
    local text = table.concat(context.labels, ", ")
    if context.count > namedMessages then text = text .. " and " .. (context.count - namedMessages) .. " more" end
    local direction = context.fromService == nil and "" or context.fromService and ", from the service" or ", to the service"
    context.tree:append_text(direction .. ": " .. text)
    pinfo.cols.protocol:set("ELEMENTAL")
    -- A frame may have the ends of several reassembled parts, each of which comes here.
    local isFirst = pinfo.private.elemental == nil
    pinfo.private.elemental = "1"
    pinfo.cols.info:clear()
    pinfo.cols.info:append((isFirst and "" or ", ") .. text)
    pinfo.cols.info:fence()
end

local function newContext(tvb, pinfo, root, stream, side, transport)
    local fromService
    if stream.service then fromService = stream.service == side end
    return {
        tvb = tvb, pinfo = pinfo, root = root, stream = stream, side = side, transport = transport, labels = {}, count = 0,
        fromService = fromService, catalogue = catalogueFor(stream, pinfo.number),
    }
end

local function say(context, text)
    context.count = context.count + 1
    if context.count <= namedMessages then context.labels[context.count] = text end
end

-- What remains of a packet and is not decoded.
local function addRest(context, offset, kind, text)
    beginPacket(context)
    local range = context.tvb(offset)
    local item = context.tree:add(f.undecoded, range)
    if kind then complain(item, kind, text) end
    say(context, text)
end

-- MARK: TCP

-- Whether a frame of this identifier and length is one that a connection may begin with, in either direction.
local function isBeginning(tvb)
    local available = tvb:len()
    if available < streamHeader + 1 then return false end
    local id, length = tvb(0, 1):int(), tvb(1, 4):le_uint()
    if id == -1 then return length == 1 end
    if id ~= -2 and id ~= -3 then return false end
    if length < 1 or length > maximumText then return false end
    local shown = math.min(length, available - streamHeader)
    local text = tvb:raw(streamHeader, shown)
    -- A text without control characters, and after it nothing, or for a client its hello.
    if text:find("[\0-\31\127]") or length == shown and not isUTF8(text) then return false end
    if available <= streamHeader + length then return true end
    return tvb(streamHeader + length, 1):int() == -4 or tvb(streamHeader + length, 1):int() == -14
        or tvb(streamHeader + length, 1):int() >= 0 and id == -2
end

local systemLengths = {
    [-1] = { 1, 1 }, [-2] = { 1, maximumText }, [-3] = { 0, 65536 }, [-4] = { 7, maximumText }, [-5] = { 2, maximumCatalogue },
    [-6] = { 1, maximumPing }, [-7] = { 1, maximumPing }, [-8] = { pieceHeader + 1, pieceHeader + maximumPiece }, [-9] = { 4, 4 },
    [-11] = { 2, 2 + maximumText }, [-13] = { 2, maximumText }, [-14] = { 33, 33 },
}

-- Whether a segment in the middle of a stream begins with a frame, as far as one can tell.
local function isFrame(tvb, stream, frame)
    local available, offset = tvb:len(), 0
    if available < streamHeader then return false end
    local catalogue = catalogueFor(stream, frame)
    while available - offset >= streamHeader do
        local id, length = tvb(offset, 1):int(), tvb(offset + 1, 4):le_uint()
        local range = systemLengths[id]
        if id < 0 then
            if not range or length < range[1] or length > range[2] then return false end
        elseif catalogue then
            local element = catalogue[id]
            if not element or element.type.size and element.type.size ~= length or length > elemental.prefs.limit then return false end
        elseif length > 65536 then
            return false
        end
        offset = offset + streamHeader + length
    end
    return true
end

local function isClientHello(tvb)
    if tvb:len() < 6 then return false end
    local a, b, c, high, low, message = tvb:raw(0, 6):byte(1, 6)
    local length = high * 256 + low
    return a == 0x16 and b == 3 and c >= 1 and c <= 4 and length >= 1 and length <= 16384 and message == 1
end

local function isTLSRecord(tvb)
    if tvb:len() < 3 then return false end
    local kind, major = tvb:raw(0, 2):byte(1, 2)
    return kind >= 20 and kind <= 23 and major == 3
end

-- Whether it is the ClientHello of a client of ours.
local function isOurClientHello(tvb)
    return isClientHello(tvb) and tvb:raw(0, math.min(tvb:len(), 16389)):find(protocolName, 1, true) ~= nil
end

local tls = Dissector.get("tls")
-- Whether it is TLS that called, with what it has decrypted.
local isInside = false

local function dissectTLS(tvb, pinfo, root)
    local item = root:add(elemental, tvb(), "Elemental, encrypted by TLS")
    generated(item:add(f.tls, tvb(), true))
    -- TLS puts its records together itself, and what calls it has to let it.
    pinfo.can_desegment = 2
    isInside = true
    local isDone, problem = pcall(tls.call, tls, tvb, pinfo, root)
    isInside = false
    if not isDone then complain(item, "malformed", "TLS: " .. tostring(problem)) end
    pinfo.cols.protocol:set("ELEMENTAL/TLS")
    return tvb:len()
end

-- What the first message of a stream says about who is the service.
local function recogniseService(stream, side, id)
    if stream.service then return end
    if id == -1 or id == -3 or id == -5 or id == -11 then serve(stream, side) elseif id == -2 then serve(stream, 3 - side) end
end

local function dissectStream(tvb, pinfo, root)
    local stream, side = streamOf(streams, tcpStream(), pinfo)
    if not isInside then
        if not stream.service and isOurClientHello(tvb) then
            serve(stream, 3 - side)
            stream.isTLS = true
        elseif not stream.isTLS and not stream.from[1] and not stream.from[2] and stream.service and isTLSRecord(tvb) then
            stream.isTLS = true
        end
        if stream.isTLS and not (stream.service == side and isBeginning(tvb)) then return dissectTLS(tvb, pinfo, root) end
    end
    local frame, available = pinfo.number, tvb:len()
    -- A first frame says more than a preference.
    if not isBeginning(tvb) then serveByPort(stream) end
    local context = newContext(tvb, pinfo, root, stream, side, "TCP")
    context.isInside = isInside
    if not stream.from[side] and not pinfo.visited and (isInside or isBeginning(tvb) or isFrame(tvb, stream, frame)) then
        stream.from[side] = frame
    end
    if not stream.from[side] or frame < stream.from[side] then
        addRest(context, 0, nil, "part of a frame whose beginning is not in the capture")
        endPacket(context)
        return available
    end
    if stream.stopped[side] and frame > stream.stopped[side] then
        addRest(context, 0, nil, "after a violation, not decoded")
        endPacket(context)
        return available
    end
    local offset = 0
    while offset < available do
        local remaining = available - offset
        local id, length, missing
        if remaining < streamHeader then
            missing = DESEGMENT_ONE_MORE_SEGMENT
        else
            id, length = tvb(offset, 1):int(), tvb(offset + 1, 4):le_uint()
            if length > math.max(elemental.prefs.limit, maximumCatalogue) or id >= 0 and length > elemental.prefs.limit then
                stream.stopped[side] = stream.stopped[side] or frame
                addRest(context, offset, "violation", "Element " .. id .. " announces " .. length .. " bytes")
                break
            end
            if remaining < streamHeader + length then missing = streamHeader + length - remaining end
        end
        if missing then
            if pinfo.can_desegment > 0 then
                pinfo.desegment_offset, pinfo.desegment_len = offset, missing
                local element = id and context.catalogue and context.catalogue[id]
                if element and element.type.size and element.type.size ~= length then
                    addRest(context, offset, "wrong_length", element.label .. " announces " .. length .. " bytes, and "
                        .. element.type.name .. " has " .. element.type.size)
                end
            else
                addRest(context, offset, "truncated", "The frame is not whole in the capture")
            end
            break
        end
        recogniseService(stream, side, id)
        if stream.service then context.fromService = stream.service == side end
        beginPacket(context)
        addMessage(context, tvb, offset, streamHeader, id, length)
        offset = offset + streamHeader + length
    end
    endPacket(context)
    return available
end

-- MARK: UDP

local function dissectDatagram(tvb, pinfo, root)
    local pair, side = streamOf(datagramStreams, udpStream(), pinfo)
    local frame, available = pinfo.number, tvb:len()
    if available < datagramHeader then return 0 end
    serveByPort(pair)
    local toService = services[serviceKey(pair.address[3 - side], pair.port[3 - side])]
    local fromService = services[serviceKey(pair.address[side], pair.port[side])]
    local isSealed = tvb(0, 1):uint() == sealedMark
    local identifier = isSealed and tvb(1, 1):uint() or tvb(5, 1):uint()

    -- The connection with this identifier, as long as there is no later one with it.
    local function connection(service, client)
        local list = service and service.clients[pair.address[client] .. "#" .. identifier]
        local entry = list and at(list, frame)
        return entry and entry.what
    end
    local outgoing, incoming = connection(toService, side), connection(fromService, 3 - side)
    local found = outgoing or incoming
    local isFromService
    if found then isFromService = not outgoing elseif toService then isFromService = false
    elseif fromService then isFromService = true end

    -- A connection's own sides decide whose ping is whose: datagrams may come from another port of the client.
    local owner = found or pair
    local ownSide = side
    if found then ownSide = isFromService and found.service or 3 - found.service end
    local context = newContext(tvb, pinfo, root, owner, ownSide, "UDP")
    context.fromService = isFromService
    if not context.catalogue and (toService or fromService) then
        local entry = at((toService or fromService).catalogues, frame)
        context.catalogue = entry and entry.what
    end
    beginPacket(context)
    local tree = context.tree

    if isSealed then
        local text = "sealed"
        local item = tree:add(f.message, tvb())
        if available < sealedHeader + sealedTag + datagramHeader then
            complain(item, "malformed", "A sealed datagram has at least 30 bytes")
            text = text .. " [malformed]"
        else
            local count = available - sealedHeader - sealedTag
            item:add(f.udpIdentifier, tvb(1, 1))
            item:add_le(f.counter, tvb(2, 6))
            item:add(f.sealed, tvb(sealedHeader, count))
            item:add(f.tag, tvb(available - sealedTag, sealedTag))
            if isFromService ~= nil then generated(item:add(f.fromService, tvb(0, 1), isFromService)) end
            text = string.format("sealed, identifier %d, counter %s, %d bytes", identifier, tostring(tvb(2, 6):le_uint64()), count)
        end
        item:set_text(text)
        say(context, text)
    else
        local offset = 0
        while offset < available do
            local remaining = available - offset
            local length = remaining >= datagramHeader and tvb(offset + 1, 4):le_uint()
            if not length or length > remaining - datagramHeader then
                addRest(context, offset, "truncated", "The datagram is cut off, or of another protocol")
                break
            end
            local own = tvb(offset + 5, 1):uint()
            addMessage(context, tvb, offset, datagramHeader, tvb(offset, 1):int(), length)
            if own ~= identifier then
                complain(tree, "identifier", "The messages of the datagram have different identifiers")
            end
            offset = offset + datagramHeader + length
        end
        if not found and (toService or fromService) then
            complain(tree, "identifier", "No connection in the capture has the UDP identifier " .. identifier)
        end
    end
    endPacket(context)
    return available
end

-- MARK: Registration

local UDP = 3 -- as pinfo.port_type has it

function elemental.dissector(tvb, pinfo, root)
    if tvb:len() == 0 then return 0 end
    if pinfo.port_type == UDP and not isInside then return dissectDatagram(tvb, pinfo, root) end
    return dissectStream(tvb, pinfo, root)
end

elemental:register_heuristic("tcp", function(tvb, pinfo, root)
    if tvb:len() == 0 then return false end
    if not isBeginning(tvb) and not isOurClientHello(tvb) then
        local stream = streamOf(streams, tcpStream(), pinfo)
        local isKnown = false
        for side = 1, 2 do
            if services[serviceKey(stream.address[side], stream.port[side])] then
                isKnown = true
                if isFrame(tvb, stream, pinfo.number) or isTLSRecord(tvb) then
                    serve(stream, side)
                    break
                end
            end
        end
        if not isKnown or not stream.service then return false end
    end
    elemental.dissector(tvb, pinfo, root)
    pinfo.conversation = elemental
    return true
end)

elemental:register_heuristic("udp", function(tvb, pinfo, root)
    if tvb:len() < datagramHeader then return false end
    local pair = streamOf(datagramStreams, udpStream(), pinfo)
    if not services[serviceKey(pair.address[1], pair.port[1])] and not services[serviceKey(pair.address[2], pair.port[2])] then
        return false
    end
    elemental.dissector(tvb, pinfo, root)
    return true
end)

local tcpPorts, udpPorts = DissectorTable.get("tcp.port"), DissectorTable.get("udp.port")
tcpPorts:add_for_decode_as(elemental)
udpPorts:add_for_decode_as(elemental)
-- What is inside TLS, if Wireshark has its keys (the preference "tls.keylog_file").
DissectorTable.get("tls.alpn"):add("elemental/1", elemental)

function elemental.prefs_changed()
    listed = readElements(elemental.prefs.elements)
    if elemental.prefs.ports == ports then return end
    for _, list in ipairs({ tcpPorts, udpPorts }) do
        if ports ~= "" then list:remove(ports, elemental) end
        if elemental.prefs.ports ~= "" then list:add(elemental.prefs.ports, elemental) end
    end
    ports = elemental.prefs.ports
end
