#!/bin/sh
# Proves that docs.sh can fail: one document per broken promise, and one without.

set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

mkdir -p "$tree/examples"
printf 'int main() {\n  return 0;\n}\n' >"$tree/examples/01.cpp"
printf '#!/bin/sh\necho "  build    builds"\n' >"$tree/dev"
chmod +x "$tree/dev"

# expect pass|fail MARKER LINES
expect() {
  { echo "# T" && echo && echo "$2" && echo '```cpp' && printf %b "$3" && echo '```'; } \
    >"$tree/README.md"
  result=pass
  sh "$here/docs.sh" check "$tree" >/dev/null || result=fail
  if [ $result != "$1" ]; then
    echo "expected $1, got $result: $2"
    failures=$((failures + 1))
  fi
}

expect pass '<!-- file: examples/01.cpp -->' 'int main() {\n  return 0;\n}\n'
expect pass '<!-- file: examples/01.cpp -->' 'return 0;\n'
expect fail '<!-- file: examples/01.cpp -->' 'int main() {\n  return 1;\n}\n'
expect fail '<!-- file: examples/01.cpp -->' 'int main() {\n}\n'
expect fail '<!-- file: examples/02.cpp -->' 'int main() {\n}\n'
expect fail 'Some words.' 'int main() {\n}\n'
expect pass '<!-- dev -->' './dev build   # with a remark\n'
expect fail '<!-- dev -->' './dev bake\n'
expect pass '<!-- text -->' 'anything\n'

[ "$failures" = 0 ] || exit 1
echo "every planted lie was caught"
