package program

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
)

// loginHost starts a host that offers services, and a directory whose commands trust it.
func loginHost(t *testing.T, services string) (*httptest.Server, *labDir) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/terraform.json", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, services) })
	mux.HandleFunc("GET /authz", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {"c0de"}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"access_token": "t0ken", "token_type": "bearer"}`)
	})
	mux.HandleFunc("GET /api/v2/account/details", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer swordfish" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		io.WriteString(w, `{"data": {"attributes": {"username": "alice"}}}`)
	})
	s := httptest.NewTLSServer(mux)
	t.Cleanup(s.Close)
	d := environmentDir(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	d.set("SSL_CERT_FILE="+d.file("ca.pem"), "PATH=/nowhere") // no browser is to start
	return s, d
}

const credentialsFile = ".terraform.d/credentials.tfrc.json"

// login with a token of the host's page, which a person types.
func TestLoginTyped(t *testing.T) {
	t.Parallel()
	s, d := loginHost(t, `{"tfe.v2": "/api/v2/"}`)
	host := s.Listener.Addr().String()
	type login struct {
		typed string
		code  int
		says  []string
	}
	for _, l := range []login{
		{"no\n", 1, []string{"Login cancelled"}},
		{"", 1, []string{"Login cancelled"}}, // there is no terminal
		{"yes\nother\n", 1, []string{"Token is invalid"}},
		{"yes\n swordfish \n", 0, []string{"will request an API token for " + host + " using your browser", "/app/settings/tokens?source=terraform-login", d.file(credentialsFile), "Retrieved token for user alice", "Logged in to " + host}},
	} {
		r := d.runWith(strings.NewReader(l.typed), "login", host)
		check(t, r, l.code, "login", l.says...)
		if d.has(credentialsFile) != (l.code == 0) {
			t.Errorf("%q: the credentials file", l.typed)
		}
	}
	if !strings.Contains(d.read(credentialsFile), `"token": "swordfish"`) {
		t.Error(d.read(credentialsFile))
	}
	d.want(1, "login -input=false "+host, "Login is an interactive command")
	d.want(1, "login a b", "Too many command line arguments")
	d.want(1, "login not_a_host", "Invalid hostname")
	d.want(0, "logout "+host, "Removing the stored credentials for "+host+" from the following file", "Success!")
	d.want(0, "logout "+host, "No credentials for "+host+" are stored")
	d.Write("cli.tfrc", "credentials \""+host+"\" {\n  token = \"x\"\n}\n")
	d.set("TF_CLI_CONFIG_FILE=" + d.file("cli.tfrc"))
	d.want(1, "login "+host, "Credentials for "+host+" are manually configured")
	d.want(1, "logout "+host, "Credentials for "+host+" are manually configured")
}

// A program answers through a pipe, as fast as it likes: the answers may come in one piece, or one after
// the other.
func TestLoginPiped(t *testing.T) {
	t.Parallel()
	s, d := loginHost(t, `{"tfe.v2": "/api/v2/"}`)
	host := s.Listener.Addr().String()
	for _, pieces := range [][]string{{"yes\nswordfish\n"}, {"yes\n", "swordfish\n"}, {"yes\nsword", "fish\n"}} {
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			defer out.Close()
			for _, text := range pieces {
				io.WriteString(out, text)
			}
		}()
		r := d.runWith(in, "login", host)
		in.Close()
		check(t, r, 0, "login", "Retrieved token for user alice", "Logged in to "+host)
		d.want(0, "logout "+host, "Success!")
	}
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	io.WriteString(out, "yes\nswordfish") // the program died while it wrote
	out.Close()
	check(t, d.runWith(in, "login", host), 1, "login", "Failed to retrieve token")
}

// login with a page on which a person agrees; the browser is a program on PATH.
func TestLoginAuthorized(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("other systems have other browsers")
	}
	s, d := loginHost(t, `{"login.v1": {"client": "cli", "authz": "/authz", "token": "/token"}}`)
	host := s.Listener.Addr().String()
	d.Write("bin/xdg-open", "#!/bin/sh\necho \"$1\" > "+d.file("opened")+"\n")
	if err := os.Chmod(d.file("bin/xdg-open"), 0o755); err != nil {
		t.Fatal(err)
	}
	d.set("PATH=" + filepath.Join(d.Path, "bin"))
	done := make(chan programtest.Result, 1)
	go func() { done <- d.runWith(strings.NewReader("yes\n"), "login", host) }()
	programtest.WaitFor(t, "the browser opens", func() bool { return d.has("opened") && strings.HasSuffix(d.read("opened"), "\n") })
	resp, err := s.Client().Get(strings.TrimSpace(d.read("opened")))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	resp.Body.Close()
	check(t, <-done, 0, "login", "using OAuth", "must now open a web browser to the login page", "has obtained and saved an API token")
	if !strings.Contains(d.read(credentialsFile), `"token": "t0ken"`) {
		t.Error(d.read(credentialsFile))
	}
}
