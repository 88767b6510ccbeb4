package serving

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestMeasured holds that the time of a webhook's answer is measured, with its code.
func TestMeasured(t *testing.T) {
	t.Parallel()
	var s serveSettings
	h := s.measured(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusAccepted)
		}
		w.Write([]byte("ok"))
	}))
	for _, method := range []string{http.MethodPost, http.MethodPost, http.MethodGet} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, "/webhook", nil))
		if w.Body.String() != "ok" {
			t.Errorf("%s: %s", method, w.Body)
		}
	}
	for _, want := range []string{"lockstep_webhook_seconds_count{code=\"202\"} 2\n", "lockstep_webhook_seconds_count{code=\"200\"} 1\n"} {
		if !strings.Contains(s.metrics.Text(), want) {
			t.Errorf("%s is not in\n%s", want, s.metrics.Text())
		}
	}
}
