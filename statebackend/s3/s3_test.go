package s3

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// configurations are the combinations of locks that a backend block can ask for,
// with the kinds that are held then.
var configurations = []struct {
	name       string
	attributes map[string]any
	kinds      []statebackend.LockKind
}{
	{"none", nil, []statebackend.LockKind{statebackend.ObjectLock}},
	{"dynamodb_table", map[string]any{"dynamodb_table": "locks"}, []statebackend.LockKind{statebackend.ObjectLock, statebackend.TableLock}},
	{"use_lockfile", map[string]any{"use_lockfile": true}, []statebackend.LockKind{statebackend.ObjectLock}},
	{"both", map[string]any{"dynamodb_table": "locks", "use_lockfile": true}, []statebackend.LockKind{statebackend.ObjectLock, statebackend.TableLock}},
}

// servers are the endpoints of S3 and DynamoDB.
type servers struct{ s3, dynamodb string }

func fakeServers(t *testing.T) (servers, *statebackendtest.S3, *statebackendtest.DynamoDB) {
	s3, dynamodb := new(statebackendtest.S3).Start(t), new(statebackendtest.DynamoDB).Start(t)
	return servers{s3.URL, dynamodb.URL}, s3, dynamodb
}

// places counts the corners of the servers that tests have for themselves.
var places atomic.Int64

// attributes are a backend block for a place of its own on the servers, and
// what more is wanted.
func (s servers) attributes(more ...map[string]any) map[string]any {
	place := places.Add(1)
	block := map[string]any{
		"bucket":                      "states",
		"key":                         fmt.Sprintf("place%d/terraform.tfstate", place),
		"workspace_key_prefix":        fmt.Sprintf("place%d/env:", place),
		"region":                      "us-east-1",
		"access_key":                  statebackendtest.AccessKey,
		"secret_key":                  statebackendtest.SecretKey,
		"endpoints":                   map[string]any{"s3": s.s3, "dynamodb": s.dynamodb},
		"use_path_style":              true,
		"skip_credentials_validation": true,
		"skip_requesting_account_id":  true,
		"skip_metadata_api_check":     true,
	}
	for _, m := range more {
		maps.Copy(block, m)
	}
	return block
}

// open opens a backend, and is impatient about digests and repeated requests.
func open(t *testing.T, attributes map[string]any, options Options) *Backend {
	t.Helper()
	b, err := Open(t.Context(), attributes, options)
	if err != nil {
		t.Fatal(err)
	}
	b.patience = patience{pause: 10 * time.Millisecond, limit: 100 * time.Millisecond}
	s3 := b.objects.client.Options()
	s3.Retryer = retry.AddWithMaxBackoffDelay(s3.Retryer, time.Millisecond)
	b.objects.client = awss3.New(s3)
	dynamodb := b.items.Client.(*awsdynamodb.Client).Options()
	dynamodb.Retryer = retry.AddWithMaxBackoffDelay(dynamodb.Retryer, time.Millisecond)
	b.items.Client = awsdynamodb.New(dynamodb)
	return b
}

func TestConformance(t *testing.T) {
	t.Parallel()
	s, _, _ := fakeServers(t)
	conformance(t, s, false)
}

// TestConformanceOfAmazon is the same on a server whose conditions are relied on.
func TestConformanceOfAmazon(t *testing.T) {
	t.Parallel()
	s, _, _ := fakeServers(t)
	conformance(t, s, true)
}

func TestConformanceOfRandomTags(t *testing.T) {
	t.Parallel()
	s3 := (&statebackendtest.S3{RandomTags: true, NoConditionalDelete: true}).Start(t)
	conformance(t, servers{s3.URL, new(statebackendtest.DynamoDB).Start(t).URL}, false, "both")
	conformance(t, servers{s3.URL, new(statebackendtest.DynamoDB).Start(t).URL}, true, "use_lockfile")
}

func TestConformanceOnRealServers(t *testing.T) {
	t.Parallel()
	conformance(t, servers{statebackendtest.StartVersitygw(t), statebackendtest.StartDynoxide(t)}, false)
}

// TestConformanceOnDynalite is the second opinion on locks and leases in a table, of a DynamoDB server by
// other people: a condition that one of them gets wrong is not hidden by our own fake.
func TestConformanceOnDynalite(t *testing.T) {
	t.Parallel()
	conformance(t, servers{statebackendtest.StartVersitygw(t), statebackendtest.StartDynalite(t)}, false, "dynamodb_table", "both")
}

// conformance runs the suite for all configurations, or for those named.
func conformance(t *testing.T, s servers, amazon bool, names ...string) {
	for _, c := range configurations {
		if len(names) > 0 && !slices.Contains(names, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			statebackendtest.Run(t, statebackendtest.Suite{
				Open: func(t *testing.T) statebackend.Backend {
					b := open(t, s.attributes(c.attributes), Options{})
					b.objects.amazon = amazon
					b.patience.limit = 10 * time.Second // the suite reads beside a busy writer
					return b
				},
				Kinds:  c.kinds,
				Leases: true,
			})
		})
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, c := range configurations {
		t.Run(c.name, func(t *testing.T) {
			statebackendtest.RunFaults(t, func(t *testing.T, faults *statebackendtest.Faults) statebackend.Backend {
				s3 := (&statebackendtest.S3{Faults: faults}).Start(t)
				dynamodb := (&statebackendtest.DynamoDB{Faults: faults}).Start(t)
				return open(t, servers{s3.URL, dynamodb.URL}.attributes(c.attributes, map[string]any{"max_retries": 0}), Options{})
			})
		})
	}
}

func TestEchoes(t *testing.T) {
	t.Parallel()
	statebackendtest.RunEchoes(t, func(t *testing.T, faults *statebackendtest.Faults) statebackend.Backend {
		s3 := (&statebackendtest.S3{Faults: faults}).Start(t)
		dynamodb := (&statebackendtest.DynamoDB{Faults: faults}).Start(t)
		return open(t, servers{s3.URL, dynamodb.URL}.attributes(map[string]any{"dynamodb_table": "locks", "max_retries": 2}), Options{})
	})
}

func TestLeaseFaults(t *testing.T) {
	t.Parallel()
	for _, c := range configurations[:2] { // use_lockfile changes nothing here
		for _, amazon := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, amazon %t", c.name, amazon), func(t *testing.T) {
				statebackendtest.RunLeaseFaults(t, func(t *testing.T, faults *statebackendtest.Faults) statebackend.Backend {
					s3 := (&statebackendtest.S3{Faults: faults}).Start(t)
					dynamodb := (&statebackendtest.DynamoDB{Faults: faults}).Start(t)
					b := open(t, servers{s3.URL, dynamodb.URL}.attributes(c.attributes, map[string]any{"max_retries": 0}), Options{})
					b.objects.amazon = amazon
					return b
				})
			})
		}
	}
}
