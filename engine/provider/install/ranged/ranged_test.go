package ranged

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// A site serves one object, and answers some requests in other ways.
type site struct {
	*httptest.Server
	mu     sync.Mutex
	asked  int
	object []byte
	etag   string
	// odd answers a request, by its number from 1 on, unless it returns false.
	odd func(n int, w http.ResponseWriter, r *http.Request) bool
}

func serve(t *testing.T, object []byte) *site {
	t.Helper()
	s := &site{object: object, etag: `"1"`}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked++
		n, object := s.asked, s.object
		w.Header().Set("ETag", s.etag)
		s.mu.Unlock()
		if s.odd == nil || !s.odd(n, w, r) {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(object))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) open(t *testing.T) (*Reader, error) {
	t.Helper()
	r, err := Open(t.Context(), s.Client(), s.URL+"/secret?signature=secret")
	if err == nil {
		t.Cleanup(func() { r.Close() })
	}
	return r, err
}

// content returns random bytes.
func content(n int) []byte {
	data := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(n)}).Read(data)
	return data
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// TestSizes reads objects whose lengths are around those of ranges.
func TestSizes(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, tail - 1, tail, tail + 1, chunk - 1, chunk, chunk + 1, chunk + tail/2, 3*chunk + 17} {
		data := content(n)
		r, err := serve(t, data).open(t)
		if err != nil {
			t.Fatal(n, err)
		}
		got, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes: other ones were read: %v", n, err)
		}
		if sum, err := r.Sum(); err != nil || sum != sumOf(data) {
			t.Errorf("%d bytes: sum %s, %v", n, sum, err)
		}
	}
}

// TestArchive unpacks a zip archive while it arrives: no range is asked for twice.
func TestArchive(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	names := []string{"LICENSE", "provider", "docs/x.md"}
	for i, name := range names {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(content([]int{3000, 11 << 20, 1 << 20}[i]))
	}
	z.Close()
	s := serve(t, packed.Bytes())
	r, err := s.open(t)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(r, r.Size())
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range archive.File {
		from, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, from); err != nil || f.Name != names[i] {
			t.Fatal(f.Name, err)
		}
	}
	if sum, err := r.Sum(); err != nil || sum != sumOf(packed.Bytes()) {
		t.Error(sum, err)
	}
	if want := 1 + (packed.Len()+chunk-1)/chunk; s.asked != want {
		t.Errorf("%d requests, want %d", s.asked, want)
	}
}

// TestJumpsBack reads at random offsets.
func TestJumpsBack(t *testing.T) {
	t.Parallel()
	data := content(2*chunk + 100_000)
	r, err := serve(t, data).open(t)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		at := random.IntN(len(data))
		p := make([]byte, 1+random.IntN(200_000))
		n, err := r.ReadAt(p, int64(at))
		if want := min(len(p), len(data)-at); n != want || (err == io.EOF) != (n < len(p)) || !bytes.Equal(p[:n], data[at:at+n]) {
			t.Fatalf("%d bytes at %d: %d, %v", len(p), at, n, err)
		}
	}
	if sum, err := r.Sum(); err != nil || sum != sumOf(data) {
		t.Error(sum, err)
	}
}

// TestFaults is a table of answers, and of the errors that they end in: "" if another attempt helps.
func TestFaults(t *testing.T) {
	t.Parallel()
	status := func(code int) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	short := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Range", fmt.Sprintf("%s/%d", strings.Replace(r.Header.Get("Range"), "=", " ", 1), 2*chunk))
		w.Header().Set("Content-Length", fmt.Sprint(chunk))
		w.WriteHeader(http.StatusPartialContent)
		w.Write([]byte("short"))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	for name, c := range map[string]struct {
		from, to int // requests with the answer
		answer   func(http.ResponseWriter, *http.Request)
		want     string
	}{
		"busy once":           {2, 2, status(503), ""},
		"busy at first":       {1, 2, status(500), ""},
		"slow down":           {2, 4, status(429), ""},
		"breaks off":          {2, 3, short, ""},
		"always busy":         {2, 99, status(503), "the server answered with the status 503"},
		"always breaks off":   {2, 99, short, "unexpected EOF"},
		"forbidden":           {2, 99, status(403), "the server answered with the status 403"},
		"gone":                {2, 99, status(404), "there is no such object"},
		"never there":         {1, 99, status(404), "there is no such object"},
		"replaced":            {2, 99, status(412), "the object was replaced while it was read"},
		"does not know range": {1, 99, func(w http.ResponseWriter, _ *http.Request) { w.Write(content(2 * chunk)) }, "the server does not know ranges"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := content(2 * chunk)
			s := serve(t, data)
			s.odd = func(n int, w http.ResponseWriter, r *http.Request) bool {
				if n < c.from || n > c.to {
					return false
				}
				c.answer(w, r)
				return true
			}
			var sum string
			r, err := s.open(t)
			if err == nil {
				if sum, err = r.Sum(); err != nil {
					if _, again := r.ReadAt(make([]byte, 1), 0); again == nil {
						t.Error("after an error the bytes can be read")
					}
				}
			}
			switch {
			case c.want == "" && (err != nil || sum != sumOf(data)):
				t.Error(sum, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %s", err, c.want)
			case err != nil && strings.Contains(err.Error(), "secret"):
				t.Errorf("the error has the address: %v", err)
			}
		})
	}
}

// TestReplaced has another object take the place of the one that is read.
func TestReplaced(t *testing.T) {
	t.Parallel()
	s := serve(t, content(3*chunk))
	r, err := s.open(t)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.object, s.etag = content(3*chunk+1), `"2"`
	s.mu.Unlock()
	if sum, err := r.Sum(); err == nil || !strings.Contains(err.Error(), "replaced") {
		t.Error(sum, err)
	}
}

// TestTwoAnswers has a server give other bytes to the second question about them.
func TestTwoAnswers(t *testing.T) {
	t.Parallel()
	data := content(chunk)
	s := serve(t, data)
	s.odd = func(n int, w http.ResponseWriter, r *http.Request) bool {
		other := bytes.Clone(data)
		other[len(other)-1] ^= byte(n - 1)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(other))
		return true
	}
	r, err := s.open(t)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Sum(); err == nil {
		t.Error("two answers differ")
	}
}

// TestUnreachable has no server.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, http.DefaultClient, s.URL+"/secret"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}
