#!/bin/sh
# Installs a build, then builds and runs a project outside the tree that finds it by find_package.
#
#   install_test.sh static|shared SOURCE-DIR BUILD-DIR
#
# "static" installs BUILD-DIR as it is; "shared" makes a second build of the libraries alone.

set -eu
kind=$1 source=$2 build=$3
here=$source/tests/install
work=$build/install-test-$kind
jobs=$(nproc)
rm -rf "$work/prefix" "$work/consumer"
mkdir -p "$work"

if [ "$kind" = shared ]; then
  cmake -S "$source" -B "$work/library" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON \
    -DPARTITA_TESTS=OFF -DPARTITA_EXAMPLES=OFF -DPARTITA_PROGRAM=OFF \
    ${CXX_LAUNCHER:+"$CXX_LAUNCHER"} \
    >"$work/configure.log"
  cmake --build "$work/library" -j "$jobs" >"$work/build.log" ||
    { tail -n 30 "$work/build.log" && exit 1; }
  build=$work/library
fi
cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"

# Nothing private may be installed, and nothing may point back into the tree or its build.
if find "$work/prefix/include" -name '*.hpp' ! -path '*/include/partita/*' | grep .; then
  echo "installed outside include/partita" && exit 1
fi
if grep -rlF -e "$source/" --include='*.cmake' "$work/prefix"; then
  echo "the installed CMake files point into the source tree" && exit 1
fi

# Who misspells a component is told which, and what there is.
rm -rf "$work/misspelt"
mkdir "$work/misspelt"
cat >"$work/misspelt/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(misspelt LANGUAGES CXX)
find_package(partita CONFIG COMPONENTS partita OPTIONAL_COMPONENTS asoi)
message(STATUS "optional: ${partita_FOUND}")
find_package(partita CONFIG REQUIRED COMPONENTS partita asoi)
END
if cmake -S "$work/misspelt" -B "$work/misspelt/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" \
  >"$work/misspelt.log" 2>&1; then
  echo "find_package takes a component that there is not" && exit 1
fi
# CMake breaks lines of a message.
said=$(tr -s ' \n' ' ' <"$work/misspelt.log")
for part in "optional: 1" "There is no component 'asoi'" \
  "This partita has: partita, testing, asio, caf."; do
  case $said in
    *"$part"*) ;;
    *) cat "$work/misspelt.log" && echo "find_package does not say: $part" && exit 1 ;;
  esac
done

cp -R "$here/consumer" "$work/consumer"
cmake -S "$work/consumer" -B "$work/consumer/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/consumer.log" ||
    { cat "$work/consumer.log" && exit 1; }
cmake --build "$work/consumer/build" -j "$jobs" >"$work/consumer.log" ||
  { tail -n 40 "$work/consumer.log" && exit 1; }
"$work/consumer/build/consumer"
"$work/consumer/build/consumer_with_optional_headers"
if [ "$kind" = shared ]; then
  ldd "$work/consumer/build/consumer" | grep -q 'libpartita.*=> .*/prefix/' ||
    { echo "the consumer does not load the shared library" && exit 1; }
fi
