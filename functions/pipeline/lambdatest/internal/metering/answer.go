package metering

import (
	"bytes"
	"net/http"
)

// An Answer is an answer that is being sent.
type Answer struct {
	http.ResponseWriter
	Keep   bool // keep the body
	Status int
	Body   bytes.Buffer
}

// WriteHeader implements http.ResponseWriter.
func (a *Answer) WriteHeader(status int) {
	a.Status = status
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *Answer) Write(p []byte) (int, error) {
	if a.Keep {
		a.Body.Write(p)
	}
	return a.ResponseWriter.Write(p)
}

// Flush implements http.Flusher, for large objects.
func (a *Answer) Flush() { http.NewResponseController(a.ResponseWriter).Flush() }
