package steps

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestCanonical is a table of JSON files and their canonical texts.
func TestCanonical(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, data, want string }{
		"one line":               {"a.tf.json", `{"b":{"d":[1,{}],"c":"<é>"},"a":[]}`, "{\n  \"a\": [],\n  \"b\": {\n    \"c\": \"<é>\",\n    \"d\": [\n      1,\n      {}\n    ]\n  }\n}\n"},
		"a key twice":            {"a.tf.json", `{"a":2,"b":null,"a":1}`, "{\n  \"a\": 2,\n  \"a\": 1,\n  \"b\": null\n}\n"},
		"numbers keep digits":    {"a.tf.json", `12345678901234567890.10`, "12345678901234567890.10\n"},
		"escapes":                {"a.tf.json", `"\u0041\ud83d\ude00"`, "\"A😀\"\n"},
		"no JSON":                {"a.tf.json", "{\"a\": ", "{\"a\": "},
		"more follows":           {"a.tf.json", "{}}", "{}}"},
		"two values":             {"a.tf.json", "{} {}", "{} {}"},
		"HCL":                    {"a.tf", "{}", "{}"},
		"nested too deep":        {"a.tf.json", strings.Repeat("[", 200_000), strings.Repeat("[", 200_000)},
		"nested a little deeper": {"a.tf.json", strings.Repeat("[", maxJSONDepth) + "1" + strings.Repeat("]", maxJSONDepth), ""},
		"grows by its indents":   {"a.tf.json", strings.Repeat("[", 60) + strings.Repeat("1,", 100_000) + "1" + strings.Repeat("]", 60), strings.Repeat("[", 60) + strings.Repeat("1,", 100_000) + "1" + strings.Repeat("]", 60)},
	} {
		got := canonical(c.file, []byte(c.data))
		if c.want != "" && got != c.want {
			t.Errorf("%s: %.300q", name, got)
		}
		if again := canonical(c.file, []byte(got)); again != got {
			t.Errorf("%s, again: %.300q", name, again)
		}
	}
}

