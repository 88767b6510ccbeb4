package planning

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// stories plays the stories of the tables in testdata that a pattern names, and returns their number. A story is a paragraph: its name, and
// below it, indented, lines that begin with a word. read gets each line's word and rest, and play plays the story that was read. Lines that
// begin with # are comments.
func stories[S any](t *testing.T, pattern string, begin func() S, read func(s S, key, rest string), play func(S, *testing.T)) (n int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(files) == 0 {
		t.Fatal("no tables: ", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for paragraph := range strings.SplitSeq(string(text), "\n\n") {
			s, name := begin(), ""
			for line := range strings.Lines(paragraph) {
				switch key, rest, _ := strings.Cut(strings.TrimSpace(line), " "); {
				case key == "" || strings.HasPrefix(key, "#"):
				case !strings.HasPrefix(line, " "):
					name = strings.TrimSpace(line)
				default:
					read(s, key, strings.TrimSpace(rest))
				}
			}
			if name != "" {
				n++
				t.Run(filepath.Base(file)+"/"+name, func(t *testing.T) { play(s, t) })
			}
		}
	}
	return n
}
