#include "PeerSupport.h"

#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "Usage: %s serve      [--port P] [--transport tcp|udp] [--identity FILE] [--role echo|sink] [--wait sleep|spin]\n"
    "       %s latency    --port P [--transport tcp|udp] [--identity FILE] [--warm-up N] [--count N]\n"
    "                  [--rate HZ [--pace timer|thread|task]] [--wait sleep|spin]\n"
    "       %s throughput --port P [--transport tcp|udp] [--identity FILE] [--size BYTES] [--seconds S]\n"
    "                  [--write one|large]\n"
    "       %s hellos     --port P --identity FILE [--rate HZ] [--seconds S]\n"
    "\n"
    "One contender of Benchmarks/compare. serve listens on 127.0.0.1, says the port in a line of JSON, and ends with\n"
    "standard input or on SIGTERM. latency makes round trips with a server of role echo, throughput floods one of role\n"
    "sink; both print a line of JSON. With --pace a timer of the event loop, a second thread or a task sends at the rate,\n"
    "and each round trip is timed from just before it is sent rather than from when it is due. hellos connects from\n"
    "another loopback address, sends a ClientHello and closes, again and again, and prints how often. With --identity, a\n"
    "PEM file of a key and a certificate, both ends speak TLS 1.3.\n";

static void print_usage(FILE *file, const char *program) {
    const char *name = strrchr(program, '/') ? strrchr(program, '/') + 1 : program;
    fprintf(file, usage, name, name, name, name);
}

static void refuse(const char *program, const char *what) {
    fprintf(stderr, "%s: \"%s\" makes no sense here\n\n", program, what);
    print_usage(stderr, program);
    exit(64);
}

static double number(const char *program, const char *text, double lowest, double highest) {
    char *end;
    double value = strtod(text, &end);
    if (*text == 0 || *end != 0 || !(value >= lowest && value <= highest)) refuse(program, text);
    return value;
}

/// Which of two words it is: true for the second.
static bool choice(const char *program, const char *text, const char *first, const char *second) {
    if (strcmp(text, second) == 0) return true;
    if (strcmp(text, first) != 0) refuse(program, text);
    return false;
}

static PeerPace pace(const char *program, const char *text) {
    if (strcmp(text, "timer") == 0) return PEER_PACE_TIMER;
    if (strcmp(text, "thread") == 0) return PEER_PACE_THREAD;
    if (strcmp(text, "task") == 0) return PEER_PACE_TASK;
    refuse(program, text);
    return PEER_PACE_CLOCK;
}

static PeerCommand command(const char *program, const char *text) {
    if (strcmp(text, "serve") == 0) return PEER_SERVE;
    if (strcmp(text, "latency") == 0) return PEER_LATENCY;
    if (strcmp(text, "throughput") == 0) return PEER_THROUGHPUT;
    if (strcmp(text, "hellos") == 0) return PEER_HELLOS;
    refuse(program, text);
    return PEER_SERVE;
}

PeerOptions peer_options(int argc, char **argv) {
    const char *program = argv[0];
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage(argc < 2 ? stderr : stdout, program);
        exit(argc < 2 ? 64 : 0);
    }
    PeerOptions options = {
        .command = command(program, argv[1]), .size = 8, .warm_up = 1000, .count = 10000, .seconds = 1,
        .rate = 0};
    if (options.command == PEER_HELLOS) options.rate = 2000;
    for (int index = 2; index < argc; index += 2) {
        const char *name = argv[index], *value = index + 1 < argc ? argv[index + 1] : NULL;
        if (!value) refuse(program, name);
        if (strcmp(name, "--port") == 0) options.port = (int)number(program, value, 0, 65535);
        else if (strcmp(name, "--transport") == 0) options.udp = choice(program, value, "tcp", "udp");
        else if (strcmp(name, "--identity") == 0) options.identity = value;
        else if (strcmp(name, "--rate") == 0) options.rate = number(program, value, 1, 1e6);
        else if (strcmp(name, "--pace") == 0) options.pace = pace(program, value);
        else if (strcmp(name, "--wait") == 0) options.spin = choice(program, value, "sleep", "spin");
        else if (strcmp(name, "--role") == 0) options.sink = choice(program, value, "echo", "sink");
        else if (strcmp(name, "--write") == 0) options.write_one = choice(program, value, "large", "one");
        else if (strcmp(name, "--size") == 0) options.size = (size_t)number(program, value, 8, 1 << 24);
        else if (strcmp(name, "--seconds") == 0) options.seconds = number(program, value, 0.01, 3600);
        else if (strcmp(name, "--warm-up") == 0) options.warm_up = (uint64_t)number(program, value, 0, 1e9);
        else if (strcmp(name, "--count") == 0) options.count = (uint64_t)number(program, value, 1, 1e9);
        else refuse(program, name);
    }
    if (options.command != PEER_SERVE && options.port == 0) refuse(program, "no --port");
    if (options.udp && options.identity) refuse(program, "TLS over UDP");
    if (options.command == PEER_HELLOS && !options.identity) refuse(program, "no --identity");
    if (options.pace && options.rate == 0) refuse(program, "--pace without --rate");
    if (options.pace && (options.udp || options.identity)) refuse(program, "--pace but over plain TCP");
    if (options.pace && options.spin) refuse(program, "--pace with --wait spin");
    if (options.udp && options.size > 65000) refuse(program, "UDP with such a --size");
    return options;
}

void peer_print_listening(int port) {
    printf("{\"event\":\"listening\",\"port\":%d}\n", port);
    fflush(stdout);
}
