# Every bench/NAME.cpp is one program, build/.../bench/NAME, which may include private headers.
# Those that need librdkafka (to compare with) or Google Benchmark are left out where it is missing.
# bench/heap_counter.cpp alone is a library to preload.

find_package(benchmark QUIET)
find_path(PARTITA_RDKAFKA_INCLUDE_DIR NAMES librdkafka/rdkafka.h)
find_library(PARTITA_RDKAFKA_LIBRARY NAMES rdkafka)
if(PARTITA_RDKAFKA_INCLUDE_DIR AND PARTITA_RDKAFKA_LIBRARY)
  partita_find_library(rdkafka librdkafka/rdkafka.h rdkafka)
endif()

file(GLOB bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cpp)
foreach(source IN LISTS bench_sources)
  get_filename_component(name ${source} NAME_WE)
  file(STRINGS ${source} needs REGEX "^#include <(benchmark|librdkafka)/")
  if(needs MATCHES "benchmark" AND NOT benchmark_FOUND)
    message(STATUS "bench/${name}: left out, Google Benchmark is missing")
    continue()
  endif()
  if(needs MATCHES "librdkafka" AND NOT TARGET partita_external::rdkafka)
    message(STATUS "bench/${name}: left out, librdkafka is missing")
    continue()
  endif()
  if(name STREQUAL "heap_counter")
    add_library(bench_${name} MODULE ${source})
    set_target_properties(bench_${name} PROPERTIES
      OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
    continue()
  endif()
  add_executable(bench_${name} ${source})
  set_target_properties(bench_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  target_include_directories(bench_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  partita_link_what_is_included(bench_${name})
endforeach()
