package statebackendtest

import (
	"bytes"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// S3 is a server in memory with the parts of S3 that the s3 backend uses: objects with conditions on writing
// and deleting, and lists of objects. Buckets need not be created. It checks checksums, but no signatures.
// All buckets exist except "missing", and all KMS keys except "alias/missing". Set the fields before the
// first request.
type S3 struct {
	Faults *Faults                       // of "PUT key" and "DELETE key"
	Deny   func(method, key string) bool // reports whether to answer "access denied", for GET, PUT, DELETE and LIST

	RandomTags          bool // entity tags are random, as with KMS, and not the MD5
	NoConditionalDelete bool // If-Match on DELETE is answered with "not implemented"
	PageSize            int  // of lists; 0 is S3's 1000

	Conditions Conditions

	// ListKeys, if set, replaces the keys of a list. It imitates a server that escapes keys without being
	// asked, or that lists keys outside the requested prefix.
	ListKeys func(keys []string) []string
	NoTokens bool // lists end at PageSize, without a continuation token

	URL string

	mu      sync.Mutex
	objects map[string]s3Object // by "bucket/key"; nil: there are none
	deleted map[string]bool     // deleted objects that refuse their creation: see DeleteMarkers
}

type s3Object struct {
	data   []byte
	tag    string
	header http.Header // of the request that wrote it
	at     time.Time   // of the write
}

// Conditions describes how a server treats If-None-Match and If-Match. The zero value obeys both.
type Conditions struct {
	IgnoreNone, IgnoreMatch bool // writes are done although the condition is false
	Refuse                  int  // the status for every write with a condition; 0: none
	// DeleteMarkers lets a deleted object refuse its own creation, although it is missing. Some servers do
	// that with versioned buckets.
	DeleteMarkers bool
}

// Start starts the server. The server stops at the end of the test.
func (s *S3) Start(t testing.TB) *S3 {
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Object returns the object "bucket/key" and the headers of the request that wrote it; nil if there is none.
func (s *S3) Object(path string) ([]byte, http.Header) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[path]
	return o.data, o.header
}

// SetObject writes the object "bucket/key" without a request; nil data deletes it.
func (s *S3) SetObject(path string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if data == nil {
		delete(s.objects, path)
		return
	}
	s.keep(path, s3Object{data: data, tag: s.tagOf(data), at: time.Now()})
}

// Keys returns the paths "bucket/key" of all objects, sorted.
func (s *S3) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.objects))
}

func (s *S3) keep(path string, o s3Object) {
	delete(s.deleted, path)
	if s.objects == nil {
		s.objects = map[string]s3Object{}
	}
	s.objects[path] = o
}

func (s *S3) tagOf(data []byte) string {
	sum := md5.Sum(data)
	if s.RandomTags {
		rand.Read(sum[:])
	}
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

// ServeHTTP answers one request at a time, so that conditions are exact.
func (s *S3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/")
	bucket, key, inBucket := strings.Cut(path, "/")
	method := r.Method
	if !inBucket || key == "" {
		method, key = "LIST", r.URL.Query().Get("prefix")
	}
	if bucket == "missing" {
		s3Error(w, http.StatusNotFound, "NoSuchBucket")
		return
	}
	if s.Deny != nil && s.Deny(method, key) {
		s3Error(w, http.StatusForbidden, "AccessDenied")
		return
	}
	switch method {
	case "LIST":
		s.list(w, r, bucket)
	case http.MethodGet:
		s.get(w, path)
	case http.MethodPut:
		s.write(w, "PUT "+key, func(w http.ResponseWriter) { s.put(w, r, path) })
	case http.MethodDelete:
		s.write(w, "DELETE "+key, func(w http.ResponseWriter) { s.delete(w, r, path) })
	default:
		s3Error(w, http.StatusMethodNotAllowed, "MethodNotAllowed")
	}
}

// write calls do, which makes one write and answers its request. The fault that a test injects into this write
// may prevent the call.
func (s *S3) write(w http.ResponseWriter, name string, do func(http.ResponseWriter)) {
	switch s.Faults.Next(name) {
	case None:
		do(w)
	case Conflict:
		s3Error(w, http.StatusConflict, "ConditionalRequestConflict")
	case Persisted:
		do(httptest.NewRecorder())
		fallthrough
	case Failed:
		s3Error(w, http.StatusInternalServerError, "InternalError")
	}
}

func (s *S3) get(w http.ResponseWriter, path string) {
	o, ok := s.objects[path]
	if !ok {
		s3Error(w, http.StatusNotFound, "NoSuchKey")
		return
	}
	w.Header().Set("ETag", o.tag)
	w.Header().Set("Content-Length", fmt.Sprint(len(o.data)))
	w.Write(o.data)
}

func (s *S3) put(w http.ResponseWriter, r *http.Request, path string) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		s3Error(w, http.StatusBadRequest, "IncompleteBody")
		return
	}
	if r.Header.Get("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id") == "alias/missing" {
		s3Error(w, http.StatusNotFound, "KMS.NotFoundException")
		return
	}
	if want := r.Header.Get("X-Amz-Checksum-Sha256"); want != "" {
		if sum := sha256.Sum256(data); base64.StdEncoding.EncodeToString(sum[:]) != want {
			s3Error(w, http.StatusBadRequest, "BadDigest")
			return
		}
	}
	if !s.conditionsHold(w, r, path) {
		return
	}
	o := s3Object{data: bytes.Clone(data), tag: s.tagOf(data), header: r.Header.Clone(), at: time.Now()}
	s.keep(path, o)
	w.Header().Set("ETag", o.tag)
}

