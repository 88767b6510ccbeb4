// Package ranged reads a large object from an HTTP server such as S3 by several ranges at a time, for a
// reader that takes its bytes in order, and need not wait for the last one: a zip archive can be
// unpacked while it arrives, without a copy on disk.
//
// It refuses to know archives. Start at [Open].
package ranged

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"sync"
)

// chunk is the length of a range, and ahead the number of ranges that are under way or wait for the reader: 32 MiB
// at most. One connection to S3 has some 85 to 90 MB/s, and ranges of 8 to 16 MB share out well.
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance-guidelines.html
const (
	chunk = 4 << 20
	ahead = 8
)

// tail is the length of the end of an object that is read first, and kept: archives have their
// directory there.
const tail = 64 << 10

// A Reader reads one object. [Reader.ReadAt] is for one goroutine.
type Reader struct {
	ctx    context.Context
	cancel context.CancelFunc
	object object
	last   []byte // the end of the object

	chunks []chan fetched // by number; nil where nothing has begun
	begun  int            // chunks before it have begun
	at     int            // the chunk in data; -1 before the first
	data   []byte
	work   sync.WaitGroup

	hash   hash.Hash
	hashed chan []byte
	sum    chan struct{} // closed when all is hashed
	closed bool
}

type fetched struct {
	data []byte
	err  error
}

// Open begins to read the object at an address, which may hold credentials: errors do not name it.
func Open(ctx context.Context, client *http.Client, url string) (*Reader, error) {
	o := object{client: client, url: url}
	last, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	r := &Reader{
		object: o, last: last, at: -1, chunks: make([]chan fetched, (o.size+chunk-1)/chunk),
		hash: sha256.New(), hashed: make(chan []byte, ahead), sum: make(chan struct{}),
	}
	r.ctx, r.cancel = context.WithCancel(ctx)
	go func() {
		defer close(r.sum)
		for data := range r.hashed {
			r.hash.Write(data)
		}
	}()
	return r, nil
}

// Size is the length of the object in bytes.
func (r *Reader) Size() int64 { return r.object.size }

// ReadAt implements io.ReaderAt. It is fast for offsets that only grow, and for the end of the object.
func (r *Reader) ReadAt(p []byte, offset int64) (int, error) {
	if offset < 0 || offset > r.Size() {
		return 0, fmt.Errorf("the offset %d is outside of the object", offset)
	}
	n := 0
	for n < len(p) && offset < r.Size() {
		from, err := r.bytesAt(offset, len(p)-n)
		if err != nil {
			return n, err
		}
		k := copy(p[n:], from)
		n, offset = n+k, offset+int64(k)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// bytesAt returns some of the bytes from an offset on, one at least, and more than length of them where
// they are at hand.
func (r *Reader) bytesAt(offset int64, length int) ([]byte, error) {
	i := int(offset / chunk)
	if i != r.at {
		if begin := r.Size() - int64(len(r.last)); offset >= begin {
			return r.last[offset-begin:], nil
		}
		if i < r.at { // a jump back, which archives do without
			return r.object.fetch(r.ctx, offset, min(int64(length), r.Size()-offset, chunk))
		}
		for r.at < i {
			if err := r.advance(); err != nil {
				return nil, err
			}
		}
	}
	return r.data[offset-int64(i)*chunk:], nil
}

// advance takes the next chunk, and begins others.
func (r *Reader) advance() error {
	next := r.at + 1
	for r.begun < len(r.chunks) && r.begun < next+ahead {
		r.begin(r.begun)
		r.begun++
	}
	got := <-r.chunks[next]
	r.chunks[next] = nil
	if got.err != nil {
		r.cancel()
		failed := make(chan fetched, 1) // for whoever asks again
		failed <- got
		r.chunks[next] = failed
		return got.err
	}
	r.hashed <- got.data
	r.at, r.data = next, got.data
	return nil
}

// begin fetches a chunk in the background.
func (r *Reader) begin(i int) {
	answer := make(chan fetched, 1)
	r.chunks[i] = answer
	offset := int64(i) * chunk
	r.work.Add(1)
	go func() {
		defer r.work.Done()
		data, err := r.object.fetch(r.ctx, offset, min(chunk, r.Size()-offset))
		answer <- fetched{data, err}
	}()
}

// Sum reads the rest of the object, and returns the SHA-256 sum of all its bytes in hexadecimal.
func (r *Reader) Sum() (string, error) {
	for r.at+1 < len(r.chunks) {
		if err := r.advance(); err != nil {
			return "", err
		}
	}
	// The end was read by a request of its own: a server that gave it other bytes is found here.
	if n := len(r.data); n > 0 {
		have := r.data[max(0, n-len(r.last)):]
		if !bytes.HasSuffix(r.last, have) {
			return "", errors.New("two answers about the same bytes differ")
		}
	}
	r.end()
	return hex.EncodeToString(r.hash.Sum(nil)), nil
}

// end ends the hashing.
func (r *Reader) end() {
	if !r.closed {
		r.closed = true
		close(r.hashed)
	}
	<-r.sum
}

// Close ends all requests.
func (r *Reader) Close() error {
	r.cancel()
	r.work.Wait()
	r.end()
	return nil
}
