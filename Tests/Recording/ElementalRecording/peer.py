"""PyPI's mcap as a peer: reads a file of ours and says what it has, or writes one for us to read."""

import json
import sys

from mcap.reader import SeekingReader, make_reader
from mcap.records import Chunk, MessageIndex, Message
from mcap.stream_reader import StreamReader, breakup_chunk
from mcap.writer import CompressionType, Writer


def read(path):
    with open(path, "rb") as stream:
        reader = make_reader(stream, validate_crcs=True)
        header = reader.get_header()
        summary = reader.get_summary()
        # By the index, in the order of time, with all checksums.
        messages = [
            {"topic": channel.topic, "time": message.log_time, "sequence": message.sequence,
             "schema": schema.name, "data": json.loads(message.data)}
            for schema, channel, message in reader.iter_messages()
        ]
        metadata = {record.name: record.metadata for record in reader.iter_metadata()}
    # Once more from the beginning, where each entry of each message index is looked up in its chunk.
    indexed = 0
    with open(path, "rb") as stream:
        chunk = None
        for record in StreamReader(stream, emit_chunks=True, validate_crcs=True).records:
            if isinstance(record, Chunk):
                chunk = record
                json_schemas = [r for r in breakup_chunk(record, validate_crc=True)]
            elif isinstance(record, MessageIndex):
                for time, offset in record.records:
                    assert chunk.data[offset] == 5, "no message where the index says"
                    at = offset + 9
                    assert int.from_bytes(chunk.data[at:at + 2], "little") == record.channel_id
                    assert int.from_bytes(chunk.data[at + 6:at + 14], "little") == time
                    indexed += 1
    for schema in summary.schemas.values() if summary else []:
        assert json.loads(schema.data)["type"] == "object"
    print(json.dumps({
        "library": header.library,
        "channels": {c.topic: dict(c.metadata) for c in summary.channels.values()} if summary else None,
        "count": summary.statistics.message_count if summary else None,
        "chunks": len(summary.chunk_indexes) if summary else None,
        "indexed": indexed, "messages": messages, "metadata": metadata,
    }))


def write(path, compression):
    """Topics of others: values, vectors, texts, lists, and what cannot be a value."""
    with open(path, "wb") as stream:
        writer = Writer(stream, chunk_size=300, compression=CompressionType[compression])
        writer.start()
        schema = writer.register_schema("any", "jsonschema", b'{"type":"object"}')
        topics = {topic: writer.register_channel(topic, "json", schema)
                  for topic in ["/temperature", "/imu/gyro", "/door", "/note", "/status", "/pose"]}
        cdr = writer.register_channel("/scan", "cdr", 0)
        start = 1_700_000_000_000_000_000
        for number in range(20):
            time = start + number * 10_000_000
            for topic, message in [
                ("/temperature", {"value": 20.5 + number}), ("/imu/gyro", {"x": number, "y": 0.5, "z": -1e3}),
                ("/door", {"open": number % 2 == 0}), ("/note", {"value": f"line\n{number} \u00fc \U0001F600"}),
                ("/status", {"level": number, "text": "fine", "more": [1, {"deep": None}]}),
                ("/pose", {"value": [1, 2, 3, number]}),
            ]:
                writer.add_message(topics[topic], time, json.dumps(message).encode(), time)
            writer.add_message(cdr, time, b"\x00\x01", time)
        writer.finish()


if sys.argv[1] == "read":
    read(sys.argv[2])
else:
    write(sys.argv[2], sys.argv[3])
