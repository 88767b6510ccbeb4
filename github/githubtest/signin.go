package githubtest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// signIns are the sign-ins of people with the App: GitHub's page, codes and tokens.
type signIns struct {
	callback string // the App's callback URL
	reader   string // login of the person who is signed in to GitHub in the browser
	refused  bool   // that person clicks "Cancel"
	secret   string
	codes    map[string]signInCode
	tokens   map[string]userToken
}

type signInCode struct{ login, redirect, challenge string }

type userToken struct {
	login   string
	expires time.Time
}

// ClientID is the ID of the Hub's App for sign-ins.
const ClientID = "Iv23liLockstepTest"

// ClientSecret returns the App's secret for sign-ins.
func (h *Hub) ClientSecret() string {
	defer h.lock()()
	if h.signIns.secret == "" {
		h.signIns.secret = h.app.Secret("")
	}
	return h.signIns.secret
}

// SetCallback sets the App's callback URL. GitHub sends people to no other server.
func (h *Hub) SetCallback(url string) {
	defer h.lock()()
	h.signIns.callback = url
}

// Browse makes a person use the browser: the next sign-ins are theirs, and they agree. The login "" is a person who
// does not agree.
func (h *Hub) Browse(login string) {
	defer h.lock()()
	h.signIns.reader, h.signIns.refused = login, login == ""
	if login != "" {
		h.person(login)
	}
}

// Revoke makes all tokens of a person invalid, as if the person had revoked the App's authorization.
func (h *Hub) Revoke(login string) {
	defer h.lock()()
	for text, t := range h.signIns.tokens {
		if t.login == login {
			delete(h.signIns.tokens, text)
		}
	}
}

// authorize is GitHub's page that asks a person to sign in. It sends the person back at once.
// Source: https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
func (h *Hub) authorize(w http.ResponseWriter, r *http.Request) {
	defer h.lock()()
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if q.Get("client_id") != ClientID || err != nil || h.signIns.callback == "" || !strings.HasPrefix(back.String(), h.signIns.callback) {
		http.Error(w, "The redirect_uri is not associated with this application.", http.StatusBadRequest)
		return
	}
	if q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 {
		http.Error(w, "The code challenge is not one of S256.", http.StatusBadRequest)
		return
	}
	answer := url.Values{"state": {q.Get("state")}}
	if h.signIns.refused {
		answer.Set("error", "access_denied")
	} else {
		code := h.app.Secret("")[:20]
		if h.signIns.codes == nil {
			h.signIns.codes = map[string]signInCode{}
		}
		h.signIns.codes[code] = signInCode{h.signIns.reader, q.Get("redirect_uri"), q.Get("code_challenge")}
		answer.Set("code", code)
	}
	back.RawQuery = answer.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// exchange answers POST /login/oauth/access_token. As at GitHub, an error has the status 200.
func (h *Hub) exchange(w http.ResponseWriter, r *http.Request) {
	defer h.lock()()
	answer := func(o rest.Object) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		json.NewEncoder(w).Encode(o)
	}
	if r.PostFormValue("client_id") != ClientID || r.PostFormValue("client_secret") != h.signIns.secret || h.signIns.secret == "" {
		answer(rest.Object{"error": "incorrect_client_credentials"})
		return
	}
	code, ok := h.signIns.codes[r.PostFormValue("code")]
	delete(h.signIns.codes, r.PostFormValue("code"))
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !ok || code.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) || code.redirect != r.PostFormValue("redirect_uri") {
		answer(rest.Object{"error": "bad_verification_code"})
		return
	}
	token := h.app.Secret("ghu_")
	if h.signIns.tokens == nil {
		h.signIns.tokens = map[string]userToken{}
	}
	h.signIns.tokens[token] = userToken{code.login, time.Now().Add(8 * time.Hour)}
	answer(rest.Object{"access_token": token, "expires_in": 28800, "refresh_token": h.app.Secret("ghr_"), "refresh_token_expires_in": 15897600, "token_type": "bearer", "scope": ""})
}

// revokeToken answers DELETE /applications/{client_id}/token.
func (h *Hub) revokeToken(r *http.Request) (int, any) {
	id, secret, _ := r.BasicAuth()
	if id != ClientID || id != r.PathValue("id") || secret != h.signIns.secret || secret == "" {
		return rest.Fail(rest.NotFound)
	}
	var in struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || h.signIns.tokens[in.Token].login == "" {
		return rest.Fail(rest.Invalid("The token is not valid."))
	}
	delete(h.signIns.tokens, in.Token)
	return http.StatusNoContent, nil
}

// reader returns the login of the person whose token a request has; "" if it has no such token.
func (h *Hub) reader(r *http.Request) string {
	_, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	t := h.signIns.tokens[text]
	if time.Now().After(t.expires) {
		return ""
	}
	return t.login
}

// readable reports whether a person may read a repository with a token of the App.
func (r *Repository) readable(login string) bool {
	p := r.permissions[login]
	return !r.private || r.installation != 0 && p != "" && p != "none"
}

// byUser returns a handler for requests with a token of a person.
func (h *Hub) byUser(answer func(login string, r *http.Request) (int, any)) rest.Handler {
	return func(r *http.Request) (int, any) {
		login := h.reader(r)
		if login == "" {
			return rest.Fail(&rest.Problem{Status: http.StatusUnauthorized, Message: "Bad credentials"})
		}
		return answer(login, r)
	}
}

// getUser answers GET /user.
func (h *Hub) getUser(login string, _ *http.Request) (int, any) {
	o := h.person(login).json()
	for _, name := range []string{"name", "company", "blog", "location", "email", "hireable", "bio"} {
		o[name] = nil
	}
	for _, name := range []string{"public_repos", "public_gists", "followers", "following"} {
		o[name] = 0
	}
	o["user_view_type"] = "public"
	o["created_at"], o["updated_at"] = rest.Stamp(epoch), rest.Stamp(epoch)
	return http.StatusOK, o
}

// listUserInstallations answers GET /user/installations.
func (h *Hub) listUserInstallations(login string, r *http.Request) (int, any) {
	list, seen := []any{}, map[int64]bool{0: true}
	for _, x := range h.repos {
		if !seen[x.installation] && x.permissions[login] != "" {
			seen[x.installation] = true
			list = append(list, h.installationJSON(x.installation, x.owner))
		}
	}
	return counted(r, "installations", list)
}

// listUserRepositories answers GET /user/installations/{installation}/repositories: those for which the person has an
// explicit permission.
func (h *Hub) listUserRepositories(login string, r *http.Request) (int, any) {
	list := []any{}
	for _, x := range h.repos {
		if x.installation == rest.ID(r, "installation") && x.permissions[login] != "" && x.readable(login) {
			list = append(list, x.repo.json())
		}
	}
	return counted(r, "repositories", list)
}

// counted returns a page of a list, with the total count.
func counted(r *http.Request, name string, list []any) (int, any) {
	shown := rest.Paged(r, list)
	shown.Items = rest.Object{"total_count": len(list), name: shown.Items}
	return http.StatusOK, shown
}
