package github

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// Headers of a webhook request.
// Source: https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers
const (
	EventHeader     = "X-GitHub-Event"
	DeliveryHeader  = "X-GitHub-Delivery"
	SignatureHeader = "X-Hub-Signature-256"
)

// MaxPayload is the size of the largest webhook that is accepted, in bytes. It is the largest request that a
// Lambda function URL accepts. GitHub's own limit is 25 MB, but the events that Lockstep needs are smaller.
// Sources: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html, https://docs.github.com/en/webhooks/webhook-events-and-payloads#payload-cap
const MaxPayload = 6 << 20

// The reasons to refuse a webhook before its content is read.
var (
	// ErrSignature reports that the webhook's sender does not know the secret.
	ErrSignature = errors.New("the webhook's signature is not right")
	// ErrTooLarge reports that the webhook is larger than MaxPayload.
	ErrTooLarge = fmt.Errorf("the webhook is larger than %d MB: the App should not be subscribed to such events", MaxPayload>>20)
)

// A Delivery is a webhook that was proven to come from GitHub.
type Delivery struct {
	// ID is the delivery's GUID, which stays the same when GitHub delivers again. Neither the GUID nor the
	// event's name is signed: an eavesdropper can send a webhook again under another GUID.
	ID string
	// Digest identifies the body, the only part that is signed; see payloadDigest.
	Digest string
	Event  Event
}

// ReadPayload reads a webhook's body; the error is ErrTooLarge if it is too large.
func ReadPayload(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, MaxPayload+1))
	if err != nil {
		return nil, fmt.Errorf("read webhook: %w", err)
	}
	if len(body) > MaxPayload {
		return nil, ErrTooLarge
	}
	return body, nil
}

// ReadDelivery checks a webhook's signature and decodes the webhook. The signature must match one of the
// secrets (there are two while a secret is being replaced). The error is ErrSignature, or describes what is
// wrong with the content without quoting it.
func ReadDelivery(h http.Header, body []byte, secrets ...Secret) (Delivery, error) {
	if !signedByOne(h.Get(SignatureHeader), body, secrets) {
		return Delivery{}, ErrSignature
	}
	return newDelivery(h.Get(DeliveryHeader), h.Get(EventHeader), body)
}

func newDelivery(id, event string, payload []byte) (Delivery, error) {
	d := Delivery{ID: id, Digest: payloadDigest(payload)}
	if !guidPattern().MatchString(id) {
		return Delivery{}, fmt.Errorf("the webhook has no proper %s header", DeliveryHeader)
	}
	var err error
	d.Event, err = decode(event, payload)
	return d, err
}

var guidPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Fa-f-]{8,64}$`) })

// signedByOne reports whether one of the secrets made the signature. It compares with all of them, in constant
// time.
func signedByOne(signature string, body []byte, secrets []Secret) bool {
	text, ok := strings.CutPrefix(signature, "sha256=")
	given, err := hex.DecodeString(text)
	if !ok || err != nil {
		return false
	}
	found := false
	for _, s := range secrets {
		if !s.IsEmpty() && hmac.Equal(given, sum(s, body)) {
			found = true
		}
	}
	return found
}

func sum(s Secret, body []byte) []byte {
	m := hmac.New(sha256.New, []byte(s.reveal()))
	m.Write(body)
	return m.Sum(nil)
}

// Sign returns the value of [SignatureHeader] for a body, as GitHub computes it.
func Sign(s Secret, body []byte) string { return "sha256=" + hex.EncodeToString(sum(s, body)) }
