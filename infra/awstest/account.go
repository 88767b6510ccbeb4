package awstest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// The account and the region of everything in the fake AWS account.
const (
	ID     = "111122223333"
	Region = "eu-central-1"
)

// An Account is a fake AWS account, in one region. Set its exported fields before the first request.
type Account struct {
	URL string
	// Foreign are the names of buckets that belong to other accounts.
	Foreign []string
	// HookURL is the output WebhookUrl of each stack.
	HookURL string

	mu        sync.Mutex
	refused   map[string]bool
	lost      map[string]bool
	actions   []string
	asked     []Request
	secrets   map[string]*secret
	buckets   map[string]*bucket
	stacks    map[string]*stack
	gone      map[string]*stack // by ID
	queues    map[string]map[string]string
	functions map[string]string // digests of code, by name
	roles     map[string]string // trust policies, by name
	fails     string            // the resource that the next change fails at
	reason    string
	clock     time.Duration // ahead of this machine's
}

// Start starts a fake AWS account. The account ends with the test.
func Start(t testing.TB) *Account {
	a := &Account{
		refused: map[string]bool{}, lost: map[string]bool{}, secrets: map[string]*secret{}, buckets: map[string]*bucket{},
		stacks: map[string]*stack{}, gone: map[string]*stack{}, queues: map[string]map[string]string{}, functions: map[string]string{}, roles: map[string]string{},
	}
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	a.URL = s.URL
	return a
}

// Config returns the SDK's configuration for the account. The SDK makes only one attempt at each request, so
// that a test sees a refusal or a lost answer. The one exception is a request on a connection that Go's
// client has just closed: the SDK repeats it.
func (a *Account) Config() aws.Config {
	return aws.Config{
		Region: Region, BaseEndpoint: &a.URL,
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.Retryables = []retry.IsErrorRetryable{retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
					return aws.BoolTernary(strings.Contains(err.Error(), "use of closed network connection"))
				})}
			})
		},
		Credentials: credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""),
	}
}

// Refuse makes the account refuse an action such as "cloudformation:CreateChangeSet", until [Account.Allow].
func (a *Account) Refuse(action string) { a.mu.Lock(); a.refused[action] = true; a.mu.Unlock() }

// Lose makes the account carry out the next request for an action, but lose the answer.
func (a *Account) Lose(action string) { a.mu.Lock(); a.lost[action] = true; a.mu.Unlock() }

// Allow ends all refusals.
func (a *Account) Allow() { a.mu.Lock(); clear(a.refused); clear(a.lost); a.mu.Unlock() }

// Actions returns all actions so far, in order, refused ones included.
func (a *Account) Actions() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.actions)
}

// A Request is an action on a resource, by its ARN.
type Request struct{ Action, Resource string }

// Requests returns all requests so far, in order. The list includes requests that another one caused:
// CloudFormation, for example, reads a template in the name of its caller.
func (a *Account) Requests() []Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

// A problem is AWS' refusal of a request.
type problem struct {
	status        int
	code, message string
}

func (p *problem) Error() string { return p.code + ": " + p.message }

func invalid(format string, args ...any) *problem {
	return &problem{http.StatusBadRequest, "ValidationError", fmt.Sprintf(format, args...)}
}

// may records a request for an action. It returns AWS' refusal if a test has called [Account.Refuse] for the
// action; nil otherwise.
func (a *Account) may(action, resource string) *problem {
	a.actions = append(a.actions, action)
	a.asked = append(a.asked, Request{action, resource})
	if a.refused[action] {
		return &problem{http.StatusForbidden, "AccessDenied", "User: arn:aws:sts::" + ID + ":assumed-role/admin/alice is not authorized to perform: " + action}
	}
	return nil
}

// drop reports whether the answer to an action is to be lost.
func (a *Account) drop(action string) bool {
	lost := a.lost[action]
	delete(a.lost, action)
	return lost
}

// hangUp ends a connection without an answer.
func hangUp(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		c.Close()
	}
}
