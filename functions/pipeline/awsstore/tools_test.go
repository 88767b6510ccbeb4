package awsstore

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// TestToolIsStoredAgain holds that a wrong file in the toolbox can be replaced: a machine that has downloaded it does not
// keep it.
func TestToolIsStoredAgain(t *testing.T) {
	t.Parallel()
	body, requests := "wrong", 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	box := Tools{Client: s3.New(s3.Options{Region: "eu-central-1", BaseEndpoint: aws.String(server.URL), UsePathStyle: true}), Bucket: "tools", Dir: t.TempDir()}
	sum := sha256.Sum256([]byte("right"))
	for i, c := range []struct {
		stored, want string
		requests     int
	}{{"wrong", "wrong", 1}, {"wrong", "wrong", 2}, {"right", "right", 3}, {"wrong", "right", 3}} {
		body = c.stored
		path, ok, err := box.Path(t.Context(), hex.EncodeToString(sum[:]))
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != c.want || requests != c.requests {
			t.Errorf("%d: %q after %d requests, %v", i, got, requests, err)
		}
	}
}
