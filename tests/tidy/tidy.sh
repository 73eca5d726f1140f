#!/bin/sh
# Checks the tree against the house rules: which layer includes what, where third-party packages may
# be included, names, headers, line length, the top level. Lists the largest units, which are
# information only, then one line per breach. Exit code 1 after a breach.
#
#   tidy.sh [ROOT]

set -eu
LC_ALL=C.UTF-8
export LC_ALL

root=${1:-$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)}
cd "$root"
breaches=$(mktemp)
files=$(mktemp)
includes=$(mktemp)
trap 'rm -f "$breaches" "$files" "$includes"' EXIT

# What git would take, where this is a checkout; else all but the build folders.
list_files() {
  if [ -e .git ] && command -v git >/dev/null; then
    git -c safe.directory="$root" ls-files --cached --others --exclude-standard |
      while read -r path; do if [ -e "$path" ]; then echo "$path"; fi; done
  else
    find . -type f ! -path './build/*' ! -path './.git/*' | sed 's#^\./##'
  fi
}
list_files | sort >"$files"

breach() { echo "$*" >>"$breaches"; }
code_files() { grep -E '\.(hpp|cpp)$' "$files" || true; }

# path TAB line TAB what is included, with its quotes or angle brackets
code_files | while read -r path; do
  awk -v path="$path" '/^[ \t]*#[ \t]*include/ {
    included = $0
    sub(/^[ \t]*#[ \t]*include[ \t]*/, "", included)
    sub(/[ \t]*(\/\/.*)?$/, "", included)
    print path "\t" FNR "\t" included
  }' "$path"
done >"$includes"

# --- the arrow api -> actors -> wire --------------------------------------------------------------

check_arrow() {
  awk -F '\t' '
    function breach(why) { print $1 ":" $2 ": " $3 ": " why }
    function starts(text, prefix) { return substr(text, 1, length(prefix)) == prefix }
    {
      private = ""
      if (match($3, /^["<](wire|actors|api|tests|bench|examples)\//))
        private = substr($3, 2, RLENGTH - 2)
      public = starts($3, "<partita/")
      quoted = starts($3, "\"")
      layer = $1
      sub(/\/.*/, "", layer)
      is_public_header = $1 ~ /^api\/partita\//
    }
    private != "" && !quoted { breach("private headers are included in quotes") }
    $3 ~ /^"partita\// { breach("public headers are included in angle brackets") }
    $3 ~ /"\.\.?\// { breach("includes are rooted at the project") }
    layer ~ /^(wire|actors|api)$/ && private ~ /^(tests|bench|examples)$/ {
      breach("nothing depends on tests, bench or examples")
    }
    layer == "wire" && private ~ /^(actors|api)$/ { breach("wire includes nothing above it") }
    layer == "actors" && private == "api" { breach("actors includes nothing above it") }
    layer ~ /^(wire|actors)$/ && $3 ~ /^<partita\/(asio\.hpp|producer\.hpp|testing\/)/ {
      breach("not part of the vocabulary that lower layers may use")
    }
    layer == "wire" && $3 == "<partita/caf.hpp>" { breach("not part of the vocabulary") }
    is_public_header && (private != "" || quoted) { breach("public headers are leaves") }
    is_public_header && !public && !quoted && $3 !~ /^<[a-z0-9_]+>$/ &&
      !($1 == "api/partita/asio.hpp" && $3 ~ /^<boost\//) &&
      !($1 == "api/partita/duration.hpp" && $3 == "<bits/chrono.h>") &&
      !($1 == "api/partita/caf.hpp" && $3 ~ /^<caf\//) {
      breach("public headers include the standard library and each other only")
    }
    $1 ~ /^api\/partita\/[^\/]*$/ && $1 !~ /\/(asio|caf)\.hpp$/ &&
      $3 ~ /^<partita\/(asio\.hpp|caf\.hpp|testing\/)/ {
      breach("core public headers do not need the optional ones")
    }
    $1 ~ /^api\/cli\// && private ~ /^(wire|actors)$/ {
      breach("the program uses public headers only")
    }
    $1 ~ /^api\/cli\// && private == "api" && $3 !~ /^"api\/cli\// {
      breach("the program uses public headers only")
    }
    $1 ~ /^examples\// && private != "" { breach("examples use public headers only") }
  ' "$includes"
}

# --- confinement of packages ----------------------------------------------------------------------

# A pattern of what is included, and a pattern of the files of the library that may do so.
check_confinement() {
  while read -r package where; do
    awk -F '\t' -v package="$package" -v where="$where" '
      $1 ~ /^(wire|actors|api)\// && $3 ~ package && $1 !~ where {
        print $1 ":" $2 ": " $3 ": this package is confined to " where
      }' "$includes"
  done <<'END'
^<caf/ ^(actors/(ordered_actor|lane_scheduler|actor_bridge|runtime)\.[hc]pp|api/partita/caf\.hpp)$
^<boost/asio ^(wire/(tcp_|tls_|listener|name_lookup).*|actors/lane.*|api/partita/asio\.hpp)$
^<boost/asio/ssl ^wire/tls_stream\.[hc]pp$
^<openssl/ ^wire/(tls_stream|sasl)\.[hc]pp$
^<zlib\.h> ^wire/(gzip|crc32)\.cpp$
^<snappy ^wire/snappy\.cpp$
^<lz4 ^wire/lz4\.cpp$
^<zstd ^wire/zstd\.cpp$
^<(isa-l|isa-l\.h|crc\.h) ^wire/crc32c\.cpp$
^<(CLI|nlohmann)/ ^api/cli/
^<(librdkafka|gtest|gmock|benchmark)/ ^$
^<boost/asio\.hpp>$|^<caf/all\.hpp>$ ^$
END
}

# --- names, headers, lines, top level -------------------------------------------------------------

empty_words='(manager|managers|util|utils|utility|helper|helpers|common|impl|base)'

check_names() {
  code_files | grep -E "(^|/|_)$empty_words(_[a-z]*)?(/|\.[hc]pp$)" |
    sed 's/$/: a name that says nothing/' || true
  code_files | grep -vE '^[a-z0-9_/]+\.[hc]pp$' | sed 's/$/: file names are snake_case/' || true
  code_files | tr '\n' '\0' | xargs -0 grep -nHE \
    "^ *(class|struct|enum class|enum|namespace) ([a-z0-9_:]*_)?$empty_words( |;|\{|:|$)" |
    sed 's/$/: a name that says nothing/' || true
}

check_headers() {
  code_files | grep '\.hpp$' | while read -r path; do
    case $(head -n 1 "$path") in
      '// '*) ;;
      *) echo "$path:1: a header starts with a comment that states its purpose" ;;
    esac
    grep -q '^#pragma once$' "$path" || echo "$path:1: no #pragma once"
  done
}

