# SPDX-License-Identifier: MIT
# scripts/lib.sh: messages and logged steps for run, .ci/run and scripts/setup.sh, which source it.
#
# The sourcing script has set `root`, the top of the tree, and works in it.
# shellcheck shell=bash disable=SC2034,SC2154
logs="$root/build/logs"
jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}

bold='' red='' green='' dim='' off=''
if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
  bold=$'\e[1m' red=$'\e[31m' green=$'\e[32m' dim=$'\e[2m' off=$'\e[0m'
fi

say() { printf '%s==>%s %s\n' "$bold" "$off" "$*"; }
warn() { printf '%swarning:%s %s\n' "$red" "$off" "$*" >&2; }
die() {
  printf '%serror:%s %s\n' "$red" "$off" "$*" >&2
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

# step NAME COMMAND...: runs the command with its output in build/logs/NAME.log. A failure prints
# the end of that log and is returned.
step() {
  local name=$1 log="$logs/$1.log" start=$SECONDS status=0 watcher
  shift
  mkdir -p "$logs"
  say "$name"
  printf '$ %s\n' "$*" >"$log"
  show_progress "$log" "$start" &
  watcher=$!
  "$@" >>"$log" 2>&1 </dev/null || status=$?
  { kill "$watcher" && wait "$watcher"; } 2>/dev/null || true
  if [[ -t 1 ]]; then printf '\r\e[K'; fi
  if ((status)); then
    tail -n 40 "$log" >&2
    printf '%s%s failed%s (exit %d) after %d s; the whole log: %s\n' \
      "$red" "$name" "$off" "$status" $((SECONDS - start)) "${log#"$root"/}" >&2
    return "$status"
  fi
  printf '    %sdone in %d s%s\n' "$dim" $((SECONDS - start)) "$off"
}

# The last line of a growing log: refreshed in place on a terminal, otherwise a sign of life every
# half minute. Runs beside the command, which stays in the foreground so that ^C reaches it, and
# ends with the script. It waits by reading from nobody: a killed sleep would live on and hold the
# terminal or pipe open.
show_progress() {
  local log=$1 start=$2 pause=30 line nobody
  if [[ -t 1 ]]; then pause=1; fi
  exec {nobody}<> <(:)
  while ! read -rt "$pause" -u "$nobody" && kill -0 $$ 2>/dev/null; do
    line=$(tail -n 1 "$log" | tr -d '\r' | cut -c "1-$((${COLUMNS:-100} - 12))")
    if [[ -t 1 ]]; then printf '\r\e[K'; fi
    printf '    %s%4d s  %s%s' "$dim" $((SECONDS - start)) "$line" "$off"
    if [[ ! -t 1 ]]; then printf '\n'; fi
  done
}
