package credentials

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/provider/install/cliconfig"
	"github.com/lockstep-iac/lockstep/engine/secret"
)

// A home is a home directory.
type home struct {
	t    *testing.T
	path string
}

func newHome(t *testing.T, files ...string) *home {
	h := &home{t, t.TempDir()}
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
func (h *home) open(environ ...string) *Store {
	h.t.Helper()
	config, ds := cliconfig.Load(cliconfig.Surroundings{Environ: environ, Home: h.path})
	if len(ds) > 0 {
		h.t.Fatal(ds)
	}
	return Open(config)
}

func (h *home) read(name string) string {
	data, _ := os.ReadFile(filepath.Join(h.path, name))
	return string(data)
}

func token(s *Store, host string) string {
	found, _ := s.Token(host)
	return found.Reveal()
}

const file = ".terraform.d/credentials.tfrc.json"

// Other hosts and unknown members of the file stay as they are.
func TestFile(t *testing.T) {
	h := newHome(t)
	if err := h.open().Put("a.example.com", secret.NewToken("<one>")); err != nil {
		t.Fatal(err)
	}
	if got, want := h.read(file), "{\n  \"credentials\": {\n    \"a.example.com\": {\n      \"token\": \"<one>\"\n    }\n  }\n}\n"; got != want {
		t.Errorf("got %s", got)
	}
	info, err := os.Stat(filepath.Join(h.path, file))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	h = newHome(t, file, `{"other": [12345678901234567890], "credentials": {"B.example.com": {"token": "b", "more": 1}, "c.example.com": {"n": 1}, "A.Example.com:443": {"token": "old"}}}`)
	if err := h.open().Put("a.example.com", secret.NewToken("new")); err != nil {
		t.Fatal(err)
	}
	same(t, h.read(file), `{"other": [12345678901234567890], "credentials": {"B.example.com": {"token": "b", "more": 1}, "c.example.com": {"n": 1}, "a.example.com": {"token": "new"}}}`)
	if got := token(h.open(), "a.example.com"); got != "new" {
		t.Errorf("got %q", got)
	}
	if err := h.open().Forget("b.example.com"); err != nil {
		t.Fatal(err)
	}
	same(t, h.read(file), `{"other": [12345678901234567890], "credentials": {"c.example.com": {"n": 1}, "a.example.com": {"token": "new"}}}`)
}

func same(t *testing.T, got, want string) {
	t.Helper()
	var a, b any
	if err := errors.Join(json.Unmarshal([]byte(got), &a), json.Unmarshal([]byte(want), &b)); err != nil || !reflect.DeepEqual(a, b) || !strings.Contains(got, "12345678901234567890") {
		t.Errorf("got %s, want %s, %v", got, want, err)
	}
}

// What is no file of credentials is left alone.
func TestBrokenFiles(t *testing.T) {
	for _, content := range []string{`{"credentials": 1}`, `{"credentials": {`, `[]`} {
		config := &cliconfig.Config{CredentialsFile: filepath.Join(newHome(t, file, content).path, file)}
		if err := Open(config).Put("a.example.com", secret.NewToken("x")); err == nil {
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
	h := newHome(t,
		".terraform.d/plugins/terraform-credentials-lab", program,
		".terraformrc", "credentials_helper \"lab\" {\n  args = [\"-x\", \"y\"]\n}\ncredentials \"own.example.com\" {\n  token = \"own\"\n}\n",
		file, `{"credentials": {"file.example.com": {"token": "file"}}}`)
	s := h.open()
	for host, want := range map[string]Place{"a.example.com": WithHelper, "file.example.com": InFile, "own.example.com": Elsewhere} {
		if got := s.Place(host); got != want {
			t.Errorf("%s: %d", host, got)
		}
	}
	if err := s.Put("a.example.com", secret.NewToken("new")); err != nil {
		t.Fatal(err)
	}
	s = h.open()
	if got := token(s, "a.example.com") + token(s, "a.example.com") + token(s, "b.example.com") + token(s, "own.example.com"); got != "newnewown" {
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
	if got := h.open("TF_TOKEN_a_example_com=env").Place("a.example.com"); got != WithHelper {
		t.Errorf("with a variable: %d", got)
	}
}
