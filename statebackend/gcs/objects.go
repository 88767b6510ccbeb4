package gcs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/lockfile"
)

// objects accesses the objects of a bucket. It implements lockfile.Objects: the tag of an object is its generation.
type objects struct {
	client   *http.Client
	base     string // beginning of the addresses of the API, without "/storage/v1"
	bucket   string
	key      []byte // the customer's encryption key of states; nil: none
	kms      string // the name of the KMS key of states; "": the bucket's
	attempts int    // of each request
}

// googleBase is the base of Google's own server, which obeys all conditions. Other servers ignore the
// conditions of deletions.
const googleBase = "https://storage.googleapis.com"

// firstPause is the pause after the first attempt. Each pause is twice as long as the one before.
const firstPause = 500 * time.Millisecond

// maxState is the largest accepted answer, in bytes.
const maxState = 1 << 30

// answer is a response of the server.
type answer struct {
	status   int
	header   http.Header
	body     []byte
	repeated bool // an earlier attempt of the request may have been carried out
}

// do makes a request. It tries again after errors that may pass: conditions keep a repeated request from doing harm.
func (o *objects) do(ctx context.Context, method, address, object string, body []byte) (a answer, err error) {
	for attempt := 1; ; attempt++ {
		repeated := attempt > 1
		a, err = o.once(ctx, method, address, object, body)
		a.repeated = repeated
		passing := err != nil && !statebackend.Untrusted(err) || a.status == http.StatusTooManyRequests || a.status == http.StatusRequestTimeout || a.status >= 500
		if !passing || attempt >= o.attempts || ctx.Err() != nil {
			return a, err
		}
		select {
		case <-ctx.Done():
			return a, err
		case <-time.After(firstPause << (attempt - 1)):
		}
	}
}

func (o *objects) once(ctx context.Context, method, address, object string, body []byte) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, o.base+address, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if o.key != nil && strings.HasSuffix(object, stateSuffix) {
		sum := sha256.Sum256(o.key)
		req.Header.Set("X-Goog-Encryption-Algorithm", "AES256")
		req.Header.Set("X-Goog-Encryption-Key", base64.StdEncoding.EncodeToString(o.key))
		req.Header.Set("X-Goog-Encryption-Key-Sha256", base64.StdEncoding.EncodeToString(sum[:]))
	}
	res, err := o.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxState+1))
	if err == nil && len(data) > maxState {
		err = fmt.Errorf("the answer is larger than %d bytes", maxState)
	}
	return answer{status: res.StatusCode, header: res.Header, body: data}, err
}

// place is the address of an object for messages.
func (o *objects) place(object string) string { return "gs://" + o.bucket + "/" + object }

// failure returns the error for an answer that is no success; err is the error of the request, or nil.
func (o *objects) failure(verb, object string, a answer, err error) error {
	at := verb + " " + o.place(object)
	if err != nil {
		var of *url.Error
		if errors.As(err, &of) {
			err = of.Err
		}
		return fmt.Errorf("%s: %w", at, err)
	}
	var told struct {
		Error struct{ Message string }
	}
	reason := ""
	if json.Unmarshal(a.body, &told) == nil && told.Error.Message != "" {
		reason = ": " + told.Error.Message
	}
	switch a.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%s: %w%s. Give the account the role Storage Object User for the bucket", at, statebackend.ErrDenied, reason)
	case http.StatusNotFound:
		return fmt.Errorf("%s: the bucket does not exist%s. Create it, or correct the name in the backend block", at, reason)
	case http.StatusPreconditionFailed:
		return fmt.Errorf("%s: %w", at, lockfile.ErrPrecondition)
	}
	return fmt.Errorf("%s: unexpected HTTP status %d%s", at, a.status, reason)
}

func (o *objects) address(object string) string {
	return "/storage/v1/b/" + url.PathEscape(o.bucket) + "/o/" + url.PathEscape(object)
}

// Get implements lockfile.Objects.
func (o *objects) Get(ctx context.Context, object string) (data []byte, generation string, err error) {
	a, err := o.do(ctx, http.MethodGet, o.address(object)+"?alt=media", object, nil)
	if err == nil && a.status == http.StatusNotFound {
		return nil, "", nil
	}
	if err != nil || a.status != http.StatusOK {
		return nil, "", o.failure("read", object, a, err)
	}
	if generation = a.header.Get("X-Goog-Generation"); !isGeneration(generation) {
		return nil, "", &statebackend.UnfitError{Place: o.place(object), Fault: "has no generation",
			Reason: "The server does not send the header X-Goog-Generation. Without it, no write can have a condition.", Remedy: "Use another server, or none between Lockstep and Google Cloud Storage."}
	}
	return a.body, generation, nil
}

func isGeneration(text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && n > 0
}

// Put implements lockfile.Objects.
func (o *objects) Put(ctx context.Context, object string, data []byte, generation string) (string, error) {
	query := url.Values{"uploadType": {"media"}, "name": {object}, "ifGenerationMatch": {"0"}}
	if generation != "" {
		if !isGeneration(generation) {
			return "", lockfile.ErrPrecondition
		}
		query.Set("ifGenerationMatch", generation)
	}
	if o.kms != "" && strings.HasSuffix(object, stateSuffix) {
		query.Set("kmsKeyName", o.kms)
	}
	a, err := o.do(ctx, http.MethodPost, "/upload/storage/v1/b/"+url.PathEscape(o.bucket)+"/o?"+query.Encode(), object, data)
	if err != nil || a.status != http.StatusOK {
		return "", o.failure("write", object, a, err)
	}
	var stored struct{ Generation string }
	if err := json.Unmarshal(a.body, &stored); err != nil || !isGeneration(stored.Generation) {
		return "", fmt.Errorf("write %s: the server does not name the generation that it stored", o.place(object))
	}
	return stored.Generation, nil
}

// Delete implements lockfile.Objects.
func (o *objects) Delete(ctx context.Context, object, generation string) error {
	if !isGeneration(generation) {
		return lockfile.ErrPrecondition
	}
	a, err := o.do(ctx, http.MethodDelete, o.address(object)+"?ifGenerationMatch="+generation, object, nil)
	switch {
	case err == nil && (a.status == http.StatusNoContent || a.status == http.StatusOK || a.status == http.StatusNotFound && a.repeated):
		return nil
	case err == nil && a.status == http.StatusNotFound:
		return lockfile.ErrPrecondition
	}
	return o.failure("delete", object, a, err)
}

// list returns the names of the objects with the prefix that have no further slash.
func (o *objects) list(ctx context.Context, prefix string) (names []string, err error) {
	for token := ""; ; {
		query := url.Values{"prefix": {prefix}, "delimiter": {"/"}, "fields": {"items(name),nextPageToken"}}
		if token != "" {
			query.Set("pageToken", token)
		}
		a, err := o.do(ctx, http.MethodGet, "/storage/v1/b/"+url.PathEscape(o.bucket)+"/o?"+query.Encode(), prefix, nil)
		if err != nil || a.status != http.StatusOK {
			return nil, o.failure("list", prefix, a, err)
		}
		var page struct {
			Items         []struct{ Name string }
			NextPageToken string
		}
		if err := json.Unmarshal(a.body, &page); err != nil {
			return nil, fmt.Errorf("list %s: the answer is not a list", o.place(prefix))
		}
		for _, item := range page.Items {
			names = append(names, item.Name)
		}
		if page.NextPageToken == "" || page.NextPageToken == token {
			return names, nil
		}
		token = page.NextPageToken
	}
}
