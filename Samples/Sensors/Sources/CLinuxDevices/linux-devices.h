// The kernel's own layouts and numbers. Swift sees structures, but not macros that are computed of their sizes.
#ifdef __linux__
#include <linux/gpio.h>
#include <linux/i2c-dev.h>

static const unsigned long i2c_slave = I2C_SLAVE;
static const unsigned long gpio_v2_get_line = GPIO_V2_GET_LINE_IOCTL;
static const unsigned long gpio_v2_get_values = GPIO_V2_LINE_GET_VALUES_IOCTL;
static const unsigned long gpio_v2_set_values = GPIO_V2_LINE_SET_VALUES_IOCTL;
#endif
