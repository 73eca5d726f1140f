#!/bin/sh
# Proves that tidy.sh can fail: plants one breach of each rule in a small tree of its own and
# expects the line that names it; a clean tree must pass.

set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

fresh_tree() {
  rm -rf "$tree" && mkdir -p "$tree/wire" "$tree/actors" "$tree/api/partita" "$tree/api/cli" \
    "$tree/tests/wire"
  printf '// A thing.\n#pragma once\n' >"$tree/wire/thing.hpp"
  printf '#include "wire/thing.hpp"\n\n#include <partita/ids.hpp>\n#include <vector>\n' \
    >"$tree/wire/thing.cpp"
  printf '// Ids.\n#pragma once\n#include <cstdint>\n' >"$tree/api/partita/ids.hpp"
  printf '// Asio.\n#pragma once\n#include <boost/asio/post.hpp>\n' >"$tree/api/partita/asio.hpp"
}

# expect WHAT PATH CONTENT: with this file added, tidy names the path and the reason
expect() {
  fresh_tree
  mkdir -p "$(dirname "$tree/$2")"
  printf '%b' "$3" >"$tree/$2"
  if out=$(sh "$here/tidy.sh" "$tree"); then
    echo "not caught: $1 ($2)"
    failures=$((failures + 1))
  elif ! echo "$out" | grep -F "$2" | grep -qF "$1"; then
    echo "caught, but not named '$1': $2"
    echo "$out" | tail -n 3
    failures=$((failures + 1))
  fi
}

fresh_tree
sh "$here/tidy.sh" "$tree" >/dev/null || { echo "the clean tree does not pass" && exit 1; }

header='// A purpose.\n#pragma once\n'
expect 'wire includes nothing above it' wire/up.cpp '#include "actors/batch.hpp"\n'
expect 'wire includes nothing above it' wire/up.cpp '#include "api/config_text.hpp"\n'
expect 'actors includes nothing above it' actors/up.cpp '#include "api/config_text.hpp"\n'
expect 'not part of the vocabulary' wire/up.cpp '#include <partita/caf.hpp>\n'
expect 'not part of the vocabulary' actors/up.cpp '#include <partita/producer.hpp>\n'
expect 'nothing depends on tests' api/up.cpp '#include "tests/builders/records.hpp"\n'
expect 'public headers are leaves' api/partita/leaf.hpp "$header"'#include "wire/thing.hpp"\n'
expect 'standard library and each other' api/partita/leaf.hpp "$header"'#include <caf/actor.hpp>\n'
expect 'do not need the optional ones' api/partita/leaf.hpp "$header"'#include <partita/asio.hpp>\n'
expect 'public headers only' api/cli/main.cpp '#include "actors/batch.hpp"\n'
expect 'public headers only' examples/01_x.cpp '#include "api/config_text.hpp"\n'
expect 'in quotes' wire/spelling.cpp '#include <wire/thing.hpp>\n'
expect 'rooted' wire/spelling.cpp '#include "../wire/thing.hpp"\n'
expect 'in angle brackets' wire/spelling.cpp '#include "partita/ids.hpp"\n'
expect 'confined' actors/partition_core.cpp '#include <caf/actor.hpp>\n'
expect 'confined' api/producer.cpp '#include <boost/asio/post.hpp>\n'
expect 'confined' wire/frame.cpp '#include <zstd.h>\n'
expect 'confined' wire/crc32c_bytes.cpp '#include <isa-l/crc.h>\n'
expect 'confined' api/producer.cpp '#include <nlohmann/json.hpp>\n'
expect 'confined' actors/lane.cpp '#include <boost/asio.hpp>\n'
expect 'confined' wire/session.cpp '#include <openssl/ssl.h>\n'
expect 'says nothing' wire/buffer_manager.cpp 'int x;\n'
expect 'says nothing' wire/named.cpp 'class socket_helper {\n};\n'
expect 'snake_case' wire/CamelCase.cpp 'int x;\n'
expect 'states its purpose' wire/silent.hpp '#pragma once\n'
expect 'pragma once' wire/guarded.hpp '// A purpose.\n'
expect 'over 100 columns' wire/long.cpp "// $(printf '%0100d' 0)\n"
expect 'open an issue' wire/later.cpp '// TODO: later\n'
expect 'top level' notes.txt 'x\n'
expect 'by a sentence' tests/wire/thing_test.cpp 'TEST(Thing, Works) {}\n'

[ "$failures" = 0 ] || exit 1
echo "every planted breach was caught"
