// Package metering counts, in the requests of the end-to-end tests, the units that AWS charges for.
//
// The package does not know prices (package pricing has them) or servers. Start reading at [Meter].
package metering

import (
	"io"
	"maps"
	"sync"

	"github.com/lockstep-iac/lockstep/functions/pricing"
)

// A Meter counts the units that AWS charges for. It is safe for concurrent use.
type Meter struct {
	mu      sync.Mutex
	counts  map[pricing.Kind]float64
	items   map[string]float64 // bytes by item
	objects map[string]float64 // bytes by object
}

// A Call is a request to AWS with its answer.
type Call struct {
	Service      string // "s3", "dynamodb", "sqs", "kms" or "account"
	Action       string // IAM's name
	Resource     string // of an object, its ARN
	Body, Answer []byte // of DynamoDB; other services set only Body
	Size         int64  // of the body
	Refused      bool
	Keys         int // the number of requests to KMS that the call causes
}

// Count adds the units that AWS charges for a call.
func (m *Meter) Count(c Call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.add(pricing.KMSRequest, float64(c.Keys))
	switch c.Service {
	case "dynamodb":
		m.dynamodb(c)
	case "s3":
		m.s3(c)
	case "sqs":
		m.add(pricing.SQSRequest, chunks(c.Size))
	case "kms":
		m.add(pricing.KMSRequest, 1)
	case "account":
		// Secrets Manager uses KMS to decrypt its secrets.
		// Source: https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html
		if c.Action == "secretsmanager:GetSecretValue" {
			m.add(pricing.SecretRequest, 1)
			m.add(pricing.KMSRequest, 1)
		}
	}
}

// Taken counts a batch of messages that an event source mapping has received and deleted. bytes is the size of
// the whole batch.
func (m *Meter) Taken(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.add(pricing.SQSRequest, chunks(bytes)+1)
}

// chunks returns how many requests SQS charges for one request with a body of the given size in bytes.
// Source: https://aws.amazon.com/sqs/pricing/
func chunks(bytes int64) float64 { return units(float64(bytes), 64<<10) }

// add counts n units of a kind. The caller has locked the mutex.
func (m *Meter) add(k pricing.Kind, n float64) {
	if n == 0 {
		return
	}
	if m.counts == nil {
		m.counts = map[pricing.Kind]float64{}
	}
	m.counts[k] += n
}

// Take returns the units, by kind, that were counted since Take was last called.
func (m *Meter) Take() map[pricing.Kind]float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := maps.Clone(m.counts)
	m.counts = nil
	return out
}

// Log returns a writer for a CloudWatch log. It counts the bytes and passes them on to w, which may be nil.
func (m *Meter) Log(w io.Writer) io.Writer { return logged{m, w} }

type logged struct {
	m *Meter
	w io.Writer
}

func (l logged) Write(p []byte) (int, error) {
	l.m.mu.Lock()
	l.m.add(pricing.LogByte, float64(len(p)))
	l.m.mu.Unlock()
	if l.w == nil {
		return len(p), nil
	}
	return l.w.Write(p)
}
