package ranged

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/engine/hosts"
)

// An object is one object on a server, in the version that the first request found.
type object struct {
	client *http.Client
	url    string
	size   int64
	etag   string
}

// attempts is how often a range is requested, and patience the time for each attempt. The wait between two
// attempts doubles each time.
const (
	attempts  = 5
	patience  = time.Minute
	firstWait = 100 * time.Millisecond
)

// open requests the last bytes of the object, and returns them. The answer also tells the length of the object.
func (o *object) open(ctx context.Context) (last []byte, err error) {
	err = o.retrying(ctx, func(ctx context.Context) error {
		resp, err := o.ask(ctx, fmt.Sprintf("bytes=-%d", tail))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		size := resp.ContentLength
		if resp.StatusCode == http.StatusPartialContent {
			_, total, _ := strings.Cut(resp.Header.Get("Content-Range"), "/")
			if size, err = strconv.ParseInt(total, 10, 64); err != nil {
				return fmt.Errorf("the answer has the range %q", resp.Header.Get("Content-Range"))
			}
		}
		// The whole object is also a valid answer, if it is shorter than the range.
		if resp.StatusCode == http.StatusOK && (size < 0 || size > tail) {
			return final{errors.New("the server does not know ranges")}
		}
		last = make([]byte, min(size, tail))
		if _, err := io.ReadFull(resp.Body, last); err != nil {
			return err
		}
		o.size, o.etag = size, resp.Header.Get("ETag")
		return nil
	})
	return last, err
}

// fetch returns the bytes of a range.
func (o *object) fetch(ctx context.Context, offset, length int64) (data []byte, err error) {
	err = o.retrying(ctx, func(ctx context.Context) error {
		resp, err := o.ask(ctx, fmt.Sprintf("bytes=%d-%d", offset, offset+length-1))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		want := fmt.Sprintf("bytes %d-%d/%d", offset, offset+length-1, o.size)
		whole := resp.StatusCode == http.StatusOK && offset == 0 && length == o.size
		if got := resp.Header.Get("Content-Range"); got != want && !whole {
			return fmt.Errorf("the answer has the range %q instead of %q", got, want)
		}
		data = make([]byte, length)
		_, err = io.ReadFull(resp.Body, data)
		return err
	})
	return data, err
}

// A final error is an error that another attempt would not change.
type final struct{ error }

// Unwrap returns the wrapped error, for errors.Is and errors.As.
func (f final) Unwrap() error { return f.error }

// ask sends one request. A returned answer has the status 200 or 206.
func (o *object) ask(ctx context.Context, byteRange string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.url, nil)
	if err != nil {
		return nil, final{errors.New("the address of the object is invalid")}
	}
	req.Header.Set("Range", byteRange)
	if o.etag != "" {
		req.Header.Set("If-Match", o.etag)
	}
	resp, err := o.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("the server cannot be reached: %w", hosts.Plain(err))
	}
	switch {
	case resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusPartialContent:
		return resp, nil
	case resp.StatusCode == http.StatusNotFound:
		err = final{errors.New("there is no such object")}
	case resp.StatusCode == http.StatusPreconditionFailed:
		err = final{errors.New("the object was replaced while it was read")}
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		err = final{errors.New("the object is empty")}
	case resp.StatusCode >= 500, resp.StatusCode == http.StatusTooManyRequests:
		err = fmt.Errorf("the server answered with the status %d", resp.StatusCode)
	default:
		err = final{fmt.Errorf("the server answered with the status %d", resp.StatusCode)}
	}
	return nil, errors.Join(err, resp.Body.Close())
}

// retrying calls the function try, and calls it again after errors that may go away.
func (o *object) retrying(ctx context.Context, try func(context.Context) error) error {
	wait := firstWait
	for attempt := 1; ; attempt++ {
		limited, cancel := context.WithTimeout(ctx, patience)
		err := try(limited)
		cancel()
		if err == nil || attempt == attempts || errors.As(err, new(final)) || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
		wait *= 2
	}
}
