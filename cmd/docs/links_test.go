package docs

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/page"
)

var (
	linked = regexp.MustCompile(`\]\(([^)\s]*)\)`)
	// address is the documentation's on GitHub, to which comments, checks and alarms link.
	address = regexp.MustCompile(`https://github\.com/lockstep-iac/lockstep/blob/main/cmd/docs/([a-z0-9/-]+\.md(?:#[^\s)"'>\x60]+)?)`)
)

// wrongLink returns what is wrong with a link to a page or a section from a page in a folder, or "".
func (all Pages) wrongLink(from Page, link string) string {
	if strings.HasPrefix(link, "https://") {
		return ""
	}
	target, anchor, part := strings.Cut(link, "#")
	topic := from.Topic
	if target != "" {
		topic = strings.TrimSuffix(path.Join(path.Dir(from.Topic), target), ".md")
	}
	for _, p := range all {
		if p.Topic != topic || target != "" && !strings.HasSuffix(target, ".md") {
			continue
		}
		if _, err := all.Find(p.Topic + "#" + anchor); part && err != nil {
			return err.Error()
		}
		return ""
	}
	return fmt.Sprintf("there is no page %s", topic)
}

// TestLinks holds that every link leads to a page that there is, and to a section that it has. Others than those to pages begin with
// https.
func TestLinks(t *testing.T) {
	t.Parallel()
	all := Read()
	for _, p := range all {
		n := 0
		for line := range strings.Lines(withoutCode(p.Text)) {
			n++
			for _, m := range linked.FindAllStringSubmatch(line, -1) {
				if wrong := all.wrongLink(p, m[1]); wrong != "" {
					t.Errorf("cmd/docs/%s.md:%d: the link %s: %s", p.Topic, n, m[1], wrong)
				}
			}
		}
	}
	for link, want := range map[string]string{
		"order.md": "", "../operate/limits.md": "", "#two-waves": "", "order.md#waves-of-applies-1": "", "https://example.com": "", "../reference/limits.md#size": "",
		"limits.md": "there is no page guide/limits", "#three": "no section \"three\"", "../reference/limits.md#siz": "no section", "../../../README.md": "there is no page", "order": "there is no page",
		"http://example.com": "there is no page",
	} {
		if got := sample.wrongLink(sample[0], link); want == "" != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", link, got, want)
		}
	}
}

// TestDocumentLinks holds that the links of README.md and of other documents in the repository lead to files, and to sections that they
// have.
func TestDocumentLinks(t *testing.T) {
	t.Parallel()
	root := os.DirFS("../..")
	found := 0
	for _, pattern := range []string{"README.md", ".github/*.md", "*/README.md", "cmd/ARCHITECTURE.md"} {
		names, _ := fs.Glob(root, pattern)
		for _, name := range names {
			n := 0
			for line := range strings.Lines(withoutCode(read(t, name))) {
				n++
				for _, m := range linked.FindAllStringSubmatch(line, -1) {
					if strings.HasPrefix(m[1], "https://") {
						continue
					}
					found++
					target, anchor, part := strings.Cut(m[1], "#")
					file := name
					if target != "" {
						file = path.Join(path.Dir(name), target)
					}
					data, err := fs.ReadFile(root, file)
					if info, dir := fs.Stat(root, file); dir == nil && info.IsDir() && !part {
						continue
					}
					if err == nil && part {
						_, err = Pages{parse("document", string(data))}.Find("document#" + anchor)
					}
					if err != nil {
						t.Errorf("%s:%d: the link %s: %v", name, n, m[1], err)
					}
				}
			}
		}
	}
	if found == 0 {
		t.Error("no link was found")
	}
}

// TestAddresses holds the same of the addresses of the documentation in all that Lockstep writes: golden files, the code and the template.
func TestAddresses(t *testing.T) {
	t.Parallel()
	all := Read()
	for _, root := range []string{"cmd", "functions", ".github", "infra", "README.md", "template.yaml"} {
		err := filepath.WalkDir(filepath.Join("../..", root), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.Contains(".md .txt .go .yaml .yml .json .html .tf", path.Ext(name)) {
				return err
			}
			data, err := os.ReadFile(name)
			for _, m := range address.FindAllStringSubmatch(string(data), -1) {
				if wrong := all.wrongLink(Page{Topic: "."}, m[1]); wrong != "" {
					t.Errorf("%s: the address %s: %s", name, m[0], wrong)
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestShown holds that the page shows each page of the documentation, with the anchors of its sections.
func TestShown(t *testing.T) {
	t.Parallel()
	server := page.Handler{Manual: Read()}.Server()
	get := func(path string) string {
		w := httptest.NewRecorder()
		server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
		return w.Body.String()
	}
	list := get("/docs")
	for _, p := range Read() {
		if !strings.Contains(list, `href="/docs/`+p.Topic+`"`) {
			t.Errorf("the list has no %s", p.Topic)
		}
		body := get("/docs/" + p.Topic)
		for _, s := range p.Sections {
			if !strings.Contains(body, ` id="`+s.Anchor+`"`) {
				t.Errorf("%s has no anchor %s in the browser", p.Topic, s.Anchor)
			}
		}
	}
}
