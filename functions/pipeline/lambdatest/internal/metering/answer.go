package metering

import (
	"bytes"
	"net/http"
)

// An Answer is a ResponseWriter that passes an answer on and also records it.
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

// Flush implements http.Flusher. Large objects need it.
func (a *Answer) Flush() { http.NewResponseController(a.ResponseWriter).Flush() }
