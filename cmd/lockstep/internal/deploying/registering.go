package deploying

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// An appRegistration registers an App in the user's browser. A page on this machine sends a manifest to
// GitHub. The user agrees on GitHub's page, and GitHub redirects the browser back with a code. The page is
// on 127.0.0.1 only. The page's address contains a random text, and GitHub's answer must contain another
// one. So another website in the same browser can neither read the page nor forge the answer.
type appRegistration struct {
	Site  string // GitHub's pages: https://github.com/
	Owner string // an organization; "" for the person's own account
	Name  string // of the App
	// Show is called with the address of the page on this machine, for the user.
	Show func(address string)
}

// codeLimit is how long GitHub accepts a code.
// Source: https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
const codeLimit = time.Hour

// errRegisterTime reports that the user has not agreed on GitHub's page within [codeLimit].
var errRegisterTime = errors.New("the App was not registered within an hour")

// Code shows the user the page, waits until GitHub has redirected the browser back, and returns the code in
// that redirect.
func (r appRegistration) Code(ctx context.Context) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("this machine cannot listen for GitHub's answer: %w", err)
	}
	return r.wait(ctx, l)
}

// wait serves the page until GitHub's answer comes. It returns the code.
func (r appRegistration) wait(ctx context.Context, l net.Listener) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, codeLimit, errRegisterTime)
	defer cancel()
	v := &registerVisit{request: r, host: l.Addr().String(), page: "/" + rand.Text(), state: rand.Text(), codes: make(chan string, 1)}
	s := &http.Server{Handler: v, ReadHeaderTimeout: 10 * time.Second}
	go s.Serve(l) // until Shutdown
	defer func() {
		// The browser gets some time to load the last page before the server is closed.
		wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		s.Shutdown(wait)
	}()
	r.Show("http://" + v.host + v.page)
	select {
	case code := <-v.codes:
		return code, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// Page returns an HTML page for a browser on another machine. The page's button sends the manifest to GitHub.
// GitHub then redirects that browser to an address at which nothing listens. The address contains the code,
// which the user copies into the terminal.
func (r appRegistration) Page() string {
	var b strings.Builder
	err := pageFrame.Execute(&b, map[string]any{"Action": template.URL(r.action("")), "Name": r.Name, "Manifest": appManifest(r.Name, elsewhereAddress)})
	if err != nil {
		panic("registering: a page of texts cannot be written: " + err.Error())
	}
	return b.String()
}

// elsewhereAddress is the address to which GitHub redirects a browser on another machine. Nothing listens
// there.
const elsewhereAddress = "http://127.0.0.1:9/registered"

// action returns the address of GitHub's page for new Apps. state is part of it, and GitHub's answer repeats
// it.
func (r appRegistration) action(state string) string {
	path := "settings/apps/new"
	if r.Owner != "" {
		path = "organizations/" + url.PathEscape(r.Owner) + "/" + path
	}
	return strings.TrimSuffix(r.Site, "/") + "/" + path + "?state=" + state
}

// A registerVisit serves the pages for one registration of an App.
type registerVisit struct {
	request           appRegistration
	host, page, state string
	codes             chan string
}

// ServeHTTP implements http.Handler.
func (v *registerVisit) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	nonce := rand.Text()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; script-src 'nonce-"+nonce+"'")
	switch {
	case r.Host != v.host || r.Method != http.MethodGet:
		// This page answers only requests with its own host name. Another name that leads to this machine is
		// used by a different website (DNS rebinding).
		http.Error(w, "This is not the address of the page.", http.StatusForbidden)
	case r.URL.Path == v.page:
		formPage.Execute(w, map[string]any{
			"Nonce": nonce, "Action": template.URL(v.request.action(v.state)), "Name": v.request.Name,
			"Manifest": appManifest(v.request.Name, "http://"+v.host+"/registered"),
		})
	case r.URL.Path == "/registered":
		v.registered(w, r.URL.Query())
	default:
		http.NotFound(w, r)
	}
}

// registered handles GitHub's redirect. A request with a wrong state is refused, and the wait for GitHub
// continues.
func (v *registerVisit) registered(w http.ResponseWriter, q url.Values) {
	if subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(v.state)) != 1 || q.Get("code") == "" {
		http.Error(w, "This is not the answer to the page that lockstep has shown.", http.StatusForbidden)
		return
	}
	select {
	case v.codes <- q.Get("code"):
	default: // a second answer: the first counts
	}
	donePage.Execute(w, v.request.Name)
}

var (
	formPage = template.Must(template.New("form").Parse(`<!doctype html><html lang="en"><title>Register {{.Name}}</title>
<p>Press the button. GitHub then asks you to register the App {{.Name}}.
<form action="{{.Action}}" method="post"><input type="hidden" name="manifest" value="{{.Manifest}}"><button>Go on to GitHub</button></form>
<script nonce="{{.Nonce}}">document.forms[0].submit()</script></html>
`))
	pageFrame = template.Must(template.New("page").Parse(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Register {{.Name}}</title>
<p>Press the button, and register the App {{.Name}} on GitHub. GitHub then sends this browser to an address that cannot be opened. Copy the text after code= from the address bar, up to the next &amp;. Run within an hour:
<pre>lockstep deploy -code CODE</pre>
<form action="{{.Action}}" method="post"><input type="hidden" name="manifest" value="{{.Manifest}}"><button>Go on to GitHub</button></form></html>
`))
	donePage = template.Must(template.New("done").Parse(`<!doctype html><html lang="en"><title>{{.}}</title>
<p>The App {{.}} is registered. Close this page, and return to the terminal.</html>
`))
)
