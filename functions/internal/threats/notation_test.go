package threats

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A row is one defence with the attack that fails while it stands.
type row struct {
	at      string // FILE:LINE of the record
	threat  string
	pkg     string // "./functions/pipeline"
	pattern string // as -run takes it
	edits   []edit
	copied  bool // in a copy of the repository, not by an overlay
	quick   bool
}

// An edit weakens a file, which is named from the repository's directory.
type edit struct {
	file     string
	old, new string
}

// name is what a row is chosen and reported by.
func (r row) name() string { return r.at + " " + r.threat + " " + r.edits[0].file }

// runs returns the pattern with its first part made the whole name of a test.
func (r row) runs() string {
	test, rest, sub := strings.Cut(r.pattern, "/")
	if sub {
		rest = "/" + rest
	}
	return "^(" + test + ")$" + rest
}

// parseRows reads a file of rows; name is what errors call it.
func parseRows(name, text string) ([]row, error) {
	var rows []row
	var p rowParser
	for i, line := range append(strings.Split(text, "\n"), "") {
		at := fmt.Sprintf("%s:%d", name, i+1)
		switch {
		case strings.HasPrefix(line, "#"):
			continue
		case strings.TrimSpace(line) != "":
			if err := p.line(at, line); err != nil {
				return nil, fmt.Errorf("%s: %w", at, err)
			}
			continue
		case p.row.at == "":
			continue
		}
		r, err := p.end()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.row.at, err)
		}
		rows = append(rows, r)
		p = rowParser{}
	}
	return rows, nil
}

// A rowParser is in the middle of a record.
type rowParser struct {
	row  row
	file string // the defence that edits are of
	last byte   // of the line before: '-', '+', or 0 for a field
}

func (p *rowParser) line(at, line string) error {
	if p.row.at == "" {
		p.row.at = at
	}
	if kind := line[0]; kind == '-' || kind == '+' {
		return p.edit(kind, strings.TrimPrefix(line[1:], " "))
	}
	p.last = 0
	field, value, ok := strings.Cut(line, ":")
	value, _, _ = strings.Cut(value, " #")
	value = strings.TrimSpace(value)
	if !ok || value == "" {
		return fmt.Errorf("%q is no field with a value: write NAME: VALUE", line)
	}
	switch field {
	case "threat":
		p.row.threat = value
	case "attack":
		p.row.pkg, p.row.pattern, _ = strings.Cut(value, " ")
		p.row.pattern = strings.TrimSpace(p.row.pattern)
		if _, err := regexp.Compile(p.row.pattern); err != nil || p.row.pattern == "" || !strings.HasPrefix(p.row.pkg, "./") {
			return fmt.Errorf("%q is no attack: write ./PACKAGE PATTERN", value)
		}
	case "defence":
		p.file = value
	case "copy":
		p.row.copied = value == "yes"
	case "quick":
		p.row.quick = value == "yes"
	default:
		return fmt.Errorf("there is no field %q: use threat, attack, defence, copy or quick", field)
	}
	return nil
}

// edit takes a line of an edit. A - line after anything but another one begins a new edit.
func (p *rowParser) edit(kind byte, text string) error {
	before := p.last
	p.last = kind
	switch {
	case p.file == "":
		return fmt.Errorf("there is an edit of no file: write the defence first")
	case kind == '-' && before == '-':
		p.row.edits[len(p.row.edits)-1].old += "\n" + text
	case kind == '-':
		p.row.edits = append(p.row.edits, edit{file: p.file, old: text})
	case before == '-':
		p.row.edits[len(p.row.edits)-1].new = text
	case before == '+':
		p.row.edits[len(p.row.edits)-1].new += "\n" + text
	default:
		return fmt.Errorf("a + line follows no - line")
	}
	return nil
}

func (p *rowParser) end() (row, error) {
	switch r := p.row; {
	case r.threat == "":
		return r, fmt.Errorf("a record without a threat")
	case r.pkg == "":
		return r, fmt.Errorf("a record without an attack")
	case len(r.edits) == 0:
		return r, fmt.Errorf("a record without an edit")
	default:
		return r, nil
	}
}

