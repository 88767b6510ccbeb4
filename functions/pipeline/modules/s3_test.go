package modules

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/config/source/sourcetest"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// TestBuckets installs modules of a bucket with the credentials of the project's providers, from a real server: an archive,
// and the files below a prefix. Without them, or with others, the answer has the reason and the remedy.
func TestBuckets(t *testing.T) {
	endpoint := statebackendtest.StartVersitygw(t)
	t.Setenv("AWS_ENDPOINT_URL_S3", endpoint)
	// The function's own are never used.
	t.Setenv("AWS_ACCESS_KEY_ID", statebackendtest.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", statebackendtest.SecretKey)
	client := s3.New(s3.Options{
		BaseEndpoint: &endpoint, UsePathStyle: true, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider(statebackendtest.AccessKey, statebackendtest.SecretKey, ""),
	})
	for _, bucket := range []string{"acme-modules", "acme-states"} {
		if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &bucket}); err != nil {
			t.Fatal(err)
		}
		for key, data := range map[string][]byte{"net.zip": sourcetest.Zip(t, map[string]string{"main.tf": "# zip"}), "net/main.tf": []byte("# prefix")} {
			if _, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: aws.String(key), Body: bytes.NewReader(data)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	ours := []string{"AWS_ACCESS_KEY_ID=" + statebackendtest.AccessKey, "AWS_SECRET_ACCESS_KEY=" + statebackendtest.SecretKey, "TF_VAR_x=y"}
	granted := func(name string) error {
		if name != "acme-modules" {
			return fmt.Errorf("the base branch does not allow modules from the bucket %s", name)
		}
		return nil
	}
	for _, test := range []struct {
		source string
		env    []string
		err    error
		want   string // the module's text, or words of the error
	}{
		{"s3::https://s3.us-east-1.amazonaws.com/acme-modules/net.zip", ours, nil, "# zip"},
		{"s3::https://acme-modules.s3.us-east-1.amazonaws.com/net", ours, nil, "# prefix"},
		{"s3::https://s3.us-east-1.amazonaws.com/acme-modules/none.zip", ours, nil, "S3 refuses none.zip in bucket acme-modules: NoSuchKey"},
		{"s3::https://s3.us-east-1.amazonaws.com/acme-states/net.zip", ours, nil, "does not allow modules from the bucket acme-states"},
		{"s3::https://s3.us-east-1.amazonaws.com/acme-modules/net.zip", nil, nil, "there are no AWS credentials to read the bucket acme-modules with"},
		{"s3::https://s3.us-east-1.amazonaws.com/acme-modules/net.zip", []string{"AWS_ACCESS_KEY_ID=other", "AWS_SECRET_ACCESS_KEY=wrong"}, nil, "S3 refuses net.zip in bucket acme-modules"},
		{"s3::https://s3.us-east-1.amazonaws.com/acme-modules/net.zip", nil, errors.New("the role cannot be assumed"), "the role cannot be assumed"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "main.tf"), fmt.Appendf(nil, "module \"m\" {\n  source = %q\n}\n", test.source), 0o644); err != nil {
			t.Fatal(err)
		}
		_, ds := Pipeline(dir, source.Dir(dir), PipelineOptions{
			Host:   func(name string) error { return fmt.Errorf("the host %s is not among those that may be asked", name) },
			Bucket: Bucket{granted, func(context.Context) ([]string, error) { return test.env, test.err }},
		}).Install(t.Context())
		got := strings.Join(strings.Fields(ds.Error()), " ")
		if text, err := os.ReadFile(filepath.Join(dir, ".terraform/modules/m/main.tf")); err == nil {
			got = string(text)
		}
		if !strings.Contains(got, test.want) || strings.Contains(got, statebackendtest.SecretKey) {
			t.Errorf("%s with %q: %s, want %q", test.source, test.env, got, test.want)
		}
	}
}
