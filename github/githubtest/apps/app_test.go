package apps

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// sign proves to be an App with a key, in a time around now.
func sign(t *testing.T, issuer string, from, to time.Duration, key any, method jwt.SigningMethod) string {
	t.Helper()
	now := time.Now()
	s, err := jwt.NewWithClaims(method, jwt.RegisteredClaims{
		Issuer: issuer, IssuedAt: jwt.NewNumericDate(now.Add(from)), ExpiresAt: jwt.NewNumericDate(now.Add(to)),
	}).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return "Bearer " + s
}

// TestIdentity holds that the proof of an App is examined as strictly as by GitHub.
func TestIdentity(t *testing.T) {
	a := New(4711, "lockstep")
	rs := jwt.SigningMethodRS256
	for name, test := range map[string]struct {
		auth string
		want int
	}{
		"good":           {sign(t, "4711", -time.Minute, 9*time.Minute, a.key, rs), 200},
		"none":           {"", 401},
		"another App":    {sign(t, "4712", -time.Minute, 9*time.Minute, a.key, rs), 401},
		"for too long":   {sign(t, "4711", -time.Minute, 11*time.Minute, a.key, rs), 401},
		"over":           {sign(t, "4711", -time.Hour, -time.Minute, a.key, rs), 401},
		"of the future":  {sign(t, "4711", time.Minute, 9*time.Minute, a.key, rs), 401},
		"another method": {sign(t, "4711", -time.Minute, 9*time.Minute, []byte("x"), jwt.SigningMethodHS256), 401},
	} {
		r := httptest.NewRequest("GET", "/app", nil)
		r.Header.Set("Authorization", test.auth)
		if got, _ := a.byApp(func(*http.Request) (int, any) { return 200, nil })(r); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

// TestTokens asks for tokens of an installation with the repositories 1, "one", and 2, "two". One that asks for no repository opens
// those that the installation has when it is used.
func TestTokens(t *testing.T) {
	const all = "[] [contents:read] [checks:read] [checks:write] [members:read or issues:write]"
	for request, want := range map[string]string{
		`{}`:                       "201, opens 0 1 2 3, allows " + all,
		`{`:                        "422",
		`{"repository_ids":[2]}`:   "201, opens 2, allows " + all,
		`{"repositories":["One"]}`: "201, opens 1, allows " + all,
		`{"repository_ids":[1],"repositories":["two"]}`: "201, opens 1 2, allows " + all,
		`{"repository_ids":[3]}`:                        "422",
		`{"repositories":["one","three"]}`:              "422",
		`{"permissions":{"metadata":"read"}}`:           "201, opens 0 1 2 3, allows []",
		`{"permissions":{"contents":"read"}}`:           "201, opens 0 1 2 3, allows [] [contents:read]",
		`{"permissions":{"checks":"read"}}`:             "201, opens 0 1 2 3, allows [] [checks:read]",
		`{"permissions":{"members":"read"}}`:            "201, opens 0 1 2 3, allows [] [members:read or issues:write]",
		`{"permissions":{"contents":"write"}}`:          "422",
		`{"permissions":{"secrets":"read"}}`:            "422",
	} {
		a := New(4711, "lockstep")
		r := httptest.NewRequest("POST", "/", strings.NewReader(request))
		r.SetPathValue("installation", "7")
		status, body := a.Create(r, []Grant{{ID: 1, Name: "one"}, {ID: 2, Name: "two"}})
		got := fmt.Sprint(status)
		if status == 201 {
			r.Header.Set("Authorization", "token "+body.(rest.Object)["token"].(string))
			got += powers(t, a, r)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", request, got, want)
		}
	}
}

// powers describes the token of a request.
func powers(t *testing.T, a *App, r *http.Request) string {
	t.Helper()
	token, p := a.Token(r)
	if p != nil {
		t.Fatal(p.Message)
	}
	out := ", opens"
	for id := range int64(4) {
		if token.Opens(7, id) {
			out += fmt.Sprint(" ", id)
		}
		if token.Opens(8, id) {
			t.Error("a token opens a repository of another installation")
		}
	}
	out += ", allows"
	for _, need := range []Need{"", "contents:read", "contents:write", "checks:read", "checks:write", "members:read or issues:write", "members:write or secrets:read", "checks:all"} {
		if token.Allows(need) {
			out += fmt.Sprintf(" [%s]", need)
		}
	}
	return out
}

// TestExpire holds that no token is good for ever, and that all are remembered.
func TestExpire(t *testing.T) {
	a := New(4711, "lockstep")
	r := httptest.NewRequest("POST", "/", strings.NewReader("{}"))
	if status, _ := a.Create(r, nil); status != 404 {
		t.Errorf("a token without an installation: %d", status)
	}
	r = httptest.NewRequest("POST", "/", strings.NewReader("{}"))
	_, body := a.Create(r, []Grant{{ID: 1}})
	text := body.(rest.Object)["token"].(string)
	r.Header.Set("Authorization", "token "+text)
	if _, p := a.Token(r); p != nil {
		t.Error(p.Message)
	}
	a.tokens[text].expires = time.Now().Add(-time.Second)
	if _, p := a.Token(r); p == nil {
		t.Error("an old token is good")
	}
	a.tokens[text].expires = time.Now().Add(time.Hour)
	a.Expire()
	if _, p := a.Token(r); p == nil || p.Status != 401 {
		t.Error("an ended token is good")
	}
	if !slices.Equal(a.Given(), []string{text}) {
		t.Errorf("given: %s", a.Given())
	}
}

// TestWithdraw holds that tokens lose a permission with the App, those from before included.
func TestWithdraw(t *testing.T) {
	a := New(4711, "lockstep")
	token := func() *Token {
		r := httptest.NewRequest("POST", "/", strings.NewReader("{}"))
		status, body := a.Create(r, []Grant{{ID: 1}})
		if status != 201 {
			t.Fatal(status, body)
		}
		r.Header.Set("Authorization", "token "+body.(rest.Object)["token"].(string))
		token, p := a.Token(r)
		if p != nil {
			t.Fatal(p.Message)
		}
		return token
	}
	before := token()
	if !before.Allows("members:read") || a.Permissions()["members"] != "read" {
		t.Error("the permission was never there")
	}
	a.Withdraw("members", "statuses")
	for name, x := range map[string]*Token{"before": before, "after": token()} {
		if x.Allows("members:read") || x.Allows("statuses:read") || !x.Allows("checks:write") {
			t.Errorf("the token from %s does not fit", name)
		}
	}
	if a.Permissions()["members"] != nil {
		t.Error("the permission is still shown")
	}
}
