package rest

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestPages holds the limits of pages and the address of the next one.
func TestPages(t *testing.T) {
	var all []int
	for i := range 250 {
		all = append(all, i)
	}
	for query, want := range map[string]string{
		"":                      "30 from 0, next page=2",
		"?page=0":               "30 from 0, next page=2",
		"?page=2&per_page=100":  "100 from 100, next page=3&per_page=100",
		"?page=3&per_page=100":  "50 from 200",
		"?page=4&per_page=100":  "0",
		"?per_page=1000":        "100 from 0, next page=2&per_page=1000",
		"?per_page=-1":          "30 from 0, next page=2&per_page=-1",
		"?page=9&state=all":     "10 from 240",
		"?page=8&state=all":     "30 from 210, next page=9&state=all",
		"?per_page=250&page=x":  "100 from 0, next page=2&per_page=250",
		"?page=3&per_page=100&": "50 from 200",
	} {
		w := httptest.NewRecorder()
		p := Paged(httptest.NewRequest("GET", "http://hub.example/list"+query, nil), all)
		Send(w, 200, p)
		items := p.Items.([]int)
		got := fmt.Sprint(len(items))
		if len(items) > 0 {
			got += fmt.Sprint(" from ", items[0])
		}
		if link, ok := strings.CutPrefix(w.Header().Get("Link"), "<http://hub.example/list?"); ok {
			got += ", next " + strings.TrimSuffix(link, `>; rel="next"`)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
}

// TestAnswers holds the form of each kind of body.
func TestAnswers(t *testing.T) {
	fail := func(p *Problem) any { _, body := Fail(p); return body }
	for _, test := range []struct {
		body any
		want string
	}{
		{nil, ""},
		{Redirect("http://elsewhere"), "Location http://elsewhere"},
		{Object{"id": 1, "name": OrNull("")}, `{"id":1,"name":null}`},
		{Page{Items: []int{}}, "[]"},
		{fail(NotFound), `{"documentation_url":"https://docs.github.com/rest","message":"Not Found","status":"404"}`},
		{fail(Invalid("%d is odd", 3)), `{"documentation_url":"https://docs.github.com/rest","message":"3 is odd","status":"422"}`},
	} {
		w := httptest.NewRecorder()
		Send(w, 207, test.body)
		got := strings.TrimSpace(w.Body.String())
		if to := w.Header().Get("Location"); to != "" {
			got += "Location " + to
		}
		if got != test.want || w.Code != 207 || w.Header().Get("X-RateLimit-Remaining") == "" {
			t.Errorf("%v: %d %s %v, want %s", test.body, w.Code, got, w.Header(), test.want)
		}
	}
}
