package cliconfig

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/hosts"
)

// A credentialsHome is a home directory.
type credentialsHome struct {
	t    *testing.T
	path string
}

func newCredentialsHome(t *testing.T, files ...string) *credentialsHome {
	h := &credentialsHome{t, t.TempDir()}
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(h.path, files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// open reads the CLI configuration anew, as the next command does.
func (h *credentialsHome) open(environ ...string) *CredentialStore {
	h.t.Helper()
	config, ds := Load(Surroundings{Environ: environ, Home: h.path})
	if len(ds) > 0 {
		h.t.Fatal(ds)
	}
	return OpenCredentials(config)
}

func (h *credentialsHome) read(name string) string {
	data, _ := os.ReadFile(filepath.Join(h.path, name))
	return string(data)
}

func tokenOf(s *CredentialStore, host string) string {
	found, _ := s.Token(host)
	return found.Reveal()
}

const credentialsName = ".terraform.d/credentials.tfrc.json"

// Other hosts and unknown members of the file stay as they are.
func TestFile(t *testing.T) {
	h := newCredentialsHome(t)
	if err := h.open().Put("a.example.com", hosts.NewToken("<one>")); err != nil {
		t.Fatal(err)
	}
	if got, want := h.read(credentialsName), "{\n  \"credentials\": {\n    \"a.example.com\": {\n      \"token\": \"<one>\"\n    }\n  }\n}\n"; got != want {
		t.Errorf("got %s", got)
	}
	info, err := os.Stat(filepath.Join(h.path, credentialsName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	h = newCredentialsHome(t, credentialsName, `{"other": [12345678901234567890], "credentials": {"B.example.com": {"token": "b", "more": 1}, "c.example.com": {"n": 1}, "A.Example.com:443": {"token": "old"}}}`)
	if err := h.open().Put("a.example.com", hosts.NewToken("new")); err != nil {
		t.Fatal(err)
	}
	sameText(t, h.read(credentialsName), `{"other": [12345678901234567890], "credentials": {"B.example.com": {"token": "b", "more": 1}, "c.example.com": {"n": 1}, "a.example.com": {"token": "new"}}}`)
	if got := tokenOf(h.open(), "a.example.com"); got != "new" {
		t.Errorf("got %q", got)
	}
	if err := h.open().Forget("b.example.com"); err != nil {
		t.Fatal(err)
	}
	sameText(t, h.read(credentialsName), `{"other": [12345678901234567890], "credentials": {"c.example.com": {"n": 1}, "a.example.com": {"token": "new"}}}`)
}

func sameText(t *testing.T, got, want string) {
	t.Helper()
	var a, b any
	if err := errors.Join(json.Unmarshal([]byte(got), &a), json.Unmarshal([]byte(want), &b)); err != nil || !reflect.DeepEqual(a, b) || !strings.Contains(got, "12345678901234567890") {
		t.Errorf("got %s, want %s, %v", got, want, err)
	}
}

// What is no file of credentials is left alone.
func TestBrokenFiles(t *testing.T) {
	for _, content := range []string{`{"credentials": 1}`, `{"credentials": {`, `[]`} {
		config := &Config{CredentialsFile: filepath.Join(newCredentialsHome(t, credentialsName, content).path, credentialsName)}
		if err := OpenCredentials(config).Put("a.example.com", hosts.NewToken("x")); err == nil {
			t.Errorf("%s: no error", content)
		}
		if data, _ := os.ReadFile(config.CredentialsFile); string(data) != content {
			t.Errorf("%s became %s", content, data)
		}
	}
}

// A helper has the tokens of all hosts but those that a file gives.
func TestHelper(t *testing.T) {
	const program = `#!/bin/sh
echo "$@" >> "${0%/*}/calls"
[ "$1 $2" = "-x y" ] || exit 1
kept="${0%/*}/$4"
case $3 in
get) if [ -e "$kept" ]; then cat "$kept"; else echo '{}'; fi ;;
store) cat > "$kept" ;;
forget) rm "$kept" ;;
esac
`
	h := newCredentialsHome(t,
		".terraform.d/plugins/terraform-credentials-lab", program,
		".terraformrc", "credentials_helper \"lab\" {\n  args = [\"-x\", \"y\"]\n}\ncredentials \"own.example.com\" {\n  token = \"own\"\n}\n",
		credentialsName, `{"credentials": {"file.example.com": {"token": "file"}}}`)
	s := h.open()
	for host, want := range map[string]TokenPlace{"a.example.com": TokenWithHelper, "file.example.com": TokenInFile, "own.example.com": TokenElsewhere} {
		if got := s.Place(host); got != want {
			t.Errorf("%s: %d", host, got)
		}
	}
	if err := s.Put("a.example.com", hosts.NewToken("new")); err != nil {
		t.Fatal(err)
	}
	s = h.open()
	if got := tokenOf(s, "a.example.com") + tokenOf(s, "a.example.com") + tokenOf(s, "b.example.com") + tokenOf(s, "own.example.com"); got != "newnewown" {
		t.Errorf("got %q", got)
	}
	if err := s.Forget("a.example.com"); err != nil {
		t.Fatal(err)
	}
	if err := s.Forget("own.example.com"); !errors.Is(err, errOtherFile) {
		t.Error(err)
	}
	if got, want := h.read(".terraform.d/plugins/calls"), "-x y store a.example.com\n-x y get a.example.com\n-x y get b.example.com\n-x y forget a.example.com\n"; got != want {
		t.Errorf("got %s", got)
	}
	if got := h.open("TF_TOKEN_a_example_com=env").Place("a.example.com"); got != TokenWithHelper {
		t.Errorf("with a variable: %d", got)
	}
}
