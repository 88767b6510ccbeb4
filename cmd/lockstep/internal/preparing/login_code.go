package preparing

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"time"

	"golang.org/x/oauth2"

	"github.com/lockstep-iac/lockstep/engine/hosts"
)

// exchangeTimeout is the time limit of the request that exchanges the code for a token.
const exchangeTimeout = 30 * time.Second

// authorize gets a token from the host by OAuth. It calls show with the URL of the page on which the user
// agrees; show must return at once. authorize waits for the user until ctx ends.
//
// The proof key ensures that only this process can use the code. The state ensures that the answer belongs to
// this request. So another program that reaches the listener can neither use the code nor insert its own code.
// Source: RFC 7636 and RFC 8252.
func (c *loginClient) authorize(ctx context.Context, show func(url string)) (hosts.Token, error) {
	listener, port, err := c.listen()
	if err != nil {
		return hosts.Token{}, err
	}
	config := &oauth2.Config{
		ClientID:    c.ID,
		Endpoint:    oauth2.Endpoint{AuthURL: c.Authz.String(), TokenURL: c.Token.String(), AuthStyle: oauth2.AuthStyleInParams},
		RedirectURL: fmt.Sprintf("http://localhost:%d/login", port),
		Scopes:      c.Scopes,
	}
	state, proof := rand.Text(), oauth2.GenerateVerifier()
	codes := make(chan string, 1)
	server := &http.Server{Handler: loginCallback(state, codes), ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(listener)
	show(config.AuthCodeURL(state, oauth2.S256ChallengeOption(proof)))
	var code string
	select {
	case code = <-codes:
	case <-ctx.Done():
		server.Close()
		return hosts.Token{}, context.Cause(ctx)
	}
	server.Shutdown(ctx) // the page is sent first
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, oauth2.HTTPClient, c.requests.HTTP()), exchangeTimeout)
	defer cancel()
	token, err := config.Exchange(ctx, code, oauth2.VerifierOption(proof))
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused):
		// The error's own text contains the whole answer, which may be an HTML page.
		return hosts.Token{}, fmt.Errorf("the host did not exchange the code for a token: %s %s", refused.Response.Status, refused.ErrorCode)
	case err != nil:
		return hosts.Token{}, fmt.Errorf("ask for the token: %w", hosts.Plain(err))
	}
	return hosts.NewToken(token.AccessToken), nil
}

// listen listens on a port in the host's range on the loopback interface. It starts at a random port, because
// another login may be running.
func (c *loginClient) listen() (net.Listener, int, error) {
	n := c.MaxPort - c.MinPort + 1
	first := mathrand.IntN(n)
	for i := range min(n, 1000) {
		port := c.MinPort + (first+i)%n
		if l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return l, port, nil
		}
	}
	return nil, 0, fmt.Errorf("no port between %d and %d is free for the host's answer", c.MinPort, c.MaxPort)
}

// loginCallback returns the handler for the host's redirect of the browser. The redirect contains the code,
// which the handler sends to codes.
func loginCallback(state string, codes chan<- string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		code := q.Get("code")
		if r.URL.Path != "/login" || code == "" || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1 {
			http.Error(w, "This is not the answer to the login that is under way.", http.StatusBadRequest)
			return
		}
		select {
		case codes <- code:
		default: // a reload
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, loginPage)
	})
}

const loginPage = `<!DOCTYPE html>
<title>Lockstep login</title>
<p>The host has sent its answer to Lockstep.</p>
<p>Close this page, and return to the terminal in which <code>lockstep login</code> runs.</p>
`
