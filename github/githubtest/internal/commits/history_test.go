package commits

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// parse reads files: "a=1 b=2"; "a=-" is a deletion.
func parse(text string) Files {
	out := Files{}
	for _, field := range strings.Fields(text) {
		name, content, _ := strings.Cut(field, "=")
		if content == "-" {
			content = Deleted
		}
		out[name] = content
	}
	return out
}

func (f Files) String() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		all = append(all, name+"="+f[name])
	}
	return strings.Join(all, " ")
}

// story reads a history, one commit a line: "name from parents: changes". The changes are to
// the files of the first parent.
func story(h History, text string) map[string]string {
	names := map[string]string{}
	for i, line := range strings.Split(text, "; ") {
		head, changes, _ := strings.Cut(line, ":")
		words := strings.Fields(head)
		c := Commit{Message: words[0], At: time.Unix(int64(i), 0), Files: Files{}}
		for _, p := range words[1:] {
			c.Parents = append(c.Parents, names[p])
		}
		if len(c.Parents) > 0 {
			c.Files = h[c.Parents[0]].Files
		}
		c.Files = c.Files.With(parse(changes))
		names[words[0]] = h.Add(c).SHA
	}
	return names
}

// TestMerge merges the commits x and y of a history.
func TestMerge(t *testing.T) {
	for _, test := range []struct{ history, base, want string }{
		{"m: a=1 b=1; x m: a=2; y m: b=2", "m", "a=2 b=2"},
		{"m: a=1; x m: a=2; y m: a=2", "m", "a=2"},
		{"m: a=1; x m: a=2; y m: a=3", "m", "conflict a"},
		{"m: a=1 b=1; x m: a=-; y m: b=2", "m", "b=2"},
		{"m: a=1 b=1; x m: a=-; y m: a=-", "m", "b=1"},
		{"m: a=1; x m: a=-; y m: a=2", "m", "conflict a"},
		// Git follows a file to its new name, on either side.
		{"m: a=1; x m: a=2; y m: a=- b=1", "m", "b=2"},
		{"m: a=1; x m: a=- b=1; y m: a=2", "m", "b=2"},
		{"m: a=1; x m: a=- b=1; y m: a=-", "m", "b=1"},
		{"m: a=1; x m: a=- b=1; y m: a=2 b=3", "m", "conflict a b"},
		{"m: a=1; x m: a=2; y m: a=- b=3", "m", "conflict a"},
		{"m: a=1; x m: b=1; y m: b=2 c=1", "m", "conflict b"},
		{"m: a=1; x m: a=2; y x: b=1", "x", "a=2 b=1"},
		{"m: a=1; y m: a=2; x y: b=1", "y", "a=2 b=1"},
		// After a merge of x's past into y, only the rest of x is new.
		{"m: a=1; o m: a=2; n m: b=1; y n o: a=2; x o: a=3", "o", "a=3 b=1"},
		// The past of both is before o, which x and y have merged: x by a commit that has the past as its first parent.
		{"m: a=1; o m: a=2; n m: b=1; x m o: a=2; y n o: a=3", "o", "a=3 b=1"},
	} {
		h := History{}
		names := story(h, test.history)
		if got := h.MergeBase(names["x"], names["y"]).Message; got != test.base {
			t.Errorf("%s: the merge base is %s, want %s", test.history, got, test.base)
		}
		files, conflicts := h.Merge(names["x"], names["y"])
		got := files.String()
		if len(conflicts) > 0 {
			got = "conflict " + strings.Join(conflicts, " ")
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.history, got, test.want)
		}
	}
}

// TestChanged holds the names of the files that differ.
func TestChanged(t *testing.T) {
	for _, test := range []struct{ from, to, want string }{
		{"", "", "[]"},
		{"a=1", "a=1", "[]"},
		{"a=1 b=1", "a=2 c=1", "[a b c]"},
	} {
		if got := fmt.Sprint(parse(test.from).Changed(parse(test.to))); got != test.want {
			t.Errorf("%s to %s: %s, want %s", test.from, test.to, got, test.want)
		}
	}
}

// TestNames holds that a commit's name follows from its content, and its tree's from its files.
func TestNames(t *testing.T) {
	h := History{}
	one := h.Add(Commit{Files: parse("a=1"), Message: "one"})
	if again := h.Add(Commit{Files: parse("a=1"), Message: "one"}); again.SHA != one.SHA || len(h) != 1 {
		t.Error("the same commit has two names")
	}
	two := h.Add(Commit{Files: parse("a=1"), Message: "two", Parents: []string{one.SHA}})
	if two.SHA == one.SHA || two.Tree() != one.Tree() {
		t.Errorf("%s and %s, trees %s and %s", one.SHA, two.SHA, one.Tree(), two.Tree())
	}
	defer func() {
		if recover() == nil {
			t.Error("commits without a common ancestor have one")
		}
	}()
	h.MergeBase(one.SHA, h.Add(Commit{Message: "alone"}).SHA)
}

// TestArchive reads an archive back.
func TestArchive(t *testing.T) {
	c := History{}.Add(Commit{Files: parse("b/c=2 a=1")})
	var b bytes.Buffer
	if err := c.WriteArchive(&b, "infra-1"); err != nil {
		t.Fatal(err)
	}
	zr, err := gzip.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for tr := tar.NewReader(zr); ; {
		head, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, head.Name+"="+string(content)+head.PAXRecords["comment"])
	}
	want := "pax_global_header=" + c.SHA + " infra-1/= infra-1/a=1 infra-1/b/c=2"
	if strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", got, want)
	}
}
