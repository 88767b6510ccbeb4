package pipeline

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Retention says for how long a record is kept after it was written last; 0 is for
// ever. It is for tidying up: no decision trusts that a record is gone.
func Retention(key string) time.Duration {
	const day = 24 * time.Hour
	collection, _, _ := strings.Cut(key, "/")
	switch collection {
	case "delivery", "message", "lease":
		// GitHub delivers again for 3 days, and a queue keeps a message for 14 at most.
		return 15 * day
	case "pace":
		return day
	case "ask", "sha":
		return 90 * day // check runs expire then, too
	case "run", "effect", "pull", "shown":
		return 365 * day
	}
	return 0
}

// SplitKey splits the key of a record at its last slash. Keys are made by us: one that
// is not two or more segments of printable characters is our bug, and SplitKey panics.
func SplitKey(key string) (dir, name string) {
	i := strings.LastIndexByte(key, '/')
	if i < 0 {
		panic(fmt.Sprintf("run: the key %q has one segment only", key))
	}
	dir, name = key[:i], key[i+1:]
	CheckDir(dir)
	checkSegments(name)
	if len(name) > MaxName {
		panic(fmt.Sprintf("run: the last segment of the key %.80q... has %d bytes", key, len(name)))
	}
	return dir, name
}

// CheckDir panics if dir cannot be what stands before a key's last slash.
func CheckDir(dir string) {
	checkSegments(dir)
	if len(dir) > MaxDir {
		panic(fmt.Sprintf("run: the key %.80q... has %d bytes", dir, len(dir)))
	}
}

func checkSegments(path string) {
	for segment := range strings.SplitSeq(path, "/") {
		odd := strings.ContainsFunc(segment, func(r rune) bool { return r <= ' ' || r == 0x7f || r == utf8.RuneError })
		if segment == "" || segment == "." || segment == ".." || odd {
			panic(fmt.Sprintf("pipeline: %q is no segment of the key %q", segment, path))
		}
	}
}
