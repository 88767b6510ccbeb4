package page

import (
	"context"
	"net/http"
)

// A Door decides who may see the pages. [Access] is the door of a server on one machine. Package signin has the door
// of the page on AWS, with GitHub's sign-in.
type Door interface {
	// Enter returns the context of a request that may see the pages. Otherwise, it returns a Refusal.
	Enter(r *http.Request) (context.Context, *Refusal)
	// Serve adds the door's own paths to mux, such as the one that signs a reader in. h shows refusals.
	Serve(mux *http.ServeMux, h Handler)
}

// A Refusal is the answer to a request that a [Door] does not admit. Either Form, Notice or Reason is set; a Form
// may have a Notice.
type Refusal struct {
	Status int
	Reason string // plain text
	Notice string // a sentence on a page
	Form   Form
	To     string // the path to which the reader wanted to go; for GitHubForm
}

// Error implements error, so that a method of a [Site] can return a Refusal, too.
func (r *Refusal) Error() string { return r.Reason + r.Notice }

// A Form is what a reader needs to sign in.
type Form string

const (
	NoForm     Form = ""
	TokenForm  Form = "token"  // a field for the token
	GitHubForm Form = "github" // a link to GitHub's sign-in
	LinkForm   Form = "link"   // a text that says how to get a link
)

type readerKey struct{}

// WithReader returns a context with the login of the reader, for the head of each page.
func WithReader(ctx context.Context, login string) context.Context {
	return context.WithValue(ctx, readerKey{}, login)
}

// readerOf returns the login of the reader; "" if nobody is signed in by name.
func readerOf(ctx context.Context) string {
	login, _ := ctx.Value(readerKey{}).(string)
	return login
}
