#!/bin/sh
# fake-gcs-server 1.56.1 honours the condition ifGenerationMatch for uploads, and ignores it for deletions: an object is
# deleted although its generation is another one. Google's API answers 412
# (https://cloud.google.com/storage/docs/request-preconditions).
# A lock that is released under a condition therefore looks safe in tests against this server, and is not tested at all.
#
# It needs Go and curl. It prints what it sees, and fails if that has changed. Output seen:
#   upload of an object that exists, ifGenerationMatch=0: 412
#   deletion with another generation: 200
#   the object afterwards: 404
set -eu
dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || :; rm -rf "$dir"' EXIT
cd "$dir"
GOBIN=$dir CGO_ENABLED=0 GOFLAGS=-mod=mod go install github.com/fsouza/fake-gcs-server@v1.56.1
port=$((20000 + $$ % 20000))
./fake-gcs-server -scheme http -host 127.0.0.1 -port "$port" -backend memory -log-level error &
server=$!
url=http://127.0.0.1:$port
for _ in 1 2 3 4 5 6 7 8 9 10; do
	curl -s -o none "$url/storage/v1/b?project=test" && break
	sleep 1
done
status() { curl -s -o answer -w '%{http_code}' "$@"; }
[ "$(status -X POST -H 'Content-Type: application/json' -d '{"name":"states"}' "$url/storage/v1/b?project=test")" = 200 ]
[ "$(status -X POST --data-binary one "$url/upload/storage/v1/b/states/o?uploadType=media&name=lock")" = 200 ]
generation=$(sed -n 's/.*"generation": *"\([0-9]*\)".*/\1/p' answer | head -n 1)

seen() {
	echo "$1: $2"
	[ "$2" = "$3" ] || { echo "it was $3: the behaviour has changed"; exit 1; }
}
seen "upload of an object that exists, ifGenerationMatch=0" "$(status -X POST --data-binary two "$url/upload/storage/v1/b/states/o?uploadType=media&name=lock&ifGenerationMatch=0")" 412
seen "deletion with another generation" "$(status -X DELETE "$url/storage/v1/b/states/o/lock?ifGenerationMatch=$((generation + 1))")" 200
seen "the object afterwards" "$(status "$url/storage/v1/b/states/o/lock")" 404
