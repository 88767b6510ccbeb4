package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// whole makes TestRelease release this module: `make reproduce` does. That depends on every file, and takes a minute.
var whole = flag.Bool("whole", false, "make a release of this module, not of a small one")

// released returns the files of the module that is released, by their paths: all that git knows or would add here; or a small tool and a
// small function, in testdata/small, with the real programs that make a release of them.
func released(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	if *whole {
		out, err := exec.CommandContext(t.Context(), "git", "-C", "../..", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
			files[name] = filepath.Join("../..", name)
		}
		return files
	}
	for _, name := range []string{
		".gitignore", "LICENSE", "README.md", "go.mod", "go.sum", "template.yaml", "cmd/release/bill.go", "cmd/release/main.go", "cmd/release/programs.go",
		"cmd/release/provenance.go", "cmd/lockstep/internal/deploying/embeddedfiles_inside.go", "functions/internal/wiring/pack/main.go",
	} {
		files[name] = filepath.Join("../..", name)
	}
	for _, name := range []string{"cmd/lockstep/main.go", "cmd/lockstep/internal/deploying/deploying.go", "functions/webhook/main.go"} {
		files[name] = filepath.Join("testdata/small", name)
	}
	return files
}

// checkout copies the module that is released to a directory, and commits it there: as the same commit wherever that is.
func checkout(t *testing.T, dir string) {
	t.Helper()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "core.autocrlf=false"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args[0], err, out)
		}
	}
	for name, from := range released(t) {
		data, err := os.ReadFile(from)
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, and not committed
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	git("add", "--all", "--force")
	git("commit", "-q", "-m", "all", "--no-gpg-sign")
}

// made makes a release in a checkout, of this platform and one function, and returns its
// files. What the environment says about builds must not matter.
func made(t *testing.T, dir string, env ...string) map[string][]byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "run", "./cmd/release", "-version", "1.2.3",
		"-platforms", runtime.GOOS+"/"+runtime.GOARCH, "-functions", "webhook", "dist")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "dist"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, "dist", e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestRelease makes a release of a module twice, in two places, and holds that it is the same bytes, and says the truth about itself.
// See [whole].
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs")
	}
	here, there := filepath.Join(t.TempDir(), "lockstep"), filepath.Join(t.TempDir(), "a", "longer", "way")
	checkout(t, here)
	checkout(t, there)
	files := made(t, here)
	again := made(t, there, "GOARM64=v9.0", "TZ=Asia/Tokyo", "LANG=tr_TR.UTF-8")
	for name, data := range files {
		if !bytes.Equal(data, again[name]) {
			t.Errorf("%s is made of other bytes the second time", name)
		}
	}
	if len(files) != 6 || len(again) != 6 {
		t.Fatalf("%d and %d files were made", len(files), len(again))
	}
	sums(t, files)
	dir := t.TempDir()
	unpack(t, dir, files["lockstep_1.2.3_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz"])
	said := version(t, filepath.Join(dir, "lockstep"))
	revision, err := exec.CommandContext(t.Context(), "git", "-C", here, "rev-parse", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	commit := strings.TrimSpace(string(revision))
	if said.LockstepVersion != "1.2.3" || said.BuiltFrom.Revision != commit || said.BuiltFrom.Modified || said.BuiltFrom.Time != "2026-01-02T03:04:05Z" || said.BuiltFrom.Go != runtime.Version() {
		t.Errorf("it says that it is %s of %s (%s), and is made from %s", said.LockstepVersion, said.BuiltFrom.Revision, said.BuiltFrom.Time, commit)
	}
	carries(t, filepath.Join(dir, "lockstep"), files)
	bills(t, files["lockstep_1.2.3.cdx.json"], said.BuiltFrom.Modules)
	provenances(t, files, commit)
}

// carries holds that the tool has the template and the functions of its own release in it. This one
// was made with one function, so that deploy misses another one before it reaches anybody.
func carries(t *testing.T, program string, files map[string][]byte) {
	t.Helper()
	tool, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"template.yaml", "webhook.zip"} {
		if !bytes.Contains(tool, files[name]) {
			t.Errorf("the tool does not carry %s", name)
		}
	}
	if !*whole {
		return // its tool does not deploy
	}
	said, err := exec.CommandContext(t.Context(), program, "deploy", "-plan").CombinedOutput()
	if err == nil || !strings.Contains(string(said), "the template deploys plan.zip") {
		t.Errorf("deploy says %s, %v", said, err)
	}
}

// sums holds that SHA256SUMS has every file's.
func sums(t *testing.T, files map[string][]byte) {
	t.Helper()
	lines := strings.Count(string(files["SHA256SUMS"]), "\n")
	for name, data := range files {
		sum := sha256.Sum256(data)
		if name != "SHA256SUMS" && !strings.Contains(string(files["SHA256SUMS"]), hex.EncodeToString(sum[:])+"  "+name+"\n") {
			t.Errorf("SHA256SUMS does not have %s", name)
		}
	}
	if lines != len(files)-1 {
		t.Errorf("SHA256SUMS has %d lines for %d files", lines, len(files))
	}
}

func unpack(t *testing.T, dir string, data []byte) {
	t.Helper()
	zr, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Uname != "" || h.ModTime.Unix() != 0 {
			t.Errorf("%s says whose it was: %+v", h.Name, h)
		}
		content, err := io.ReadAll(tr)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, h.Name), content, h.FileInfo().Mode())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// says is what of `version -json` is looked at.
