package rest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
)

// Conditional returns a handler with GitHub's conditional GET requests. Each answer of the handler next with
// status 200 gets a validator (ETag). A request with the same validator gets a 304. A validator belongs to
// one answer and one token.
//
// Source: https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests-if-appropriate
func Conditional(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		b := &buffered{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(b, r)
		if b.status == http.StatusOK {
			sum := sha256.Sum256(fmt.Append(b.body.Bytes(), w.Header().Get("Link"), r.Header.Get("Authorization")))
			w.Header().Set("ETag", fmt.Sprintf(`W/"%x"`, sum))
			if r.Header.Get("If-None-Match") == w.Header().Get("ETag") {
				w.Header().Del("Content-Type")
				w.Header().Del("Link") // the client has the header already
				w.WriteHeader(http.StatusNotModified)
				return
			}
		}
		w.WriteHeader(b.status)
		w.Write(b.body.Bytes())
	})
}

// buffered stores an answer until it is complete.
type buffered struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (b *buffered) WriteHeader(status int) { b.status = status }

func (b *buffered) Write(p []byte) (int, error) { return b.body.Write(p) }
