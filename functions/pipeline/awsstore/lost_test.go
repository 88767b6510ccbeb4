package awsstore

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// A fate is what becomes of one request on its way.
type fate int

const (
	arrives  fate = iota
	fails         // the server answers that it failed, and did nothing
	lost          // it is done, and nobody hears of it
	conflict      // S3's 409
	cut           // the answer breaks off in its body
	flipped       // a bit of the answer's body is another
)

// A network is the way to a real server. It decides the fates of the next requests.
type network struct {
	mu    sync.Mutex
	fates []fate
	// between, if set, is called after each request that did not arrive as usual.
	between func()
	seen    []http.Header
}

func (n *network) next(fates ...fate) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fates, n.seen, n.between = fates, nil, nil
}

func (n *network) take(r *http.Request) fate {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seen = append(n.seen, r.Header.Clone())
	if len(n.fates) == 0 {
		return arrives
	}
	f := n.fates[0]
	n.fates = n.fates[1:]
	return f
}

// RoundTrip implements http.RoundTripper.
func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	f := n.take(r)
	if f != arrives && n.between != nil {
		defer n.between()
	}
	switch f {
	case fails:
		return answer(r, http.StatusInternalServerError, "InternalServerError"), nil
	case conflict:
		return answer(r, http.StatusConflict, "ConditionalRequestConflict"), nil
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if f == arrives || err != nil {
		return res, err
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	switch f {
	case lost:
		return nil, errors.Join(err, errors.New("connection reset by peer"))
	case cut:
		res.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body[:len(body)/2]), broken{}))
	case flipped:
		body[0] ^= 1
		res.Body = io.NopCloser(bytes.NewReader(body))
	}
	return res, err
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// answer is a server's refusal, in the form of each protocol.
func answer(r *http.Request, status int, code string) *http.Response {
	body := `<Error><Code>` + code + `</Code><Message>injected</Message></Error>`
	kind := "application/xml"
	if r.Header.Get("X-Amz-Target") != "" {
		body, kind = `{"__type":"`+code+`","message":"injected"}`, "application/x-amz-json-1.0"
	}
	return &http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Request: r, Header: http.Header{"Content-Type": {kind}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// TestWritesOnce holds that what became of our own first attempt is no conflict with us,
// and that somebody else's writing is.
func TestWritesOnce(t *testing.T) {
	t.Parallel()
	n := &network{}
	url := statebackendtest.StartDynoxide(t)
	r := openRecords(t, url, n)
	other := Records{Client: openRecords(t, url, nil).Client, Table: r.Table}
	ctx := t.Context()
	must := func(v pipeline.Version, err error) pipeline.Version {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for name, fates := range map[string][]fate{
		"failed": {fails}, "lost": {lost}, "failed, then lost": {fails, lost}, "lost, then failed": {lost, fails}, "lost twice": {lost, lost},
	} {
		t.Run(name, func(t *testing.T) {
			key := "run/" + strings.ReplaceAll(name, " ", "-")
			n.next(fates...)
			one := must(r.Put(ctx, key, []byte("one"), ""))
			n.next(fates...)
			two := must(r.Put(ctx, key, []byte("two"), one))
			if rec, err := other.Get(ctx, key); err != nil || string(rec.Value) != "two" || rec.Version != two {
				t.Errorf("%+v, %v; want version %s", rec, err, two)
			}
			n.next(fates...)
			must("", r.Delete(ctx, key, two))
			if rec, err := other.Get(ctx, key); err != nil || rec.Version != "" {
				t.Errorf("deleted, and there: %+v, %v", rec, err)
			}
			if len(n.seen) != len(fates)+1 {
				t.Errorf("%d requests, want %d", len(n.seen), len(fates)+1)
			}
		})
	}
	t.Run("somebody else was faster", func(t *testing.T) {
		const key = "run/race"
		n.next(fails)
		n.between = func() { must(other.Put(ctx, key, []byte("theirs"), "")) }
		if _, err := r.Put(ctx, key, []byte("ours"), ""); !errors.Is(err, pipeline.ErrConflict) {
			t.Errorf("first: %v", err)
		}
		rec, err := other.Get(ctx, key)
		must(rec.Version, err)
		n.next(fails)
		n.between = func() { must(other.Put(ctx, key, []byte("theirs again"), rec.Version)) }
		if err := r.Delete(ctx, key, rec.Version); !errors.Is(err, pipeline.ErrConflict) {
			t.Errorf("delete: %v", err)
		}
	})
	t.Run("it is never heard of", func(t *testing.T) {
		n.next(lost, lost, lost)
		_, err := r.Put(ctx, "run/never", nil, "")
		if err == nil || errors.Is(err, pipeline.ErrConflict) || strings.Count(err.Error(), "run/never") != 1 {
			t.Errorf("error: %v", err)
		}
	})
	if _, err := (Records{Client: other.Client, Table: "another"}).Get(ctx, "run/x"); err == nil || !strings.HasPrefix(err.Error(), "get record run/x: ") {
		t.Errorf("no table: %v", err)
	}
}

// TestArtifactsArrive holds that artifacts are complete, or there is an error, and that
// S3's 409, which no server here answers by itself, is a reason to try again.
func TestArtifactsArrive(t *testing.T) {
	t.Parallel()
	n := &network{}
	a := openArtifacts(t, statebackendtest.StartVersitygw(t), n)
	x := pipeline.Artifact{Key: "plan/x", Repo: "acme/infra", Number: 7, SHA: "0a0a"}
	content := strings.Repeat("a plan ", 1000)
	for _, fates := range [][]fate{nil, {fails}, {lost, fails}, {conflict}, {conflict, conflict, conflict, conflict, conflict}} {
		n.next(fates...)
		if err := a.Put(t.Context(), x, []byte(content)); err != nil {
			t.Errorf("put after %v: %v", fates, err)
		}
	}
	for _, fates := range [][]fate{nil, {fails}, {cut}, {cut, cut}, {flipped}, {fails, flipped, cut}} {
		n.next(fates...)
		if data, err := a.Get(t.Context(), x); err != nil || string(data) != content {
			t.Errorf("get after %v: %d bytes, %v", fates, len(data), err)
		}
	}
	n.next(cut, cut, cut)
	if data, err := a.Get(t.Context(), x); err == nil {
		t.Errorf("half of it: %d bytes", len(data))
	}
	n.next(conflict, conflict)
	if err := a.Delete(t.Context(), x); err != nil {
		t.Errorf("delete: %v", err)
	}
	n.next(conflict, conflict, conflict, conflict, conflict, conflict)
	if err := a.Put(t.Context(), x, nil); err == nil || !strings.Contains(err.Error(), "put artifact plan/x: ") || !strings.Contains(err.Error(), "ConditionalRequestConflict") {
		t.Errorf("conflicts for ever: %v", err)
	}
}

// TestEncryption holds that plans are encrypted under the key, for whom they belong to.
func TestEncryption(t *testing.T) {
	t.Parallel()
	n := &network{}
	a := openArtifacts(t, statebackendtest.StartVersitygw(t), n)
	n.next()
	if err := a.Put(t.Context(), pipeline.Artifact{Key: "plan/x", Repo: "acme/infra", Number: 7, SHA: "0a0a"}, []byte("secret")); err != nil {
		t.Fatal(err)
	}
	sent := n.seen[0]
	for name, want := range map[string]string{
		"X-Amz-Server-Side-Encryption": "aws:kms", "X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id": a.KeyID,
		"X-Amz-Checksum-Sha256": "K7gNU3sdo+OL0wNhqoVWhr3g6s1xYv72ol/pe/Unols=",
	} {
		if got := sent.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	encryption, err := base64.StdEncoding.DecodeString(sent.Get("X-Amz-Server-Side-Encryption-Context"))
	if err != nil || string(encryption) != `{"pull":"7","repository":"acme/infra","sha":"0a0a"}` {
		t.Errorf("context %s, %v", encryption, err)
	}
}

// TestSendsOnce holds that a message whose sending was not heard of is sent again, and
// comes once.
func TestSendsOnce(t *testing.T) {
	t.Parallel()
	client := lambdatest.SQS(lambdatest.StartQueues(t))
	url := lambdatest.MakeQueue(t, client, "events.fifo", nil).URL
	n := &network{}
	options := client.Options()
	options.HTTPClient, options.Retryer = &http.Client{Transport: n}, impatient()
	q := Queue{sqs.New(options), map[pipeline.QueueName]string{pipeline.Events: url}}
	m := pipeline.Message{ID: "72d3162e", Kind: pipeline.Pushed}
	n.next(fails, lost)
	if err := q.Send(t.Context(), m); err != nil || len(n.seen) != 3 {
		t.Errorf("%v, %d requests", err, len(n.seen))
	}
	for want := 1; want >= 0; want-- {
		out, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &url})
		if err != nil || len(out.Messages) != want {
			t.Fatalf("%d messages, %v", len(out.Messages), err)
		}
		for _, x := range out.Messages {
			if _, err := client.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: x.ReceiptHandle}); err != nil {
				t.Fatal(err)
			}
		}
	}
	m.Kind = pipeline.ToApply
	if err := q.Send(t.Context(), m); err == nil || !strings.Contains(err.Error(), "not to send to the queue applies") {
		t.Errorf("a queue that is not ours: %v", err)
	}
}
