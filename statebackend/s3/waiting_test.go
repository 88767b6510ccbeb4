package s3

import (
	"errors"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/retry"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// TestWaitingIsNoted holds that a request which is repeated is noted once, with the cause and
// without the SDK's account of its attempts.
func TestWaitingIsNoted(t *testing.T) {
	t.Parallel()
	var notes []string
	r := patiently(retry.NewStandard(), "S3", func(s string) { notes = append(notes, s) })
	long := errors.Join(errors.New("operation error S3"), &net.OpError{Op: "dial", Err: errors.New("refused")})
	for attempt := 1; attempt <= 4; attempt++ {
		if _, err := r.RetryDelay(attempt, long); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"S3 does not answer as it should, and is asked again: dial: refused"}; !slices.Equal(notes, want) {
		t.Errorf("%q, want %q", notes, want)
	}
	if plain := retry.NewStandard(); patiently(plain, "S3", nil) != plain {
		t.Error("without somebody to tell, the retryer is another one")
	}
}

// TestListOfNoBucket holds that workspaces which cannot be listed are an error, unless it is for
// a missing permission.
func TestListOfNoBucket(t *testing.T) {
	t.Parallel()
	p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB), map[string]any{"bucket": "missing"})
	if names, err := p.backend.Workspaces(t.Context()); !errors.Is(err, ErrNoBucket) {
		t.Errorf("Workspaces: %q, %v", names, err)
	}
	if err := p.backend.List(t.Context()); !errors.Is(err, ErrNoBucket) || !strings.Contains(err.Error(), `"missing"`) {
		t.Errorf("List: %v", err)
	}
}
