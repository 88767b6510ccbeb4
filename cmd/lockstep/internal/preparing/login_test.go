package preparing

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/hosts"
)

// A fakeLogin is a host with the services that the test gives it.
type fakeLogin struct {
	*httptest.Server
	t         *testing.T
	services  string
	challenge string
	refuse    bool // the exchange
}

func newFakeLogin(t *testing.T, services string) *fakeLogin {
	f := &fakeLogin{t: t, services: services}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/terraform.json", func(w http.ResponseWriter, r *http.Request) {
		if f.services == "" {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, f.services)
	})
	mux.HandleFunc("GET /authz", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		f.challenge = q.Get("code_challenge")
		if q.Get("client_id") != "cli" || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("scope") != "a b" {
			t.Errorf("asked to authorize %v", q)
		}
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {"c0de"}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		proven := base64.RawURLEncoding.EncodeToString(sum[:]) == f.challenge
		w.Header().Set("Content-Type", "application/json")
		if f.refuse || !proven || r.FormValue("code") != "c0de" || r.FormValue("client_id") != "cli" || r.FormValue("grant_type") != "authorization_code" {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"error": "invalid_grant"}`)
			return
		}
		io.WriteString(w, `{"access_token": "t0ken", "token_type": "bearer"}`)
	})
	mux.HandleFunc("GET /api/v2/account/details", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer typed" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		io.WriteString(w, `{"data": {"attributes": {"username": "alice"}}}`)
	})
	f.Server = httptest.NewTLSServer(mux)
	t.Cleanup(f.Close)
	return f
}

func (f *fakeLogin) find() (*loginOffer, error) {
	return findLogin(f.t.Context(), &hosts.Client{Transport: f.Client().Transport}, f.Listener.Addr().String(), func(string) (map[string]any, bool) { return nil, false })
}

const oauth = `{"login.v1": {"client": "cli", "authz": "/authz", "token": "/token", "ports": [20000, 20100], "scopes": ["a", "b"]}, "tfe.v2": "/api/v2/"}`

func TestAuthorize(t *testing.T) {
	f := newFakeLogin(t, oauth)
	offer, err := f.find()
	if err != nil {
		t.Fatal(err)
	}
	visit := func(shown string) {
		u, err := url.Parse(shown)
		if err != nil {
			t.Fatal(err)
		}
		back, err := url.Parse(u.Query().Get("redirect_uri"))
		if err != nil || back.Hostname() != "localhost" || back.Path != "/login" || back.Port() < "20000" || back.Port() > "20100" {
			t.Errorf("the answer goes to %s, %v", back, err)
		}
		// Others reach the listener, too.
		for _, query := range []string{"", "?code=evil", "?code=evil&state=guess"} {
			resp, err := http.Get("http://127.0.0.1:" + back.Port() + "/login" + query)
			if err != nil || resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%s: %v, %v", query, resp, err)
			}
		}
		resp, err := f.Client().Get(shown)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		if body, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK || !strings.Contains(string(body), "return to the terminal") {
			t.Errorf("the page is %s", body)
		}
	}
	token, err := offer.Client.authorize(t.Context(), visit)
	if err != nil || token.Reveal() != "t0ken" {
		t.Errorf("got %q, %v", token.Reveal(), err)
	}
	f.refuse = true
	if _, err := offer.Client.authorize(t.Context(), visit); err == nil || !strings.Contains(err.Error(), "400 Bad Request invalid_grant") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	if _, err := offer.Client.authorize(ctx, func(string) { cancel(interrupted) }); !errors.Is(err, interrupted) {
		t.Error(err)
	}
}

func TestTypedTokens(t *testing.T) {
	f := newFakeLogin(t, `{"tfe.v2": "/api/v2"}`)
	offer, err := f.find()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := offer.API.Page(), f.URL+"/app/settings/tokens?source=terraform-login"; got != want {
		t.Errorf("got %s", got)
	}
	if user, err := offer.API.User(t.Context(), hosts.NewToken("typed")); user != "alice" || err != nil {
		t.Errorf("got %s, %v", user, err)
	}
	if _, err := offer.API.User(t.Context(), hosts.NewToken("other")); !errors.Is(err, errInvalidToken) {
		t.Error(err)
	}
}

func TestOffers(t *testing.T) {
	for services, want := range map[string]string{
		``:                              "neither the service",
		`{"providers.v1": "/v1/"}`:      "neither the service",
		`[]`:                            "not the expected JSON",
		`{"login.v1": "/login"}`:        "not the object",
		`{"login.v1": {"client": "x"}}`: "are required",
		loginService(`"grant_types": ["password"]`):    "grant types",
		loginService(`"ports": [80, 90]`):              "ports",
		loginService(`"ports": [2000]`):                "ports",
		loginService(`"ports": [3000, 2000]`):          "ports",
		loginService(`"token": "http://example.com/"`): "only https",
		loginService(`"grant_types": ["authz_code"]`):  "",
	} {
		_, err := newFakeLogin(t, services).find()
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %v, want %q", services, err, want)
		}
	}
	// The CLI configuration goes before the host, and its URLs may be the host's.
	given := map[string]any{}
	if err := json.Unmarshal([]byte(oauth), &given); err != nil {
		t.Fatal(err)
	}
	offer, err := findLogin(t.Context(), &hosts.Client{}, "example.com", func(string) (map[string]any, bool) { return given, true })
	if err != nil || offer.Client.Authz.String() != "https://example.com/authz" || offer.Client.MaxPort != 20100 {
		t.Errorf("got %v, %v", offer, err)
	}
}

// loginService is a description of the service login.v1 with another member.
func loginService(member string) string {
	return `{"login.v1": {"client": "cli", "authz": "/authz", "token": "/token", ` + member + `}}`
}
