package serving

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestFurther is a table of lists of Apps, and of what is wrong with them.
func TestFurther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := githubtest.New(githubtest.Options{}).AppKey()
	const one = `{"name": "ghes", "app_id": 1, "app_key": "a.pem", "webhook_secret": "a.secret", "github_url": "https://ghes.example.com/api/v3/", "serves": "acme"}`
	for text, want := range map[string]string{
		"[" + one + "]": "",
		"[" + one + ", " + strings.Replace(one, "ghes", "second", 1) + "]": "",
		"[]":                         "",
		one:                          "-apps: apps.json: json: cannot unmarshal object",
		"[" + one + ", " + one + "]": `entry 2 of apps.json, the file of -apps: another App has the name "ghes"`,
		"[" + strings.Replace(one, `"ghes"`, `"../x"`, 1) + "]":           `entry 1 of apps.json, the file of -apps: "../x" is not the name of an App`,
		"[" + strings.Replace(one, `"app_id": 1`, `"app_id": 0`, 1) + "]": "the GitHub App has no ID",
		"[" + strings.Replace(one, "https:", "http:", 1) + "]":            "is not an https URL",
		"[" + strings.Replace(one, "a.pem", "a.secret", 1) + "]":          "private key is not an RSA key",
		"[" + strings.Replace(one, "a.secret", "b.secret", 1) + "]":       "b.secret",
		"[" + strings.Replace(one, `"acme"`, `"*"`, 1) + "]":              "an owner has to be named in full",
		"[" + strings.Replace(one, `"serves"`, `"server"`, 1) + "]":       `unknown field "server"`,
	} {
		for name, text := range map[string]string{"a.pem": key, "a.secret": "hush-hush-hush", "apps.json": text} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := &serveSettings{}
		o := &serveOptions{apps: "apps.json"}
		err := o.further(&cli.App{Chdir: dir}, s)
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v\nwant %s", text, err, want)
		case err != nil && strings.Contains(err.Error(), "hush"):
			t.Errorf("%s: a secret is told: %v", text, err)
		case want == "" && len(s.further) != strings.Count(text, "app_id"), want == "" && len(s.secrets) != 2*len(s.further):
			t.Errorf("%s: %d Apps, %d secrets", text, len(s.further), len(s.secrets))
		}
	}
}