// conditionsHold reports whether the conditions of a request are true. If one is false, it sends the
// response.
func (s *S3) conditionsHold(w http.ResponseWriter, r *http.Request, path string) bool {
	o, exists := s.objects[path]
	match, none := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
	if s.Conditions.Refuse != 0 && (match != "" || none != "") {
		s3Error(w, s.Conditions.Refuse, "NotImplemented")
		return false
	}
	if s.Conditions.IgnoreMatch {
		match = ""
	}
	if s.Conditions.IgnoreNone {
		none = ""
	}
	switch {
	case none == "*" && (exists || s.deleted[path]), match != "" && exists && o.tag != match:
		s3Error(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return false
	case match != "" && !exists:
		s3Error(w, http.StatusNotFound, "NoSuchKey")
		return false
	}
	return true
}

func (s *S3) delete(w http.ResponseWriter, r *http.Request, path string) {
	if s.NoConditionalDelete && r.Header.Get("If-Match") != "" {
		s3Error(w, http.StatusNotImplemented, "NotImplemented")
		return
	}
	if !s.conditionsHold(w, r, path) {
		return
	}
	delete(s.objects, path)
	if s.Conditions.DeleteMarkers {
		if s.deleted == nil {
			s.deleted = map[string]bool{}
		}
		s.deleted[path] = true
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *S3) list(w http.ResponseWriter, r *http.Request, bucket string) {
	type content struct {
		Key          string
		LastModified time.Time
	}
	var answer struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
		Contents              []content
	}
	size := s.PageSize
	if size == 0 {
		size = 1000
	}
	after := r.URL.Query().Get("continuation-token")
	if s.NoTokens {
		after = ""
	}
	for _, path := range slices.Sorted(maps.Keys(s.objects)) {
		key, ok := strings.CutPrefix(path, bucket+"/")
		if !ok || !strings.HasPrefix(key, r.URL.Query().Get("prefix")) || key <= after {
			continue
		}
		if len(answer.Contents) == size {
			answer.IsTruncated = true
			answer.NextContinuationToken = answer.Contents[size-1].Key
			break
		}
		answer.Contents = append(answer.Contents, content{key, s.objects[path].at.UTC()})
	}
	if s.NoTokens {
		answer.NextContinuationToken = ""
	}
	if s.ListKeys != nil {
		var keys []string
		for _, c := range answer.Contents {
			keys = append(keys, c.Key)
		}
		answer.Contents = nil
		for _, key := range s.ListKeys(keys) {
			answer.Contents = append(answer.Contents, content{Key: key, LastModified: time.Now().UTC()})
		}
	}
	w.Header().Set("Content-Type", "application/xml")
	xml.NewEncoder(w).Encode(answer)
}

func s3Error(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, code)
}