// FuzzCanonical holds that a canonical text stays as it is, and is not much larger than the file.
func FuzzCanonical(f *testing.F) {
	f.Add([]byte(`{"b":{"d":[1,{}],"c":"é"},"a":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got := canonical("a.json", data)
		if len(got) > 20*len(data)+2_000 || canonical("a.json", []byte(got)) != got {
			t.Fatalf("%q", got)
		}
	})
}

// text returns a file with the numbers from 1 to n, one a line, but for others in the place of some.
func text(n int, others map[int]string) configFile {
	var b strings.Builder
	for i := range n {
		if other, ok := others[i+1]; ok {
			b.WriteString(other)
			continue
		}
		fmt.Fprintln(&b, i+1)
	}
	return configFile{Text: b.String()}
}

// TestChanges is a golden file of differences: of 1, 30 and 300 files, and of files that nobody wants to see.
func TestChanges(t *testing.T) {
	t.Parallel()
	files := func(n int, others map[int]string) configFiles {
		out := configFiles{}
		for i := range n {
			out[fmt.Sprintf("live/p%03d/cdk.tf.json", i)] = text(20, others)
		}
		return out
	}
	one := configFiles{"cdk.tf.json": text(20, nil)}
	var b strings.Builder
	for _, c := range []struct {
		name    string
		was, is configFiles
	}{
		{"equal", one, one}, {"nothing", nil, nil}, {"a new file", nil, configFiles{"cdk.tf.json": text(3, nil)}}, {"a file that is gone", configFiles{"cdk.tf.json": text(3, nil)}, nil},
		{"one line", one, configFiles{"cdk.tf.json": text(20, map[int]string{10: "ten\n"})}},
		{"the first and the last line", one, configFiles{"cdk.tf.json": text(20, map[int]string{1: "", 20: "20"})}},
		{"two changes near each other", one, configFiles{"cdk.tf.json": text(20, map[int]string{5: "5\n5\n", 12: ""})}},
		{"without line end", one, configFiles{"cdk.tf.json": {Text: strings.TrimSpace(one["cdk.tf.json"].Text)}}},
		{"hostile", configFiles{}, configFiles{"a\n# b is new\n\u202e.tf": {Text: "```\n@acme/sre\r\x1b[1m</details>\n# x.tf is new\n" + strings.Repeat("<", 600) + "\n"}}},
		{"too large", configFiles{"a.tf.json": {Size: 30 << 20, Sum: "a"}, "b.tf": {Text: "x"}, "c.tf": {Size: 30 << 20, Sum: "c"}}, configFiles{"a.tf.json": {Size: 31 << 20, Sum: "b"}, "b.tf": {Size: 9 << 20, Sum: "b"}, "c.tf": {Size: 30 << 20, Sum: "c"}}},
		{"too many lines", configFiles{"a.tf": text(10, nil)}, configFiles{"a.tf": text(9_000, map[int]string{1: "one\n"})}},
		{"30 files", files(30, nil), files(31, map[int]string{10: "ten\n"})}, {"300 files", files(300, nil), files(301, map[int]string{10: "ten\n"})},
	} {
		changes, diff := changesOf(comment.LastMerge, c.was, c.is)
		fmt.Fprintf(&b, "===== %s: %d new, %d changed, %d gone, %d same, cut: %t, %d bytes\n%.700s\n", c.name, changes.New, changes.Changed, changes.Gone, changes.Same, changes.Cut, len(diff), diff)
	}
	golden.File(t, "testdata/changes.txt", b.String())
}

// TestChangesOfManyLines compares files without a line in common, which takes longest.
func TestChangesOfManyLines(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	file := func() configFile {
		var b strings.Builder
		for range maxDiffLines / 2 {
			fmt.Fprintln(&b, random.IntN(200))
		}
		return configFile{Text: b.String()}
	}
	was, is := configFiles{}, configFiles{}
	for i := range 300 {
		name := fmt.Sprint(i, ".tf")
		was[name], is[name] = file(), file()
	}
	changes, diff := changesOf(comment.LastMerge, was, is)
	if changes.Changed != 300 || !changes.Cut || strings.Count(diff, "too many lines") < 200 || len(diff) > maxDifference+maxDiffLines*(maxDiffLine+5) || len(changes.With(diff).Diff) > 16_000 {
		t.Errorf("%d changed, %d bytes", changes.Changed, len(diff))
	}
}

// TestReadConfig reads generated files within limits: no link is followed, a large file has a checksum only, and secrets go.
func TestReadConfig(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, data string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.tf", "x = \"hunter2\"\n")
	write("big.tf.json", strings.Repeat("[", 30<<20))
	write("code.zip", "PK")
	secret := filepath.Join(t.TempDir(), "secret.tf")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"out.tf": secret, "in.tf": "a.tf"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"a.tf", "big.tf.json", "code.zip", "out.tf", "in.tf", "gone.tf"}
	for i := range 8 {
		name := fmt.Sprintf("m%d.tf", i)
		write(name, strings.Repeat("# 3456789abcde\n", 120_000))
		names = append(names, name)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	got, err := readConfig(root, names, func(s string) string { return strings.ReplaceAll(s, "hunter2", "(hidden)") })
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, f := range got {
		total += len(f.Text)
	}
	if got["a.tf"].Text != "x = \"(hidden)\"\n" || got["big.tf.json"].Sum == "" || got["big.tf.json"].Size != 30<<20 || got["m7.tf"].Sum == "" || len(got) != 10 || total > maxConfigText {
		t.Errorf("%d files, %d bytes: %+v", len(got), total, got["a.tf"])
	}
	if _, err := readConfig(root, []string{"../x.tf"}, nil); err == nil {
		t.Error("a name leads out of the checkout")
	}
}

// TestCDKTF compares files that cdktf has written: see testdata/README. They are the same on one line, and with other orders.
func TestCDKTF(t *testing.T) {
	t.Parallel()
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	const name = "cdktf.out/stacks/net/cdk.tf.json"
	file := func(data []byte) configFiles { return configFiles{name: {Text: canonical(name, data)}} }
	before, after := read("cdktf-before.tf.json"), read("cdktf-after.tf.json")
	_, diff := changesOf(comment.LastMerge, file(before), file(after))
	golden.File(t, "testdata/cdktf.txt", diff+"\n")
	var line bytes.Buffer
	if err := json.Compact(&line, after); err != nil {
		t.Fatal(err)
	}
	if c, _ := changesOf(comment.LastMerge, file(after), file(line.Bytes())); c.Same != 1 {
		t.Errorf("%+v", c)
	}
}
