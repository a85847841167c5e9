#include "PeerSupport.h"

#include <stdio.h>
#include <stdlib.h>

PeerSamples peer_samples_create(size_t capacity) {
    PeerSamples samples = {.values = malloc(capacity * sizeof(uint64_t)), .capacity = capacity};
    if (!samples.values) peer_fail("no memory for %zu samples", capacity);
    memset(samples.values, 0xff, capacity * sizeof(uint64_t));
    return samples;
}

static int compare(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/// The smallest sample that at least this part of the samples does not exceed, in microseconds.
static double percentile(const PeerSamples *samples, double part) {
    double rank = part * (double)samples->count;
    size_t index = (size_t)rank;
    if ((double)index < rank) index += 1;
    if (index == 0) index = 1;
    return (double)samples->values[index - 1] / 1000;
}

void peer_samples_print(PeerSamples *samples, uint64_t lost) {
    if (samples->count == 0) peer_fail("not one answer came back");
    qsort(samples->values, samples->count, sizeof(uint64_t), compare);
    printf(
        "{\"count\":%zu,\"p50\":%.3f,\"p90\":%.3f,\"p99\":%.3f,\"p999\":%.3f,\"max\":%.3f,\"lost\":%llu}\n",
        samples->count, percentile(samples, 0.5), percentile(samples, 0.9), percentile(samples, 0.99),
        percentile(samples, 0.999), percentile(samples, 1), (unsigned long long)lost);
    fflush(stdout);
}
