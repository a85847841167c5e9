// For programs under QEMU 7.2, which takes the index out of a struct ip_mreqn (12 bytes) only if it has the 16 bytes that it
// would have with a long: without this an avahi-daemon joins no multicast group. Preloaded by Tests/arm64/enter.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

int setsockopt(int socket, int level, int name, const void *value, socklen_t length)
{
    int (*next)(int, int, int, const void *, socklen_t) = dlsym(RTLD_NEXT, "setsockopt");
    char padded[16] = {0};
    if (level == IPPROTO_IP && (name == IP_ADD_MEMBERSHIP || name == IP_DROP_MEMBERSHIP) && length == sizeof(struct ip_mreqn)) {
        memcpy(padded, value, length);
        return next(socket, level, name, padded, sizeof padded);
    }
    return next(socket, level, name, value, length);
}
