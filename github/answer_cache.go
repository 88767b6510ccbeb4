package github

import (
	"bytes"
	"container/list"
	"io"
	"net/http"
	"sync"
)

const (
	// maxRemembered is the longest cached answer, and the next limit is for all of them together, in bytes.
	maxRemembered    = 1 << 20
	maxAllRemembered = 16 << 20
)

// An answerCache has answers to GET requests, each with its validator. An answer is only for the scope of the
// token that was used. A repeated request asks GitHub whether its answer is still current. The answer 304 does
// not count against the rate limit of an installation, and is never older than the request.
//
// The answers are in the memory of one process that runs nothing of a pull request. Whoever could write them
// elsewhere could write the settings of a base branch.
//
// Source:
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests-if-appropriate
type answerCache struct {
	mu    sync.Mutex
	all   map[cachedRequest]*list.Element
	order list.List // of *answer, the last used first
	size  int
}

// A cachedRequest is a request with a token of a scope. Its answer and validator are only for that scope.
type cachedRequest struct {
	scope       tokenScope
	url, accept string
}

type cachedAnswer struct {
	key    cachedRequest
	tag    string
	header http.Header
	body   []byte
}

// RoundTrip makes a request with a token of a scope, by base. If GitHub reports that the last answer is still
// current, it returns that answer. It adds a header to the request. A nil *answerCache caches nothing.
func (r *answerCache) RoundTrip(scope tokenScope, base http.RoundTripper, req *http.Request) (*http.Response, error) {
	if r == nil || req.Method != http.MethodGet || req.Header.Get("Range") != "" || req.Header.Get("If-None-Match") != "" {
		return base.RoundTrip(req)
	}
	k := cachedRequest{scope, req.URL.String(), req.Header.Get("Accept")}
	old := r.get(k)
	if old != nil {
		req.Header.Set("If-None-Match", old.tag)
	}
	res, err := base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	return r.receive(k, old, res)
}

func (r *answerCache) get(k cachedRequest) *cachedAnswer {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.all[k]
	if e == nil {
		return nil
	}
	r.order.MoveToFront(e)
	return e.Value.(*cachedAnswer)
}

// put caches an answer, and drops those that were not used for the longest time.
func (r *answerCache) put(a *cachedAnswer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.all[a.key]; e != nil {
		r.forget(e)
	}
	if r.all == nil {
		r.all = map[cachedRequest]*list.Element{}
	}
	r.all[a.key] = r.order.PushFront(a)
	for r.size += len(a.body); r.size > maxAllRemembered; {
		r.forget(r.order.Back())
	}
}

func (r *answerCache) forget(e *list.Element) {
	a := r.order.Remove(e).(*cachedAnswer)
	delete(r.all, a.key)
	r.size -= len(a.body)
}

// receive returns the answer to a request with the key k. It is old, the cached answer, if GitHub reports that
// it is still current. It caches a new answer that has a validator.
func (r *answerCache) receive(k cachedRequest, old *cachedAnswer, res *http.Response) (*http.Response, error) {
	if res.StatusCode == http.StatusNotModified && old != nil {
		res.Body.Close()
		header := old.header.Clone()
		for name, values := range res.Header {
			header[name] = values // the present rate limit
		}
		res.StatusCode, res.Status, res.Header = http.StatusOK, "200 OK", header
		res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(old.body)), int64(len(old.body))
		return res, nil
	}
	tag := res.Header.Get("ETag")
	if res.StatusCode != http.StatusOK || tag == "" {
		return res, nil
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxRemembered+1))
	if err != nil {
		res.Body.Close()
		return nil, err
	}
	if len(body) > maxRemembered {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), res.Body), res.Body}
		return res, nil
	}
	res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(body))
	r.put(&cachedAnswer{k, tag, res.Header.Clone(), body})
	return res, nil
}
