package s3

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// TestSettings is a table of blocks, and of the SDK's settings that are then others than those
// of a block without more.
func TestSettings(t *testing.T) {
	clean(t)
	home := os.Getenv("HOME")
	plain := settingsOf(t, "")
	if got := strings.Join(plain, " "); !strings.Contains(got, "attempts=6 ") || !strings.Contains(got, "s3.endpoint=none ") {
		t.Errorf("without more: %s", got)
	}
	for _, test := range []struct{ json, want string }{
		{`"max_retries":2`, "attempts=3 s3.attempts=3 dynamodb.attempts=3"},
		{`"max_retries":0`, "attempts=1 s3.attempts=1 dynamodb.attempts=1"},
		{`"retry_mode":"adaptive"`, "mode=adaptive"},
		{`"profile":"p"`, "profile=p"},
		{`"shared_config_files":["~/c","/d"]`, "config=[" + home + "/c /d]"},
		{`"shared_credentials_files":["~c"]`, "credentials=[~c]"},
		{`"skip_metadata_api_check":true`, "imds=ClientDisabled"},
		{`"skip_metadata_api_check":false`, "imds=ClientEnabled"},
		{`"ec2_metadata_service_endpoint_mode":"IPv4"`, "imds.mode=IPv4"},
		{`"ec2_metadata_service_endpoint_mode":"IPv6"`, "imds.mode=IPv6"},
		{`"use_fips_endpoint":true`, "fips=FIPSEndpointStateEnabled"},
		{`"use_fips_endpoint":false`, ""},
		{`"use_dualstack_endpoint":true`, "dualstack=DualStackEndpointStateEnabled"},
		{`"use_dualstack_endpoint":false`, ""},
		{`"use_path_style":true`, "s3.path=true"},
		{`"force_path_style":true`, "s3.path=true"},
		{`"use_path_style":false`, ""},
		{`"skip_s3_checksum":true`, "s3.request=WhenRequired s3.response=WhenRequired"},
		{`"endpoint":"http://a"`, "s3.endpoint=http://a"},
		{`"endpoints":{"s3":"http://a"}`, "s3.endpoint=http://a"},
		{`"dynamodb_endpoint":"http://b"`, "dynamodb.endpoint=http://b"},
		{`"endpoints":{"dynamodb":"http://b"}`, "dynamodb.endpoint=http://b"},
		{`"sts_endpoint":"http://c","sts_region":"eu-north-1"`, "sts.endpoint=http://c sts.region=eu-north-1"},
		{`"http_proxy":"http://p:1"`, "proxy.http=http://p:1 proxy.https=http://p:1"},
		{`"https_proxy":"http://q:2"`, "proxy.https=http://q:2"},
		{`"http_proxy":"http://p:1","https_proxy":"http://q:2"`, "proxy.http=http://p:1 proxy.https=http://q:2"},
		{`"http_proxy":"http://p:1","no_proxy":"aws.example"`, ""},
		{`"insecure":true`, "insecure=true"},
	} {
		var got []string
		for i, setting := range settingsOf(t, test.json) {
			if setting != plain[i] {
				got = append(got, setting)
			}
		}
		if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", test.json, diff)
		}
	}
}

// settingsOf returns all settings of a block, each as NAME=VALUE.
// TestSDK holds that clients of other services get region and credentials of the attributes, whatever
// bucket these have, and an error without credentials.
func TestSDK(t *testing.T) {
	clean(t)
	attributes := map[string]any{
		"region": "eu-north-1", "access_key": "OURS", "secret_key": "s", "skip_credentials_validation": true, "skip_requesting_account_id": true, "skip_metadata_api_check": true,
	}
	for _, bucket := range []any{nil, "b"} {
		if bucket != nil {
			attributes["bucket"] = bucket
		}
		sdk, err := SDK(t.Context(), attributes, nil)
		if err != nil || sdk.Region != "eu-north-1" {
			t.Fatalf("region %q (%v)", sdk.Region, err)
		}
		if who, err := sdk.Credentials.Retrieve(t.Context()); err != nil || who.AccessKeyID != "OURS" {
			t.Errorf("credentials of %q (%v)", who.AccessKeyID, err)
		}
	}
	if attributes["bucket"] != "b" || attributes["key"] != nil {
		t.Errorf("the attributes are others now: %v", attributes)
	}
	if _, err := SDK(t.Context(), nil, nil); err == nil || !strings.Contains(err.Error(), "AWS_DEFAULT_REGION") {
		t.Errorf("without a region: %v", err)
	}
	delete(attributes, "access_key")
	delete(attributes, "secret_key")
	if _, err := SDK(t.Context(), attributes, nil); !errors.Is(err, ErrNoCredentials) {
		t.Errorf("without credentials: %v", err)
	}
}

