# Cross build for aarch64 with Debian's compiler and its arm64 packages (./run setup aarch64).
# No sysroot: those packages live beside the host's own under /usr/lib/aarch64-linux-gnu, which
# CMake searches by the compiler's architecture; headers under /usr/include are shared by both.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

# pkg-config has no idea of the target and would answer with the host's libraries.
set(ENV{PKG_CONFIG_LIBDIR} "/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig")

# The CPU it plays comes from QEMU_CPU, which the test presets set.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
# Without libc6:arm64 the cross compiler's own copy is the only C library there is. With it, -L
# would pair that copy's loader with the other one's libc.
if(NOT EXISTS /lib/ld-linux-aarch64.so.1)
  list(APPEND CMAKE_CROSSCOMPILING_EMULATOR -L /usr/aarch64-linux-gnu)
endif()