// weakened returns what a row's files hold with its edits; read reads a file of the
// repository.
func (r row) weakened(read func(name string) (string, error)) (map[string]string, error) {
	out := map[string]string{}
	for _, e := range r.edits {
		text, ok := out[e.file]
		if !ok {
			var err error
			if text, err = read(e.file); err != nil {
				return nil, fmt.Errorf("%s: the defence: %w", r.at, err)
			}
		}
		if n := strings.Count(text, e.old); n != 1 || e.old == "" || e.old == e.new {
			return nil, fmt.Errorf("%s: this text stands %d times in %s, and must stand there once and be changed:\n%s", r.at, n, e.file, e.old)
		}
		out[e.file] = strings.Replace(text, e.old, e.new, 1)
	}
	return out, nil
}

// repository is where the repository is, from this package's directory.
const repository = "../../.."

func readRepository(name string) (string, error) {
	data, err := os.ReadFile(filepath.Join(repository, name))
	return string(data), err
}

// allRows reads the rows of all files.
func allRows(t *testing.T) []row {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []row
	for _, file := range files {
		if filepath.Base(file) == "threats.txt" {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := parseRows(filepath.Base(file), string(data))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rows...)
	}
	return all
}

// TestNotation is a table of records and what they are, or what is wrong with them.
func TestNotation(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, want string }{
		{"a row", "threat: a  # of b\nattack: ./p TestX/y\ndefence: f.go\n- \tif x {\n- \t\ty()\n+ \tif false {\n", `[{at:x:1 threat:a pkg:./p pattern:TestX/y edits:[{file:f.go old:	if x {
		y() new:	if false {}] copied:false quick:false}]`},
		{"two edits, a deletion, two files", "\n# note\nthreat: a\nattack: ./p T\nquick: yes\ncopy: yes\ndefence: f\n- a\n+ b\n+ c\n- d\ndefence: g\n- e\n+\n", "[{at:x:3 threat:a pkg:./p pattern:T edits:[{file:f old:a new:b\nc} {file:f old:d new:} {file:g old:e new:}] copied:true quick:true}]"},
		{"an edit first", "- x", "x:1: there is an edit of no file"},
		{"a plus first", "defence: f\n+ x", "x:2: a + line follows no - line"},
		{"no threat", "attack: ./p T\ndefence: f\n- x", "x:1: a record without a threat"},
		{"no attack", "threat: a\ndefence: f\n- x", "x:1: a record without an attack"},
		{"no edit", "threat: a\nattack: ./p T", "x:1: a record without an edit"},
		{"an attack without a test", "attack: ./p", "x:1: \"./p\" is no attack"},
		{"another field", "thread: a", "x:1: there is no field \"thread\""},
		{"no field", "hello", "x:1: \"hello\" is no field"},
	} {
		rows, err := parseRows("x", test.text)
		got := fmt.Sprintf("%+v", rows)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %s", test.name, got)
		}
	}
}

// TestWeakened is a table of edits of a file, and what it holds with them.
func TestWeakened(t *testing.T) {
	t.Parallel()
	read := func(string) (string, error) { return "one\ntwo\ntwo\nthree\n", nil }
	for _, test := range []struct {
		name  string
		edits []edit
		want  string
	}{
		{"a line", []edit{{"f", "one", "1"}}, "1\ntwo\ntwo\nthree\n"},
		{"two lines", []edit{{"f", "one\ntwo", ""}, {"f", "three", "3"}}, "\ntwo\n3\n"},
		{"twice there", []edit{{"f", "two", ""}}, "stands 2 times"},
		{"not there", []edit{{"f", "four", ""}}, "stands 0 times"},
		{"no change", []edit{{"f", "one", "one"}}, "must stand there once and be changed"},
	} {
		files, err := row{edits: test.edits}.weakened(read)
		got := files["f"]
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: %q", test.name, got)
		}
	}
}