type says struct {
	TerraformVersion string `json:"terraform_version"`
	LockstepVersion  string `json:"lockstep_version"`
	BuiltFrom        struct {
		Go, Revision, Time string
		Modified           bool
		Modules            map[string]string
	} `json:"built_from"`
}

func version(t *testing.T, program string) says {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "version", "-json")
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var s says
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// bills holds that the bill of materials has every module that the program names, with its
// checksum.
func bills(t *testing.T, data []byte, modules map[string]string) {
	t.Helper()
	var b bill
	if err := json.Unmarshal(data, &b); err != nil {
		t.Fatal(err)
	}
	listed := map[string]component{}
	for _, c := range b.Components {
		listed[c.Name+"@"+c.Version] = c
		if c.Name != "std" && len(c.Hashes) != 1 {
			t.Errorf("%s has no checksum", c.Ref)
		}
	}
	for name, sum := range modules {
		if c, ok := listed[name]; !ok || len(c.Hashes) != 1 || c.Hashes[0] != hashes(sum)[0] {
			t.Errorf("%s is listed as %+v, and has %s", name, c, sum)
		}
	}
	least := 1
	if *whole {
		least = 50
	}
	if len(modules) < least || len(b.Depends[0].On) != len(b.Components) {
		t.Errorf("%d modules, %d components, of which %d are needed", len(modules), len(b.Components), len(b.Depends[0].On))
	}
}

// provenances holds that the provenance names every other file by its checksum, and the
// commit.
func provenances(t *testing.T, files map[string][]byte, commit string) {
	t.Helper()
	var s struct {
		Type      string `json:"_type"`
		Predicate struct {
			BuildDefinition struct {
				ResolvedDependencies []struct {
					URI    string
					Digest map[string]string
				}
			}
			RunDetails struct{ Builder struct{ ID string } }
		}
		Subject []struct {
			Name   string
			Digest map[string]string
		}
	}
	if err := json.Unmarshal(files["lockstep_1.2.3.provenance.json"], &s); err != nil {
		t.Fatal(err)
	}
	for _, subject := range s.Subject {
		sum := sha256.Sum256(files[subject.Name])
		if subject.Digest["sha256"] != hex.EncodeToString(sum[:]) {
			t.Errorf("%s has another checksum", subject.Name)
		}
	}
	deps := s.Predicate.BuildDefinition.ResolvedDependencies
	if len(s.Subject) != len(files)-2 || len(deps) == 0 || deps[0].Digest["gitCommit"] != commit || s.Predicate.RunDetails.Builder.ID == "" {
		t.Errorf("it names %d of %d files, and %+v", len(s.Subject), len(files), deps[:1])
	}
}

// TestProvenanceOnGitHub holds that a run of a workflow is named.
func TestProvenanceOnGitHub(t *testing.T) {
	env := map[string]string{
		"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "acme/lockstep", "GITHUB_RUN_ID": "7", "GITHUB_RUN_ATTEMPT": "2",
		"GITHUB_WORKFLOW_REF": "acme/lockstep/.github/workflows/release.yml@refs/tags/v1",
	}
	p := provenanceOf(statement{version: "1", source: source{revision: "abc"}, made: []program{{info: &debug.BuildInfo{GoVersion: runtime.Version()}}}}, func(k string) string { return env[k] })
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"id":"https://github.com/acme/lockstep/.github/workflows/release.yml@refs/tags/v1"`,
		`"invocationId":"https://github.com/acme/lockstep/actions/runs/7/attempts/2"`,
		`"uri":"git+https://github.com/acme/lockstep@abc"`,
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("it lacks %s:\n%s", want, data)
		}
	}
}

// TestArchive holds that an archive does not say when and by whom it was made.
func TestArchive(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "program")
	if err := os.WriteFile(file, []byte("program"), 0o700); err != nil {
		t.Fatal(err)
	}
	packed, err := archive([]string{file, "main.go"})
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	unpack(t, out, packed)
	if data, err := os.ReadFile(filepath.Join(out, "program")); err != nil || string(data) != "program" {
		t.Errorf("it holds %q, %v", data, err)
	}
	if info, err := os.Stat(filepath.Join(out, "program")); err != nil || info.Mode() != 0o755 {
		t.Errorf("the program cannot be started: %v, %v", info, err)
	}
}

// TestBill holds that a module stands in the bill of materials with its checksum, and one
// in another's place under its own name.
func TestBill(t *testing.T) {
	sum := "h1:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32))
	b := billOf("1.2.3", []program{{info: &debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{
		{Path: "example.com/a", Version: "v1.0.0+incompatible", Sum: sum},
		{Path: "example.com/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/c", Version: "v2.0.0", Sum: sum}},
	}}}})
	var got []string
	for _, c := range b.Components {
		line := c.PURL
		for _, h := range c.Hashes {
			line += " " + h.Algorithm + " " + h.Content
		}
		got = append(got, line)
	}
	hash := " SHA-256 " + strings.Repeat("01", 32)
	want := []string{"pkg:golang/example.com/a@v1.0.0%2Bincompatible" + hash, "pkg:golang/example.com/c@v2.0.0" + hash, "pkg:golang/std@1.26.8"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if b.Metadata.Component.PURL != "pkg:golang/"+module+"@v1.2.3" {
		t.Errorf("it is of %s", b.Metadata.Component.PURL)
	}
}
