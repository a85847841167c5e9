# What compiles Swift for a microcontroller: sourced by Samples/Microcontroller/build and Tests/embedded, in the
# repository's folder.

# The toolchain's clang, and its folder of Embedded Swift's libraries.
embedded_clang=$(dirname "$(readlink -f "$(command -v swiftc)")")/clang
embedded_library=$(swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')/embedded

# embedded_swiftc TRIPLE FOLDER ARGUMENTS…: the compiler for that triple, with the modules in that folder.
embedded_swiftc() {
    local triple=$1 folder=$2 options=() && shift 2
    # Floats travel in the integer registers, as in the libraries for cores without a floating point unit.
    [[ $triple == arm* ]] && options=(-Xcc -mfloat-abi=soft)
    swiftc -enable-experimental-feature Embedded -enable-experimental-feature Extern -swift-version 6 -wmo -Osize \
        -warnings-as-errors -target "$triple" ${options[@]+"${options[@]}"} -Xfrontend -function-sections \
        -parse-as-library -package-name elemental -I "$folder" "$@"
}

# embedded_module TRIPLE FOLDER MODULE SOURCES…: the module and its object file, in the folder.
#
# The compiler's text is optimized by its clang, which puts data into sections of its own, so that the linker leaves out what
# is not used. What counts references is called, rather than copied to wherever it is needed.
embedded_module() {
    local triple=$1 folder=$2 module=$3 options=() && shift 3
    [[ $triple == arm* ]] && options=(-mfloat-abi=soft)
    embedded_swiftc "$triple" "$folder" -module-name "$module" -emit-module \
        -emit-module-path "$folder/$module.swiftmodule" -Xfrontend -disable-llvm-optzns -emit-ir "$@" \
        -o "$folder/$module.ll"
    sed -i -E '/^define .*@swift_(retain|release|once|allocObject|dealloc)/s/ \{$/ noinline {/' "$folder/$module.ll"
    "$embedded_clang" --target="$triple" ${options[@]+"${options[@]}"} -Oz -ffunction-sections -fdata-sections \
        -Wno-override-module -c "$folder/$module.ll" -o "$folder/$module.o"
}

# embedded_service TRIPLE FOLDER: the modules that a device on a serial line is made of.
embedded_service() {
    mkdir -p "$2"
    embedded_module "$1" "$2" ElementalWire Sources/Core/ElementalWire/*.swift
    embedded_module "$1" "$2" SerialLink Sources/Micro/SerialLink/*.swift
    embedded_module "$1" "$2" ElementalMicro Sources/Micro/ElementalMicro/*.swift
}

# embedded_link CPU SCRIPT PROGRAM FILES…: links C files and objects with the linker script.
embedded_link() {
    local cpu=$1 script=$2 program=$3 && shift 3
    arm-none-eabi-gcc -mcpu="$cpu" -mthumb -mfloat-abi=soft -Os -ffreestanding -fno-builtin -Wall -Werror \
        -Wno-builtin-declaration-mismatch --specs=nosys.specs -nostartfiles \
        -Wl,--gc-sections,--no-enum-size-warning,--no-warn-execstack -T "$script" "$@" -o "$program"
}
