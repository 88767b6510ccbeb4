package upgrade

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/cmd/architecture/golden"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

var record = flag.String("record", "", "the name of this version: plays the first half of each story, and writes down its records")

// A story has two halves.
type story struct {
	name        string
	files       map[string]string
	first, then []string
	want        []string // the trace of the second half
	archive     *txtar.Archive
}

const stories = "testdata/stories"

func readStories(t *testing.T) (out []story) {
	t.Helper()
	names, err := filepath.Glob(stories + "/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		x := story{name: strings.TrimSuffix(filepath.Base(name), ".txtar"), files: map[string]string{}, archive: a}
		for _, f := range a.Files {
			switch f.Name {
			case "first":
				x.first = steps(f.Data)
			case "then":
				x.then, x.want = steps(f.Data), strings.Split(strings.TrimSpace(string(f.Data)), "\n")
			default:
				x.files[f.Name] = string(f.Data)
			}
		}
		out = append(out, x)
	}
	return out
}

// steps are the lines without those of the trace.
func steps(data []byte) (out []string) {
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '=' && line[0] != '#' {
			out = append(out, line)
		}
	}
	return out
}

// playFirst plays the first half, and returns all that is there after it.
func playFirst(t *testing.T, x story, version string) (a *txtar.Archive) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, version)
		s.open(x.files)
		for _, line := range x.first {
			s.step(line)
		}
		a = s.dump()
	})
	return a
}

// playThen plays the second half where the first one has left everything, and returns its trace.
func playThen(t *testing.T, x story, a *txtar.Archive) (trace []string) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, "now")
		s.open(x.files)
		s.load(a)
		for _, line := range x.then {
			s.step(line)
		}
		s.tell()
		trace = s.lines
	})
	return trace
}

// dump writes down all that is there.
func (s *stage) dump() *txtar.Archive {
	a := &txtar.Archive{Comment: fmt.Appendf(nil, "pulls %d\nseconds %d\nwebhooks %d\n", s.pulls, int(time.Since(s.began).Seconds()), len(s.hub.Deliveries()))}
	add := func(name, text string) {
		a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(strings.TrimSuffix(text, "\n") + "\n")})
	}
	add("github", strings.Join(shortened(s.journal), "\n"))
	var records, messages, loose strings.Builder
	for _, key := range slices.Sorted(maps.Keys(s.store.records)) {
		fmt.Fprintf(&records, "%s %s\n", key, s.store.records[key].Value)
	}
	for _, w := range s.store.waiting {
		fmt.Fprintf(&messages, "%s\n", pipeline.Encode(w))
	}
	for _, key := range slices.Sorted(maps.Keys(s.store.artifacts)) {
		data := s.store.artifacts[key]
		text := strconv.Quote(string(data))
		if !utf8.Valid(data) {
			text = base64.StdEncoding.EncodeToString(data)
		}
		fmt.Fprintf(&loose, "%s %s\n", key, text)
	}
	add("records", records.String())
	add("messages", messages.String())
	add("artifacts", loose.String())
	err := filepath.WalkDir(s.states, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(s.states, name)
		if !utf8.Valid(data) {
			s.t.Errorf("%s is no text", rel)
		}
		add("states/"+rel, string(data))
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

// shortened is a journal without the texts that nobody reads there: those that later ones have taken the place of, and those of check
// runs but for their summaries, which name the plans.
func shortened(journal []string) []string {
	out := slices.Clone(journal)
	later := map[string]bool{}
	for i, line := range slices.Backward(journal) {
		words := strings.SplitN(line, " ", 4)
		if len(words) < 4 || words[1] != "PATCH" && words[1] != "POST" {
			continue
		}
		words[3] = short(words[3], later[words[2]])
		out[i] = strings.Join(words, " ")
		later[words[2]] = words[1] == "PATCH"
	}
	return out
}

// short is the body of a request.
func short(body string, former bool) string {
	var b map[string]any
	if json.Unmarshal([]byte(body), &b) != nil {
		return body
	}
	output, check := b["output"].(map[string]any)
	if delete(b, "actions"); check {
		output["text"] = ""
	}
	if check && former {
		output["title"], output["summary"] = "x", "x"
	} else if former {
		b["body"] = "x"
	}
	return string(pipeline.Encode(b))
}

// load makes a stage that is as another one was.
func (s *stage) load(a *txtar.Archive) {
	files := map[string]string{}
	for _, f := range a.Files {
		files[f.Name] = string(f.Data)
		if name, ok := strings.CutPrefix(f.Name, "states/"); ok {
			name = filepath.Join(s.states, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				s.t.Fatal(err)
			}
			if err := os.WriteFile(name, f.Data, 0o600); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	s.repeat(strings.Split(strings.TrimSpace(files["github"]), "\n"))
	for line := range strings.Lines(files["records"]) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok {
			s.store.version++
			s.store.records[key] = pipeline.Record{Key: key, Value: []byte(value), Version: pipeline.Version(fmt.Sprint("v", s.store.version))}
		}
	}
	for line := range strings.Lines(files["messages"]) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		w := new(waiting)
		if err := json.Unmarshal([]byte(line), w); err != nil {
			s.t.Fatal(err)
		}
		s.store.waiting = append(s.store.waiting, w)
	}
	for line := range strings.Lines(files["artifacts"]) {
		key, text, ok := strings.Cut(strings.TrimSpace(line), " ")
		data, err := base64.StdEncoding.DecodeString(text)
		if strings.HasPrefix(text, `"`) {
			text, err = strconv.Unquote(text)
			data = []byte(text)
		}
		if err != nil {
			s.t.Fatal(err)
		}
		if ok {
			s.store.artifacts[key] = data
		}
	}
	var seconds, webhooks int
	if _, err := fmt.Sscanf(string(a.Comment), "pulls %d\nseconds %d\nwebhooks %d", &s.pulls, &seconds, &webhooks); err != nil {
		s.t.Fatal(err)
	}
	if n := len(s.hub.Deliveries()); n != webhooks {
		s.t.Fatalf("there are %d webhooks, and were %d: package githubtest is another one now. Record the version again, with that: see CONTRIBUTING", n, webhooks)
	}
	time.Sleep(time.Until(s.began.Add(time.Duration(seconds) * time.Second)))
}

// TestStories plays both halves of each story with this version, as -update writes them.
func TestStories(t *testing.T) {
	for _, x := range readStories(t) {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			got := playThen(t, x, playFirst(t, x, "before"))
			if golden.Updating() {
				for i := range x.archive.Files {
					if x.archive.Files[i].Name == "then" {
						x.archive.Files[i].Data = []byte(strings.Join(got, "\n") + "\n")
					}
				}
				golden.Update(t, filepath.Join(stories, x.name+".txtar"), string(txtar.Format(x.archive)))
			} else if diff := cmp.Diff(x.want, got); diff != "" {
				t.Errorf("(-want +got, -update writes it anew)\n%s", diff)
			}
		})
	}
}

