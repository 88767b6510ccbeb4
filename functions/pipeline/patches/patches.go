// Package patches reads the changed lines of a pull request, and finds them in a checkout.
//
// GitHub lists the patches of the head commit. A checkout has the trial merge, where the base branch may have
// moved the same lines up or down. Start at [Place].
package patches

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/causes"
)

// A File has the edits of one file, with the line numbers of the checkout.
type File struct {
	Edits []causes.Edit
	// moves are the differences between the line numbers of checkout and head, in the order of the lines.
	moves []move
}

// A move says that from a line on, a line number of the checkout is by higher than that of the head.
type move struct{ from, by int }

// Head returns the line number at the head commit for a line of the checkout.
func (f File) Head(line int) int {
	by := 0
	for _, m := range f.moves {
		if m.from <= line {
			by = m.by
		}
	}
	return max(line-by, 1)
}

// A hunk is one part of a patch.
type hunk struct {
	first int      // the number of its first new line
	lines []string // the new lines, with those that did not change
	edits []edit
}

// An edit is a part of a hunk without unchanged lines.
type edit struct {
	at, added int // the index of the first added line in the hunk's lines, and how many there are
	removed   []string
}

var header = regexp.MustCompile(`^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@`)

// parse reads the hunks of a patch in the format of a unified diff. It stops at the first line that is not valid.
func parse(patch string) []hunk {
	var out []hunk
	var h *hunk
	var e *edit
	for line := range strings.SplitSeq(patch, "\n") {
		if m := header.FindStringSubmatch(line); m != nil {
			first, err := strconv.Atoi(m[1])
			if err != nil {
				return out
			}
			if m[2] == "0" {
				first++ // the header names the line before
			}
			out = append(out, hunk{first: first})
			h, e = &out[len(out)-1], nil
			continue
		}
		if h == nil || line == "" {
			return out
		}
		mark, text := line[0], line[1:]
		if mark == '\\' {
			continue
		}
		if mark == ' ' {
			h.lines, e = append(h.lines, text), nil
			continue
		}
		if mark != '+' && mark != '-' {
			return out
		}
		if e == nil {
			h.edits = append(h.edits, edit{at: len(h.lines)})
			e = &h.edits[len(h.edits)-1]
		}
		if mark == '-' {
			e.removed = append(e.removed, text)
		} else {
			h.lines = append(h.lines, text)
			e.added++
		}
	}
	return out
}

// maxCompared limits the lines that are compared to find the hunks of one file.
const maxCompared = 2_000_000

// Place finds the edits of a patch in the content that the file has in the checkout. A hunk whose lines are not
// there is left out: the base branch has changed the same lines. content is nil for a file that is not there.
func Place(patch string, content []byte) File {
	var f File
	var lines []string
	if content != nil {
		lines = strings.Split(string(content), "\n")
	}
	left, by := maxCompared, 0
	for _, h := range parse(patch) {
		at, ok := h.find(lines, h.first-1+by, &left)
		if !ok {
			continue
		}
		if d := at - (h.first - 1); d != by {
			by = d
			f.moves = append(f.moves, move{at + 1, by})
		}
		for _, e := range h.edits {
			first := at + e.at + 1
			f.Edits = append(f.Edits, causes.Edit{First: first, Last: first + e.added - 1, Added: h.lines[e.at : e.at+e.added], Removed: e.removed})
		}
	}
	return f
}

// find returns the index of the hunk's first line: the nearest to near at which all its lines are.
func (h hunk) find(lines []string, near int, left *int) (at int, ok bool) {
	if len(h.lines) == 0 {
		return max(near, 0), true
	}
	is := func(at int) bool {
		*left -= len(h.lines)
		return at >= 0 && at+len(h.lines) <= len(lines) && slices.Equal(lines[at:at+len(h.lines)], h.lines)
	}
	near = min(max(near, 0), len(lines))
	for d := 0; d <= len(lines) && *left > 0; d++ {
		if is(near + d) {
			return near + d, true
		}
		if is(near - d) {
			return near - d, true
		}
	}
	return 0, false
}
