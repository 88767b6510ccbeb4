package githubtest

import (
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/utils/diff"
	"github.com/sergi/go-diff/diffmatchpatch"
)

// patchContext is the number of unchanged lines around each change in a patch.
const patchContext = 3

// patch returns the change of a file as GitHub lists it: a unified diff without the names of the files. The
// last line has no line end.
func patch(before, after string) string {
	var lines []string // with their marks
	for _, d := range diff.Do(before, after) {
		mark := map[diffmatchpatch.Operation]string{diffmatchpatch.DiffEqual: " ", diffmatchpatch.DiffInsert: "+", diffmatchpatch.DiffDelete: "-"}[d.Type]
		for line := range strings.Lines(d.Text) {
			text, ended := strings.CutSuffix(line, "\n")
			if lines = append(lines, mark+text); !ended {
				lines = append(lines, `\ No newline at end of file`)
			}
		}
	}
	near := make([]bool, len(lines)) // whether the patch has the line
	for i, line := range lines {
		if line[0] == ' ' {
			continue
		}
		for at := max(i-patchContext, 0); at <= min(i+patchContext, len(lines)-1); at++ {
			near[at] = true
		}
	}
	var out []string
	old, now := 1, 1 // the numbers of the next lines
	for i := 0; i < len(lines); {
		end, was, is := i, 0, 0
		for ; end < len(lines) && near[end] == near[i]; end++ {
			switch lines[end][0] {
			case ' ':
				was, is = was+1, is+1
			case '-':
				was++
			case '+':
				is++
			}
		}
		if near[i] {
			out = append(out, fmt.Sprintf("@@ -%s +%s @@", span(old, was), span(now, is)))
			out = append(out, lines[i:end]...)
		}
		i, old, now = end, old+was, now+is
	}
	return strings.Join(out, "\n")
}

// span returns the lines of one side of a hunk. If the hunk has no lines on that side, span names the
// line before.
func span(first, lines int) string {
	switch lines {
	case 0:
		return fmt.Sprintf("%d,0", first-1)
	case 1:
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d,%d", first, lines)
}