// TestUpgrade plays the second half of each story behind the first halves of earlier versions.
func TestUpgrade(t *testing.T) {
	for _, x := range readStories(t) {
		names, err := filepath.Glob("testdata/*/" + x.name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			version := filepath.Base(filepath.Dir(name))
			if version == filepath.Base(stories) {
				continue
			}
			t.Run(x.name+"/"+version, func(t *testing.T) {
				t.Parallel()
				a, err := txtar.ParseFile(name)
				if err != nil {
					t.Fatal(err)
				}
				got := playThen(t, x, a)
				if golden.Updating() {
					golden.Update(t, name, withThen(a, x.want, got))
				} else if diff := cmp.Diff(thenOf(a, x.want), got); diff != "" {
					t.Errorf("(-want +got, -update writes it anew)\n%s", diff)
				}
			})
		}
	}
}

const then = "then"

// thenOf is the trace that a version's record has, or that of this version.
func thenOf(a *txtar.Archive, today []string) []string {
	for _, f := range a.Files {
		if f.Name == then {
			return strings.Split(strings.TrimSpace(string(f.Data)), "\n")
		}
	}
	return today
}

// withThen writes the trace into a version's record where it is another one than this version's.
func withThen(a *txtar.Archive, today, got []string) string {
	a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == then })
	if !slices.Equal(today, got) {
		a.Files = append(a.Files, txtar.File{Name: then, Data: []byte(strings.Join(got, "\n") + "\n")})
	}
	return string(txtar.Format(a))
}

// TestRecord writes down the first halves as this version plays them: see the option -record.
func TestRecord(t *testing.T) {
	if *record == "" {
		return
	}
	for _, x := range readStories(t) {
		t.Run(x.name, func(t *testing.T) {
			a := playFirst(t, x, *record)
			if t.Failed() {
				return
			}
			dir := filepath.Join("testdata", *record)
			if err := os.MkdirAll(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, x.name+".txtar"), txtar.Format(a), 0o666); err != nil {
				t.Fatal(err)
			}
		})
	}
}
