# The program partita, on public headers only. All but its main function is an object library, so
# that the tests can link the parts.

file(GLOB program_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/api/cli/*.cpp)
list(REMOVE_ITEM program_sources ${PROJECT_SOURCE_DIR}/api/cli/main.cpp)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)

add_library(partita_program_parts OBJECT ${program_sources})
set_target_properties(partita_program_parts PROPERTIES
  UNITY_BUILD ${PARTITA_UNITY} UNITY_BUILD_BATCH_SIZE 8)
# To optimise the parsers' templates takes as long as all layers do, and gains nothing.
target_compile_options(partita_program_parts PRIVATE
  $<IF:$<BOOL:${PARTITA_SANITIZE}>,-O0,$<$<CONFIG:Release>:-O1>>)
target_include_directories(partita_program_parts PUBLIC
  ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/api)
target_link_libraries(partita_program_parts
  PUBLIC CLI11::CLI11 nlohmann_json::nlohmann_json Threads::Threads PRIVATE partita_flags)

if(NOT PARTITA_PROGRAM)
  return()
endif()
add_executable(partita_program ${PROJECT_SOURCE_DIR}/api/cli/main.cpp)
set_target_properties(partita_program PROPERTIES
  OUTPUT_NAME partita RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_link_libraries(partita_program PRIVATE
  partita_program_parts partita::testing partita::partita partita_flags)
