package buckets

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/config/source/getting"
	"github.com/lockstep-iac/lockstep/engine/config/source/sourcetest"
	"github.com/lockstep-iac/lockstep/engine/hosts"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

func TestParseObject(t *testing.T) {
	for text, want := range map[string]Object{
		"https://s3.amazonaws.com/b/a/k.zip":                        {Region: "us-east-1", Bucket: "b", key: "a/k.zip"},
		"https://s3-eu-west-1.amazonaws.com/b/k.zip?version=v":      {Region: "eu-west-1", Bucket: "b", key: "k.zip", version: "v"},
		"https://s3.eu-central-1.amazonaws.com/b/k.zip":             {Region: "eu-central-1", Bucket: "b", key: "k.zip"},
		"https://b.s3-eu-west-1.amazonaws.com/k.zip":                {Region: "eu-west-1", Bucket: "b", key: "k.zip"},
		"https://b.s3.eu-west-1.amazonaws.com/a/k.zip":              {Region: "eu-west-1", Bucket: "b", key: "a/k.zip"},
		"https://b.with.dots.s3.eu-west-1.amazonaws.com/k.zip":      {Region: "eu-west-1", Bucket: "b.with.dots", key: "k.zip"},
		"https://s3.cn-north-1.amazonaws.com.cn/b/k.zip":            {Region: "cn-north-1", Bucket: "b", key: "k.zip"},
		"https://minio.example.com:9000/b/a/k.zip":                  {Region: "us-east-1", Bucket: "b", key: "a/k.zip", Endpoint: "https://minio.example.com:9000"},
		"https://minio.example.com/b/k?region=eu-west-1&version=1v": {Region: "eu-west-1", Bucket: "b", key: "k", version: "1v", Endpoint: "https://minio.example.com"},
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseObject(u)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Object{})); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"https://s3.amazonaws.com/b", "https://ec2.eu-west-1.amazonaws.com/b/k", "https://s3.amazonaws.com/"} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if o, err := parseObject(u); err == nil {
			t.Errorf("%s: %+v, want an error", text, o)
		}
	}
}

// TestS3 fetches an archive, a version of it, and a prefix from a real server.
func TestS3(t *testing.T) {
	endpoint := statebackendtest.StartVersitygw(t)
	client := awss3.New(awss3.Options{
		BaseEndpoint: &endpoint, UsePathStyle: true, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider(statebackendtest.AccessKey, statebackendtest.SecretKey, ""),
	})
	bucket := "modules"
	if _, err := client.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: &bucket}); err != nil {
		t.Fatal(err)
	}
	put := func(key string, data []byte) {
		t.Helper()
		if _, err := client.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: &bucket, Key: aws.String(key), Body: bytes.NewReader(data)}); err != nil {
			t.Fatal(err)
		}
	}
	put("net.zip", sourcetest.Zip(t, map[string]string{"main.tf": "# zip"}))
	put("net/main.tf", []byte("# prefix"))
	put("net/sub/x.tf", []byte("# deep"))
	put("network/other.tf", nil)
	static := func(_ context.Context, o Object, q url.Values) (aws.Config, error) {
		id, secret := "other", "wrong"
		if q.Get("whose") == "ours" {
			id, secret = statebackendtest.AccessKey, statebackendtest.SecretKey
		}
		return aws.Config{Region: o.Region, Credentials: credentials.NewStaticCredentialsProvider(id, secret, "")}, nil
	}
	access := "?whose=ours"
	base := "s3::" + endpoint + "/modules/"
	policy := hosts.Policy{HTTP: true}
	fetch := func(address string, limits getting.Limits) (string, error) {
		dir := filepath.Join(t.TempDir(), "package")
		g := &getting.Getters{Policy: policy, Limits: limits, More: []getting.Getter{Getter{policy, limits, static}}}
		return dir, g.Fetch(t.Context(), address, dir)
	}
	for address, want := range map[string]map[string]string{
		base + "net.zip" + access: {"main.tf": "# zip"},
		base + "net" + access:     {"main.tf": "# prefix", "sub/x.tf": "# deep"},
	} {
		dir, err := fetch(address, getting.DefaultLimits)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		for name, content := range want {
			if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != content {
				t.Errorf("%s: %s has %q, %v", address, name, got, err)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "other.tf")); err == nil {
			t.Errorf("%s: what only begins the same came, too", address)
		}
	}
	small := getting.Limits{Files: 1, Bytes: 10, Archive: 20}
	for address, want := range map[string]string{
		base + "none.zip" + access:                             "S3 refuses none.zip in bucket modules: NoSuchKey",
		base + "none" + access:                                 "bucket modules has no object none, and none below it",
		base + "net.zip":                                       "S3 refuses net.zip in bucket modules: ",
		base + "net" + access:                                  "more than 1 objects",
		base + "net.zip" + access:                              "has more than 20 bytes",
		"s3::http://169.254.169.254/latest/meta-data" + access: "no connection is made to the address",
	} {
		_, err := fetch(address, small)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}
