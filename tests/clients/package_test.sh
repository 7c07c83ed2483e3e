#!/usr/bin/env bash
# Installs the client for C++, builds the examples as a project of their own, and runs them against a
# real server. GORGO_BINARY, GORGO_BUILD, GORGO_SOURCE: the program, the build and the repository.
set -euo pipefail
work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; rm -rf "$work"' EXIT

cmake --install "$GORGO_BUILD" --component client --prefix "$work/installed" >/dev/null
! grep -rnE '#include *<(boost|flatbuffers|asio)' "$work/installed/include" || exit 1
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
# The sources lie where they lie in each run, so that ccache knows them again.
cmake -G Ninja -S "$GORGO_SOURCE/clients/cpp/examples" -B "$work/build" "${launcher[@]}" \
  "-DCMAKE_PREFIX_PATH=$work/installed" "-DCMAKE_CXX_FLAGS=$GORGO_CXX_FLAGS -Wall -Wextra -Wno-missing-field-initializers -Werror" >/dev/null
cmake --build "$work/build" >"$work/log" || { cat "$work/log"; exit 1; }

mkfifo "$work/said"
"$GORGO_BINARY" serve --listen 127.0.0.1:0 --rules "$GORGO_SOURCE/rules/fire.tesla" --journal "$work/journal" >"$work/said" 2>/dev/null &
server=$!
exec 3<"$work/said"
read -r line <&3
address=${line#listening on }

expect() { [[ $1 == "$2" ]] || { echo "expected '$2', got '$1'"; exit 1; }; }
expect "$("$work/build/first_fire" "$address")" "Fire in kitchen"
expect "$("$work/build/columns" "$address")" $'accepted 1000\nreceived 1000'
expect "$("$work/build/coroutines" "$address" | sort)" $'Fire\naccepted 2'
expect "$("$work/build/durable" "$address")" $'safe 2\nFire in cellar'
if "$work/build/first_fire" 127.0.0.1:1 2>"$work/error"; then exit 1; fi
grep -q "cannot connect to 127.0.0.1:1" "$work/error"
