package awsstore

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

var (
	signer = credentials.NewStaticCredentialsProvider(statebackendtest.AccessKey, statebackendtest.SecretKey, "")
	// number makes names of tables, buckets and queues that tests do not share.
	number atomic.Int64
)

// impatient is the SDK's own retryer, with short pauses.
func impatient() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = 10 * time.Millisecond })
}

func openRecords(t *testing.T, url string, transport http.RoundTripper) Records {
	t.Helper()
	r := Records{Table: fmt.Sprintf("records%d", number.Add(1)), Client: dynamodb.New(dynamodb.Options{
		Region: lambdatest.Region, BaseEndpoint: &url, Credentials: signer, Retryer: impatient(), HTTPClient: &http.Client{Transport: transport},
	})}
	if _, err := r.Client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &r.Table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("Dir"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("Name"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("Dir"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("Name"), KeyType: types.KeyTypeRange},
		},
	}, func(o *dynamodb.Options) { o.RetryMaxAttempts = 10 }); err != nil { // all tests connect at once, and a busy server resets some
		t.Fatal(err)
	}
	return r
}

func openArtifacts(t *testing.T, url string, transport http.RoundTripper) Artifacts {
	t.Helper()
	a := Artifacts{
		Bucket: fmt.Sprintf("artifacts%d", number.Add(1)), KeyID: "arn:aws:kms:eu-central-1:111122223333:key/0a",
		Client: s3.New(s3.Options{
			Region: "us-east-1", BaseEndpoint: &url, Credentials: signer, Retryer: impatient(), UsePathStyle: true, HTTPClient: &http.Client{Transport: transport},
		}),
	}
	if _, err := a.Client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &a.Bucket}); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestRecords(t *testing.T) {
	t.Parallel()
	url := statebackendtest.StartDynoxide(t)
	lambdatest.TestRecords(t, func(t *testing.T) pipeline.Records { return openRecords(t, url, nil) })
}

func TestArtifacts(t *testing.T) {
	t.Parallel()
	url := statebackendtest.StartVersitygw(t)
	lambdatest.TestArtifacts(t, func(t *testing.T) pipeline.Artifacts { return openArtifacts(t, url, nil) })
}

func TestToken(t *testing.T) {
	long := strings.Repeat("x", 128)
	for text, plain := range map[string]bool{
		"72d3162e-cc78-11e3-81ab-4c9367dc0958": true, "5/7/a@b": true, long: true, "!~": true,
		long + "x": false, "": false, "a b": false, "ä": false, "a\n": false, "\x7f": false, "sha256:ab": false,
	} {
		got := token(text)
		if plain != (got == text) || len(got) > 128 || got == "" || strings.ContainsAny(got, " \näÄ\x7f") {
			t.Errorf("%q: %q", text, got)
		}
	}
	if token("sha256:"+strings.Repeat("0", 64)) == "sha256:"+strings.Repeat("0", 64) || token("a b") == token("a  b") {
		t.Error("two texts have one token")
	}
}

func TestChains(t *testing.T) {
	t.Parallel()
	url := statebackendtest.StartVersitygw(t)
	lambdatest.TestChains(t, func(t *testing.T) pipeline.Chains {
		a := openArtifacts(t, url, nil)
		return Chains{Client: a.Client, Bucket: a.Bucket}
	})
}

// TestChainsOfALostBucket holds that a bucket that is gone, or that may not be written, is told from one that is busy:
// no other attempt will succeed.
func TestChainsOfALostBucket(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]error{403: pipeline.ErrRefused, 404: pipeline.ErrRefused, 400: pipeline.ErrRefused, 412: pipeline.ErrConflict, 503: nil, 500: nil} {
		answer := roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
		})
		url := "http://127.0.0.1"
		c := Chains{Bucket: "audit", Client: s3.New(s3.Options{Region: "us-east-1", BaseEndpoint: &url, Credentials: signer, Retryer: impatient(), UsePathStyle: true, HTTPClient: &http.Client{Transport: answer}})}
		err := c.Add(t.Context(), "7/x@default", 1, []byte("x"))
		for _, kind := range []error{pipeline.ErrRefused, pipeline.ErrConflict} {
			if err == nil || errors.Is(err, kind) != (kind == want) {
				t.Errorf("status %d: %v, which is %v: %v", status, err, kind, errors.Is(err, kind))
			}
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
