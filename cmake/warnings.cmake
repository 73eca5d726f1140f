# One interface target with our warnings and, when asked for, sanitizers.
# PARTITA_SANITIZE: empty, "address" (with undefined) or "thread".

add_library(partita_flags INTERFACE)
target_compile_options(partita_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wno-missing-field-initializers -fno-omit-frame-pointer
  # g++ 12 is wrong about variants of non-trivial types once it has inlined them.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
if(PARTITA_WERROR)
  target_compile_options(partita_flags INTERFACE -Werror)
endif()

if(PARTITA_SANITIZE STREQUAL "address")
  # Without vptr: it opens a pipe for each check, and a test runs out of descriptors on purpose.
  set(PARTITA_SANITIZE_FLAGS
    -fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all)
elseif(PARTITA_SANITIZE STREQUAL "thread")
  set(PARTITA_SANITIZE_FLAGS -fsanitize=thread)
elseif(PARTITA_SANITIZE)
  message(FATAL_ERROR "PARTITA_SANITIZE is '${PARTITA_SANITIZE}'; it takes 'address' or 'thread'")
endif()
target_compile_options(partita_flags INTERFACE ${PARTITA_SANITIZE_FLAGS})
target_link_options(partita_flags INTERFACE ${PARTITA_SANITIZE_FLAGS})
