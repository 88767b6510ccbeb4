package github

import (
	"bytes"
	"container/list"
	"io"
	"net/http"
	"sync"
)

const (
	// maxRemembered is the size limit of one cached answer, and maxAllRemembered the limit for all of them, in
	// bytes.
	maxRemembered    = 1 << 20
	maxAllRemembered = 16 << 20
)

// An answerCache stores answers to GET requests, each with its validator (ETag). An answer is used only for
// tokens of the same scope. When a request is repeated, the cache asks GitHub whether the stored answer is
// still current. GitHub's answer 304 ("not modified") does not count against the rate limit of an installation.
//
// The answers stay in the memory of one process, which never runs code of a pull request. Somebody who could
// write to the cache could change the settings that Lockstep reads from a base branch.
//
// Source:
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests-if-appropriate
type answerCache struct {
	mu    sync.Mutex
	all   map[cachedRequest]*list.Element
	order list.List // of *answer, the last used first
	size  int
}

// A cachedRequest is the key of a cached answer: the request's URL and Accept header, and the scope of its
// token.
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

// RoundTrip makes a request with a token of a scope, through base. If GitHub reports that the cached answer is
// still current, RoundTrip returns the cached answer. It may add the header If-None-Match to req. A nil
// *answerCache caches nothing.
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

// put caches an answer. It drops the least recently used answers to stay within maxAllRemembered.
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

// receive returns the answer to the request with the key k. If res is a 304, it returns the cached answer old.
// Otherwise it returns res, and caches it if it has a validator.
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
