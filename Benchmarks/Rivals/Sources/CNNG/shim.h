#include <nng/nng.h>
#include <nng/protocol/pair0/pair.h>
