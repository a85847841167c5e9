// MQTT at QoS 0 through a mosquitto broker at --port: the client publishes to one topic and the server answers in
// another, so that a round trip passes the broker twice.

#include "PeerSupport.h"

#include <mosquitto.h>
#include <stdlib.h>

static const char *const question_topic = "rivals/ping", *const answer_topic = "rivals/pong";

typedef struct {
    bool subscribed;
    bool arrived;
    size_t size;
    char payload[65536];
} Inbox;

static void check(int error, const char *what) {
    if (error != MOSQ_ERR_SUCCESS) peer_fail("%s: %s", what, mosquitto_strerror(error));
}

static void on_subscribed(struct mosquitto *client, void *inbox, int message, int count, const int *granted) {
    ((Inbox *)inbox)->subscribed = true;
}

static void on_message(struct mosquitto *client, void *argument, const struct mosquitto_message *message) {
    Inbox *inbox = argument;
    if (message->payloadlen < 8 || message->payloadlen > (int)sizeof inbox->payload) {
        peer_fail("a message of %d bytes arrived", message->payloadlen);
    }
    inbox->size = (size_t)message->payloadlen;
    memcpy(inbox->payload, message->payload, inbox->size);
    inbox->arrived = true;
}

static struct mosquitto *connected_client(const PeerOptions *options, const char *topic, Inbox *inbox) {
    check(mosquitto_lib_init(), "mosquitto_lib_init");
    struct mosquitto *client = mosquitto_new(NULL, true, inbox);
    if (!client) peer_fail("mosquitto_new failed");
    check(mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1), "MOSQ_OPT_TCP_NODELAY");
    mosquitto_subscribe_callback_set(client, on_subscribed);
    mosquitto_message_callback_set(client, on_message);
    check(mosquitto_connect(client, "127.0.0.1", options->port, 60), "mosquitto_connect");
    check(mosquitto_subscribe(client, NULL, topic, 0), "mosquitto_subscribe");
    while (!inbox->subscribed) check(mosquitto_loop(client, -1, 1), "mosquitto_loop");
    return client;
}

/// Publishes outside of the callbacks, where the library writes at once rather than at its loop's next turn.
static void publish(struct mosquitto *client, const char *topic, const void *payload, size_t size) {
    check(mosquitto_publish(client, NULL, topic, (int)size, payload, 0, false), "mosquitto_publish");
}

static void wait_for_message(struct mosquitto *client, Inbox *inbox) {
    inbox->arrived = false;
    while (!inbox->arrived) check(mosquitto_loop(client, -1, 1), "mosquitto_loop");
}

static void serve(const PeerOptions *options, Inbox *inbox) {
    struct mosquitto *client = connected_client(options, question_topic, inbox);
    peer_print_listening(options->port);
    for (;;) {
        wait_for_message(client, inbox);
        publish(client, answer_topic, inbox->payload, inbox->size);
    }
}

static void measure_latency(const PeerOptions *options, Inbox *inbox) {
    struct mosquitto *client = connected_client(options, answer_topic, inbox);
    PeerSamples samples = peer_samples_create(options->count);
    char *payload = calloc(1, options->size);
    for (uint64_t sequence = 0; sequence < options->warm_up + options->count; sequence++) {
        peer_payload_write(payload, options->size, sequence);
        uint64_t start = peer_now();
        publish(client, question_topic, payload, options->size);
        wait_for_message(client, inbox);
        uint64_t end = peer_now();
        if (inbox->size != options->size || !peer_payload_is(inbox->payload, inbox->size, sequence)) {
            peer_fail("the answer to message %llu is not what was sent", (unsigned long long)sequence);
        }
        if (sequence >= options->warm_up) peer_samples_add(&samples, end - start);
    }
    peer_samples_print(&samples, 0);
}

int main(int argc, char **argv) {
    static Inbox inbox;
    PeerOptions options = peer_options(argc, argv);
    if (options.udp) peer_fail("there is no UDP here");
    if (options.size > sizeof inbox.payload) peer_fail("no payloads of more than %zu bytes", sizeof inbox.payload);
    if (options.port == 0) peer_fail("--port is the broker's port and must be given");
    if (options.command == PEER_SERVE && options.sink) peer_fail("serves echo alone");
    switch (options.command) {
    case PEER_SERVE:
        peer_end_when_told();
        serve(&options, &inbox);
        break;
    case PEER_LATENCY: measure_latency(&options, &inbox); break;
    case PEER_THROUGHPUT: peer_fail("measures round trips alone");
    }
    return 0;
}
