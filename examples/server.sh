# For the scripts of the examples: a server of their own, which ends with them. Source it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
gorgo=${GORGO:-$here/../../build/release/gorgo}
[[ -x $gorgo ]] || gorgo=$(command -v gorgo) || { echo "there is no gorgo: build it (./run build) or name it (GORGO=...)" >&2; exit 1; }
work=$(mktemp -d)
server=
cleanup() {
  kill $(jobs -p) 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

say() { printf -- '-- %s\n' "$*"; }
die() {
  printf '%s: %s\n' "$(basename "$here")" "$*" >&2
  exit 1
}

# wait_for WHAT COMMAND...: waits until a command succeeds, at most a minute.
wait_for() {
  local what=$1
  shift
  for _ in {1..1200}; do
    ! "$@" || return 0
    sleep 0.05
  done
  die "waited a minute for $what"
}

# until_seen TEXT FILE PROCESS: waits until a process has written a text to a file.
seen_or_gone() { grep -q "$1" "$2" || ! kill -0 "$3" 2>/dev/null; }
until_seen() {
  wait_for "'$1' in $2" seen_or_gone "$@"
  grep -q "$1" "$2" || die "$(cat "$2")"
}

# start_server OPTION...: sets $server, $address (native) and $http. Ports are free ones, unless options say which.
start_server() {
  : >"$work/serve.out"
  "$gorgo" serve --listen 127.0.0.1:0 --http "127.0.0.1:${HTTP_PORT:-0}" "$@" >"$work/serve.out" 2>"$work/serve.err" &
  server=$!
  wait_for "the server to listen" seen_or_gone '^http on ' "$work/serve.out" "$server"
  grep -q '^http on ' "$work/serve.out" || die "$(cat "$work/serve.err")"
  address=$(sed -n 's/^listening on //p' "$work/serve.out")
  http=$(sed -n 's/^http on //p' "$work/serve.out")
  say "server at $address, workbench at http://$http/"
}

# subscribe FILE TYPE...: composites of these types, as they come, into a file; sets $subscriber.
subscribe() {
  local file=$1
  shift
  : >"$work/sub.err"
  "$gorgo" sub --from "$address" "$@" >"$file" 2>"$work/sub.err" &
  subscriber=$!
  until_seen subscribed "$work/sub.err" "$subscriber"
}

# With KEEP=1 the server stays, for a look at its workbench.
linger() {
  [[ ${KEEP-} != 1 ]] || { say "http://$http/ stays until you press Enter"; read -r _; }
}
