package statebackendtest

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// HTTP is a server of the backend "http" with one state, as GitLab serves it. While the state is locked, a
// write or an unlock needs the lock's ID. Start it before use.
type HTTP struct {
	Username, Password string // required unless empty
	// Answer replaces the response to a request if it returns a nonzero status. If after is true, the server
	// carries out the request nevertheless. Answer may be nil.
	Answer func(method string) (status int, after bool)

	URL string // of the state; locks are at URL/lock

	mu    sync.Mutex
	state []byte
	lock  []byte
	log   []string
}

// Start serves until the test ends.
func (h *HTTP) Start(t testing.TB) *HTTP {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	h.URL = s.URL + "/state"
	return h
}

// State returns the stored state.
func (h *HTTP) State() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.state)
}

// SetState stores a state as another writer would; "" deletes the state.
func (h *HTTP) SetState(state string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state = []byte(state)
}

// SetLock locks the state as another writer would; "" unlocks it.
func (h *HTTP) SetLock(info string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lock = []byte(info)
}

// Log returns the requests so far, such as "POST /state?ID=1".
func (h *HTTP) Log() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.log...)
}

// ServeHTTP implements http.Handler: it answers one request of the backend "http".
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log = append(h.log, fmt.Sprintf("%s %s", r.Method, r.URL.RequestURI()))
	if user, password, _ := r.BasicAuth(); user != h.Username || password != h.Password {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if h.Answer != nil {
		if status, after := h.Answer(r.Method); status != 0 {
			if after {
				h.serve(httptest.NewRecorder(), r, body)
			}
			w.WriteHeader(status)
			return
		}
	}
	h.serve(w, r, body)
}

func (h *HTTP) serve(w http.ResponseWriter, r *http.Request, body []byte) {
	switch r.Method {
	case http.MethodGet:
		if len(h.state) == 0 {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		sum := md5.Sum(h.state)
		w.Header().Set("Content-MD5", base64.StdEncoding.EncodeToString(sum[:]))
		w.Write(h.state)
	case http.MethodPost:
		if len(h.lock) > 0 && r.URL.Query().Get("ID") != lockID(h.lock) {
			w.WriteHeader(http.StatusConflict)
			w.Write(h.lock)
			return
		}
		if len(h.lock) == 0 && r.URL.Query().Has("ID") {
			w.WriteHeader(http.StatusConflict) // the lock is gone
			return
		}
		h.state = bytes.Clone(body)
	case "LOCK":
		if len(h.lock) > 0 {
			w.WriteHeader(http.StatusLocked)
			w.Write(h.lock)
			return
		}
		h.lock = bytes.Clone(body)
	case "UNLOCK":
		switch {
		case len(h.lock) == 0:
			w.WriteHeader(http.StatusNotFound)
		case lockID(body) != lockID(h.lock):
			w.WriteHeader(http.StatusConflict)
			w.Write(h.lock)
		default:
			h.lock = nil
		}
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func lockID(info []byte) string {
	var x struct{ ID string }
	if json.Unmarshal(info, &x) != nil {
		return ""
	}
	return x.ID
}