func settingsOf(t *testing.T, json string) []string {
	t.Helper()
	c, err := Decode(block(json))
	if err != nil {
		t.Fatalf("%s: %v", json, err)
	}
	var load config.LoadOptions
	for _, option := range c.sources() {
		if err := option(&load); err != nil {
			t.Fatal(err)
		}
	}
	c.Profile, c.SharedConfigFiles, c.SharedCredentialsFiles, c.SkipCredentialsValidation = "", nil, nil, true
	made, err := c.connect(t.Context(), Options{Credentials: credentials.NewStaticCredentialsProvider("OURS", "s", "")})
	if err != nil {
		t.Fatalf("%s: %v", json, err)
	}
	s3, dynamodb, sts := made.s3.Options(), made.dynamodb.Options(), c.sts(aws.Config{Region: c.Region}).Options()
	if who, err := s3.Credentials.Retrieve(t.Context()); err != nil || who.AccessKeyID != "OURS" {
		t.Errorf("%s: credentials %v, %v, not those of the options", json, who.AccessKeyID, err)
	}
	client, err := c.httpClient()
	if err != nil {
		t.Fatal(err)
	}
	transport := client.GetTransport()
	proxy := func(scheme string) string {
		r, err := http.NewRequest(http.MethodGet, scheme+"://aws.example", nil)
		if err != nil {
			t.Fatal(err)
		}
		u, err := transport.Proxy(r)
		if err != nil || u == nil {
			return ""
		}
		return u.String()
	}
	var out []string
	for _, s := range []struct {
		name  string
		value any
	}{
		{"attempts", load.RetryMaxAttempts}, {"mode", load.RetryMode}, {"profile", load.SharedConfigProfile},
		{"config", load.SharedConfigFiles}, {"credentials", load.SharedCredentialsFiles},
		{"imds", [...]string{"Default", "ClientDisabled", "ClientEnabled"}[load.EC2IMDSClientEnableState]},
		{"imds.mode", [...]string{"", "IPv4", "IPv6"}[load.EC2IMDSEndpointMode]},
		{"fips", [...]string{"", "FIPSEndpointStateEnabled", "FIPSEndpointStateDisabled"}[load.UseFIPSEndpoint]},
		{"dualstack", [...]string{"", "DualStackEndpointStateEnabled", "DualStackEndpointStateDisabled"}[load.UseDualStackEndpoint]},
		{"s3.endpoint", text(s3.BaseEndpoint)}, {"s3.path", s3.UsePathStyle}, {"s3.attempts", s3.Retryer.MaxAttempts()},
		{"s3.request", map[bool]string{true: "WhenRequired"}[s3.RequestChecksumCalculation == aws.RequestChecksumCalculationWhenRequired]},
		{"s3.response", map[bool]string{true: "WhenRequired"}[s3.ResponseChecksumValidation == aws.ResponseChecksumValidationWhenRequired]},
		{"dynamodb.endpoint", text(dynamodb.BaseEndpoint)}, {"dynamodb.attempts", dynamodb.Retryer.MaxAttempts()},
		{"sts.endpoint", text(sts.BaseEndpoint)}, {"sts.region", sts.Region},
		{"proxy.http", proxy("http")}, {"proxy.https", proxy("https")},
		{"insecure", transport.TLSClientConfig.InsecureSkipVerify},
	} {
		out = append(out, fmt.Sprintf("%s=%v", s.name, s.value))
	}
	return out
}

// text shows an optional text.
func text(s *string) string {
	if s == nil {
		return "none"
	}
	return *s
}

// TestSpecialAttributes lists the attributes that are required, secret or deprecated.
func TestSpecialAttributes(t *testing.T) {
	const want = `access_key secret
assume_role.role_arn required
assume_role_with_web_identity.role_arn required
assume_role_with_web_identity.web_identity_token secret
bucket required
dynamodb_endpoint -> endpoints.dynamodb
endpoint -> endpoints.s3
force_path_style -> use_path_style
iam_endpoint -> endpoints.iam
key required
secret_key secret
shared_credentials_file -> shared_credentials_files
sse_customer_key secret
sts_endpoint -> endpoints.sts
token secret
`
	var got strings.Builder
	var list func(prefix string, attributes []statebackend.Attribute)
	list = func(prefix string, attributes []statebackend.Attribute) {
		for _, a := range attributes {
			switch {
			case a.Required:
				fmt.Fprintf(&got, "%s%s required\n", prefix, a.Name)
			case a.Secret:
				fmt.Fprintf(&got, "%s%s secret\n", prefix, a.Name)
			case a.ReplacedBy != "":
				fmt.Fprintf(&got, "%s%s -> %s\n", prefix, a.Name, a.ReplacedBy)
			}
			list(prefix+a.Name+".", a.Attributes)
		}
	}
	list("", Attributes)
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}

// TestCertificates holds that a bundle is read from the user's directory, and must have a
// certificate.
func TestCertificates(t *testing.T) {
	clean(t)
	home := os.Getenv("HOME")
	if err := os.WriteFile(filepath.Join(home, "bundle"), []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"~/bundle":  "custom_ca_bundle: ~/bundle holds no certificate",
		"~/missing": "custom_ca_bundle: open " + home + "/missing: no such file or directory",
	} {
		if _, err := (&Config{CustomCABundle: path}).certificates(); err == nil || err.Error() != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	if pool, err := (&Config{}).certificates(); pool != nil || err != nil {
		t.Errorf("without a bundle: %v, %v", pool, err)
	}
}
