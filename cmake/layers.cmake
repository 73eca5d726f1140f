# The layers, and the libraries made of them.
#
# Each layer is an object library of its own, so that a test can link one without those above it.
# Every .cpp file of a layer's folder belongs to it.

function(partita_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "" "" "SOURCES;LIBRARIES")
  add_library(${name} OBJECT ${layer_SOURCES})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX
    UNITY_BUILD ${PARTITA_UNITY} UNITY_BUILD_BATCH_SIZE 12)
  if(PARTITA_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # It takes every piece but the first for a header.
    target_compile_options(${name} PRIVATE -Wno-subobject-linkage)
  endif()
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/api)
  target_link_libraries(${name} PUBLIC Threads::Threads ${layer_LIBRARIES} PRIVATE partita_flags)
endfunction()

set(vocabulary_sources ${PROJECT_SOURCE_DIR}/api/contract.cpp ${PROJECT_SOURCE_DIR}/api/error.cpp)
file(GLOB wire_sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/wire/*.cpp ${PROJECT_SOURCE_DIR}/wire/messages/*.cpp)
file(GLOB actors_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/actors/*.cpp)
file(GLOB api_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/api/*.cpp)
list(REMOVE_ITEM api_sources ${vocabulary_sources})
file(GLOB testing_sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/api/testing/*.cpp ${PROJECT_SOURCE_DIR}/api/testing/messages/*.cpp)

partita_layer(partita_vocabulary SOURCES ${vocabulary_sources})
partita_layer(partita_wire SOURCES ${wire_sources}
  LIBRARIES partita_vocabulary Boost::headers ZLIB::ZLIB partita_external::isal
            partita_external::lz4 partita_external::snappy partita_external::zstd)
partita_layer(partita_actors SOURCES ${actors_sources} LIBRARIES partita_wire CAF::core)
if(PARTITA_COVERAGE)
  set(covered_sources ${actors_sources})
  list(FILTER covered_sources INCLUDE REGEX "/partition_core[a-z_]*\\.cpp$")
  set_source_files_properties(${covered_sources} PROPERTIES COMPILE_OPTIONS "--coverage;-O0")
  target_link_options(partita_actors PUBLIC --coverage)
endif()
partita_layer(partita_api SOURCES ${api_sources} LIBRARIES partita_actors)

# Public headers. asio.hpp and caf.hpp need Boost and CAF to compile, so they are header sets of
# their own, behind targets of their own.
file(GLOB public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/api/partita/*.hpp)
list(FILTER public_headers EXCLUDE REGEX "/(asio|caf)\\.hpp$")
file(GLOB testing_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/api/partita/testing/*.hpp)

# The target's name is not that of the program's file: a generator that makes both in one folder
# would take one for the other.
add_library(partita_library)
add_library(partita::partita ALIAS partita_library)
set_target_properties(partita_library PROPERTIES OUTPUT_NAME partita EXPORT_NAME partita
  LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_sources(partita_library
  PRIVATE $<TARGET_OBJECTS:partita_vocabulary> $<TARGET_OBJECTS:partita_wire>
          $<TARGET_OBJECTS:partita_actors> $<TARGET_OBJECTS:partita_api>
  PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/api FILES ${public_headers})
target_compile_features(partita_library PUBLIC cxx_std_20)
target_link_libraries(partita_library
  PUBLIC Threads::Threads
  PRIVATE CAF::core ZLIB::ZLIB partita_external::isal partita_external::lz4
          partita_external::snappy partita_external::zstd)
target_link_options(partita_library PUBLIC "$<BUILD_INTERFACE:${PARTITA_SANITIZE_FLAGS}>")

function(partita_optional_header name library)
  add_library(partita_${name} INTERFACE)
  add_library(partita::${name} ALIAS partita_${name})
  target_link_libraries(partita_${name} INTERFACE partita_library ${library})
  if(EXISTS ${PROJECT_SOURCE_DIR}/api/partita/${name}.hpp)
    target_sources(partita_${name} INTERFACE FILE_SET HEADERS
      BASE_DIRS ${PROJECT_SOURCE_DIR}/api FILES ${PROJECT_SOURCE_DIR}/api/partita/${name}.hpp)
  endif()
endfunction()
partita_optional_header(asio Boost::headers)
partita_optional_header(caf CAF::core)

if(PARTITA_TESTING)
  partita_layer(partita_testing_objects SOURCES ${testing_sources} LIBRARIES partita_api)
  if(testing_sources)
    add_library(partita_testing)
    target_sources(partita_testing PRIVATE $<TARGET_OBJECTS:partita_testing_objects>
      PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/api FILES ${testing_headers})
    target_link_libraries(partita_testing PUBLIC partita_library)
  else()
    add_library(partita_testing INTERFACE)
    target_link_libraries(partita_testing INTERFACE partita_library)
  endif()
  add_library(partita::testing ALIAS partita_testing)
  set_target_properties(partita_testing PROPERTIES EXPORT_NAME testing)
endif()

# What a test, an example or a benchmark may need on top is read off its #include lines.
function(partita_link_what_is_included target)
  set(libraries partita::partita partita_flags)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources EXCLUDE REGEX "TARGET_OBJECTS")
  foreach(source IN LISTS sources)
    file(STRINGS ${source} included REGEX "^#include")
    foreach(pair IN ITEMS
            "<partita/testing/=partita::testing" "<partita/asio.hpp=partita::asio"
            "<partita/caf.hpp=partita::caf" "<benchmark/=benchmark::benchmark"
            "<librdkafka/=partita_external::rdkafka" "<boost/=Boost::headers" "<caf/=CAF::core")
      string(REPLACE "=" ";" pair ${pair})
      list(GET pair 0 spelling)
      list(GET pair 1 library)
      if("${included}" MATCHES "${spelling}")
        list(APPEND libraries ${library})
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES libraries)
  target_link_libraries(${target} PRIVATE ${libraries})
endfunction()
