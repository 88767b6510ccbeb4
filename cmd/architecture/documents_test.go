package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest/apps"
)

// documents are the Markdown files whose paths and tests are checked.
var documents = []string{"README.md", "cmd/ARCHITECTURE.md", ".github/CONTRIBUTING.md", "engine/README.md", "statebackend/README.md", "github/README.md", "infra/README.md", ".github/SECURITY.md", ".github/SUPPORT.md", ".github/CHANGELOG.md", "functions/pipeline/doc.go"}

var (
	quoted   = regexp.MustCompile("`([^`\n]+)`")
	link     = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	testName = regexp.MustCompile(`\bTest[A-Z]\w*`)
	// A path begins with a folder or a file in the root that there can be.
	pathName = regexp.MustCompile(`^(cmd|engine|functions|github|infra|statebackend|\.ci|\.github)(/[\w.*-]+)+/?$|^\w+\.(md|yaml)$`)
)

// TestDocuments holds that every path and every test that the documents name is there.
func TestDocuments(t *testing.T) {
	tests := testsOfAll(t)
	found := 0
	for _, document := range documents {
		data, err := os.ReadFile(filepath.Join("../..", document))
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			if !pathName.MatchString(m[1]) || m[1] == "atlantis.yaml" { // a file of the repositories that are served
				continue
			}
			found++
			if there, err := filepath.Glob(filepath.Join("../..", m[1])); err != nil || len(there) == 0 {
				t.Errorf("%s names %s, which is not there", document, m[1])
			}
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			found++
			if _, err := os.Stat(filepath.Join("../..", filepath.Dir(document), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", document, m[1], err)
			}
		}
		for _, name := range testName.FindAllString(text, -1) {
			found++
			if !tests[name] {
				t.Errorf("%s names %s, and there is no such test", document, name)
			}
		}
	}
	if found < 80 {
		t.Errorf("only %d names were checked", found)
	}
}

// TestDocumentedPermissions holds that people who register the App read of all permissions that the fake GitHub enforces.
func TestDocumentedPermissions(t *testing.T) {
	for file, paragraph := range map[string]*regexp.Regexp{
		"cmd/docs/start/deploy-options.md": regexp.MustCompile(`(?s)The App needs to read .*?events of`),
		"cmd/lockstep/testdata/help.txt":   regexp.MustCompile(`(?s)The App needs: .*?events`),
	} {
		data, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(paragraph.FindString(string(data))), " ")
		reads, writes, _ := strings.Cut(strings.Replace(text, "read;", "write", 1), "write")
		for name, level := range apps.New(1, "lockstep").Permissions() {
			words := strings.ReplaceAll(strings.Replace(name, "statuses", "commit statuses", 1), "_", " ")
			if in := map[any]string{"read": reads, "write": writes}[level]; !strings.Contains(in, words) {
				t.Errorf("%s: the App needs %s: %s, and only these are named: %s", file, words, level, in)
			}
		}
	}
}

// testsOfAll returns the names of all tests.
func testsOfAll(t *testing.T) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	all := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != "..":
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		data, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(data), -1) {
			all[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