check_lines() {
  { code_files; grep -E '\.(sh|cmake)$|CMakeLists\.txt$|^dev$' "$files" || true; } |
    tr '\n' '\0' | xargs -0 grep -nHE '^.{101,}$' | 
    sed -E 's/^([^:]*:[0-9]*):.*/\1: over 100 columns/' || true
  code_files | tr '\n' '\0' | xargs -0 grep -nHE '(//|/\*).*\b(TODO|FIXME|XXX)\b' |
    sed 's/$/: no such marks, open an issue/' || true
}

top_level='CMakeLists\.txt|README\.md|LICENSE|dev|actors|wire|api|tests|bench|examples|docs|cmake'
top_level="$top_level|\.clang-format|\.clang-tidy|\.gitignore|\.gitattributes|\.ci"

check_top_level() {
  sed 's#/.*##' "$files" | sort -u | grep -vxE \
    "$top_level" |
    sed 's/$/: not one of the names of the top level/' || true
}

check_tests_say_sentences() {
  grep -E '^tests/.*_test\.cpp$' "$files" | tr '\n' '\0' | xargs -0 -r grep -nHE \
    '^TEST(_F|_P)?\([A-Za-z0-9]+, *(Test[0-9]*|Basic[0-9]*|Works|Simple|[a-z_0-9]+)\)' |
    sed 's/$/: a test is named by a sentence/' || true
}

# --- sizes: listed, not judged --------------------------------------------------------------------

list_largest() {
  echo "largest files:"
  code_files | tr '\n' '\0' | xargs -0 wc -l | grep -v ' total$' | sort -rn | head -n 8
  echo "largest functions (lines, start):"
  code_files | grep -E '^(wire|actors|api)/' | tr '\n' '\0' | xargs -0 awk '
    FNR == 1 { start = 0 }
    /^[A-Za-z~].*\{$/ && !/^(namespace|class|struct|enum|union|extern|export)/ {
      start = FNR
    }
    /^[A-Za-z~]/ && !/[;{}]$/ && !/^(namespace|template|class|struct|enum)/ && !start {
      start = FNR
    }
    /^\}/ { if (start) print FNR - start + 1, FILENAME ":" start; start = 0 }
    /;$/ && /^[A-Za-z~]/ { start = 0 }
  ' | sort -rn | head -n 8
}

{
  check_arrow
  check_confinement
  check_names
  check_headers
  check_lines
  check_top_level
  check_tests_say_sentences
} >>"$breaches"
list_largest
count=$(wc -l <"$breaches")
if [ "$count" -gt 0 ]; then
  echo "breaches:"
  cat "$breaches"
  echo "tidy: $count breaches"
  exit 1
fi
echo "tidy: no breach in $(code_files | wc -l) files"
