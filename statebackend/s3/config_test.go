package s3

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// What `terraform init` of 1.11.4 writes to .terraform/terraform.tfstate for an
// s3 backend has exactly these members.
const stockAttributes = `access_key acl allowed_account_ids assume_role assume_role_with_web_identity bucket custom_ca_bundle
	dynamodb_endpoint dynamodb_table ec2_metadata_service_endpoint ec2_metadata_service_endpoint_mode encrypt endpoint endpoints
	forbidden_account_ids force_path_style http_proxy https_proxy iam_endpoint insecure key kms_key_id max_retries no_proxy profile
	region retry_mode secret_key shared_config_files shared_credentials_file shared_credentials_files skip_credentials_validation
	skip_metadata_api_check skip_region_validation skip_requesting_account_id skip_s3_checksum sse_customer_key sts_endpoint
	sts_region token use_dualstack_endpoint use_fips_endpoint use_lockfile use_path_style workspace_key_prefix`

func TestAttributesAreTheStockOnes(t *testing.T) {
	var names []string
	for _, a := range Attributes {
		if !a.Foreign {
			names = append(names, a.Name)
		}
	}
	if diff := cmp.Diff(strings.Fields(stockAttributes), names); diff != "" {
		t.Error(diff)
	}
}

// The table and the struct say the same.
func TestAttributesAreConfig(t *testing.T) {
	compareAttributes(t, Attributes, reflect.TypeFor[Config]())
}

func compareAttributes(t *testing.T, attributes []statebackend.Attribute, config reflect.Type) {
	t.Helper()
	fields := make(map[string]reflect.Type)
	for _, f := range reflect.VisibleFields(config) {
		fields[f.Tag.Get("json")] = f.Type
	}
	kinds := map[statebackend.AttributeType]reflect.Kind{
		statebackend.String: reflect.String, statebackend.Bool: reflect.Bool, statebackend.Int: reflect.Int,
		statebackend.StringSet: reflect.Slice, statebackend.StringMap: reflect.Map, statebackend.Object: reflect.Struct,
	}
	for _, a := range attributes {
		field, ok := fields[a.Name]
		if !ok {
			t.Errorf("%s has no field", a.Name)
			continue
		}
		delete(fields, a.Name)
		if field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		if field.Kind() != kinds[a.Type] {
			t.Errorf("%s is %v in the struct", a.Name, field)
		} else if a.Type == statebackend.Object {
			compareAttributes(t, a.Attributes, field)
		}
	}
	for name := range fields {
		t.Errorf("field %s is no attribute", name)
	}
}

// block is a good one.
func block(more string) map[string]any {
	b := map[string]any{"bucket": "b", "key": "k", "region": "eu-central-1"}
	if err := json.Unmarshal([]byte("{"+more+"}"), &b); err != nil {
		panic(err)
	}
	return b
}

func TestDecodeErrors(t *testing.T) {
	long := strings.Repeat("x", 1300)
	for _, test := range []struct{ json, attribute, problem string }{
		{`"bucket":null`, "bucket", "required"},
		{`"bucket":" "`, "bucket", "must not be empty"},
		{`"key":""`, "key", "must not be empty"},
		{`"key":"/a"`, "key", `must not start or end with "/"`},
		{`"key":"a/"`, "key", `must not start or end with "/"`},
		{`"key":"a//b"`, "key", `must not contain "//"`},
		{`"workspace_key_prefix":"env:/"`, "workspace_key_prefix", "must not start or end"},
		{`"region":"mars"`, "region", "not the name of an AWS region"},
		{`"role_arn":"x"`, "role_arn", "no such attribute"},
		{`"kms_key_id":"alias/x","sse_customer_key":"y"`, "kms_key_id", "only one of kms_key_id and sse_customer_key"},
		{`"sse_customer_key":"secret"`, "sse_customer_key", "44 characters"},
		{`"endpoint":"http://a","endpoints":{"s3":"http://b"}`, "endpoint", "only one of"},
		{`"endpoints":{"s3":"localhost"}`, "endpoints.s3", "must be a URL"},
		{`"sts_endpoint":"localhost"`, "endpoints.sts", "must be a URL"},
		{`"force_path_style":true,"use_path_style":true`, "force_path_style", "only one of"},
		{`"allowed_account_ids":["1"],"forbidden_account_ids":["2"]`, "allowed_account_ids", "only one of"},
		{`"shared_credentials_file":"a","shared_credentials_files":["b"]`, "shared_credentials_file", "only one of"},
		{`"retry_mode":"never"`, "retry_mode", "never"},
		{`"max_retries":-1`, "max_retries", "negative"},
		{`"ec2_metadata_service_endpoint_mode":"v4"`, "ec2_metadata_service_endpoint_mode", "IPv4 or IPv6"},
		{`"assume_role":{}`, "assume_role.role_arn", "required"},
		{`"assume_role":{"role_arn":"x"}`, "assume_role.role_arn", "ARN of an IAM role"},
		{`"assume_role":{"role_arn":"arn:aws:iam::1:role/x","duration":"1"}`, "assume_role.duration", "a duration"},
		{`"assume_role":{"role_arn":"arn:aws:iam::1:role/x","duration":"10m"}`, "assume_role.duration", "15 minutes"},
		{`"assume_role":{"role_arn":"arn:aws:iam::1:role/x","session_name":"a b"}`, "assume_role.session_name", "2 to 64"},
		{`"assume_role":{"role_arn":"arn:aws:iam::1:role/x","external_id":"` + long + `"}`, "assume_role.external_id", "2 to 1224"},
		{`"assume_role_with_web_identity":{"role_arn":"arn:aws:iam::1:role/x"}`, "assume_role_with_web_identity", "exactly one of"},
		{`"dynamodb_endpoint":"http://a","endpoints":{"dynamodb":"http://b"}`, "dynamodb_endpoint", "only one of dynamodb_endpoint and endpoints.dynamodb"},
		{`"iam_endpoint":"http://a","endpoints":{"iam":"http://b"}`, "iam_endpoint", "only one of iam_endpoint and endpoints.iam"},
		{`"sts_endpoint":"http://a","endpoints":{"sts":"http://b"}`, "sts_endpoint", "only one of sts_endpoint and endpoints.sts"},
		{`"dynamodb_endpoint":"localhost"`, "endpoints.dynamodb", "must be a URL"},
		{`"iam_endpoint":"localhost"`, "endpoints.iam", "must be a URL"},
		{`"endpoints":{"sso":"localhost"}`, "endpoints.sso", "must be a URL"},
		{`"endpoint":"http://"`, "endpoints.s3", "must be a URL"},
		{`"ec2_metadata_service_endpoint":"localhost"`, "ec2_metadata_service_endpoint", "must be a URL"},
		{`"assume_role":{"role_arn":"arn:aws:iam::1:role/x","duration":"12h1s"}`, "assume_role.duration", "12 hours"},
		{`"assume_role":{"role_arn":"arn:aws:iam::1:role/x","source_identity":"x"}`, "assume_role.source_identity", "2 to 64"},
		{`"assume_role":{"role_arn":"arn:aws:iam::1:role/x","external_id":"x"}`, "assume_role.external_id", "2 to 1224"},
		{`"assume_role":{"role_arn":"arn:aws:iam::1:role/x","external_id":"a b"}`, "assume_role.external_id", "2 to 1224"},
		{`"assume_role":{"role_arn":"arn:aws:iam::1:role/x","external_id":"` + strings.Repeat("x", 1225) + `"}`, "assume_role.external_id", "2 to 1224"},
		{`"assume_role_with_web_identity":{"role_arn":"x","web_identity_token":"t"}`, "assume_role_with_web_identity.role_arn", "ARN of an IAM role"},
		{`"assume_role_with_web_identity":{"role_arn":"arn:aws:iam::1:role/x","web_identity_token":"t","duration":"1m"}`, "assume_role_with_web_identity.duration", "15 minutes"},
		{`"assume_role_with_web_identity":{"role_arn":"arn:aws:iam::1:role/x","web_identity_token":"t","session_name":"x"}`, "assume_role_with_web_identity.session_name", "2 to 64"},
		{`"assume_role_with_web_identity":{"role_arn":"arn:aws:iam::1:role/x","web_identity_token":"t","web_identity_token_file":"f"}`, "assume_role_with_web_identity", "exactly one of"},
		{`"custom_ca_bundle":"/does/not/exist"`, "custom_ca_bundle", "no such file"},
	} {
		_, err := Open(t.Context(), block(test.json), Options{})
		var got *statebackend.AttributeError
		if !errors.As(err, &got) {
			t.Errorf("%s: %v; want an *AttributeError", test.json, err)
		} else if got.Attribute != test.attribute || !strings.Contains(got.Problem, test.problem) {
			t.Errorf("%s: %v; want %s: ...%s", test.json, err, test.attribute, test.problem)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the secret is shown: %v", test.json, err)
		}
	}
}

// TestDecodeAccepts has the values that are just good enough.
func TestDecodeAccepts(t *testing.T) {
	clean(t)
	for _, json := range []string{
		`"assume_role":{"role_arn":"arn:aws:iam::1:role/x","duration":"15m","external_id":"xy","session_name":"xy"}`,
		`"assume_role":{"role_arn":"arn:aws:iam::1:role/x","duration":"12h","external_id":"` + strings.Repeat("x", 1224) + `","session_name":"` + strings.Repeat("x", 64) + `"}`,
		`"assume_role_with_web_identity":{"role_arn":"arn:aws:iam::1:role/x","web_identity_token_file":"f"}`,
		`"region":"mars","skip_region_validation":true`,
		`"region":"us-gov-west-1","workspace_key_prefix":"","retry_mode":"standard"`,
		`"iam_endpoint":"http://a","ec2_metadata_service_endpoint":"http://[::1]","ec2_metadata_service_endpoint_mode":"IPv6","max_retries":0`,
	} {
		if _, err := Decode(block(json)); err != nil {
			t.Errorf("%s: %v", json, err)
		}
	}
}

// clean removes what the environment may say, for one test.
func clean(t *testing.T) {
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	t.Setenv("HOME", t.TempDir())
}

func TestEnvironment(t *testing.T) {
	clean(t)
	if _, err := Decode(map[string]any{"bucket": "b", "key": "k"}); err == nil || !strings.Contains(err.Error(), "AWS_DEFAULT_REGION") {
		t.Errorf("without a region: %v", err)
	}
	for name, value := range map[string]string{
		"AWS_DEFAULT_REGION":        "eu-west-1",
		"AWS_S3_ENDPOINT":           "old.s3",
		"AWS_ENDPOINT_URL_DYNAMODB": "https://new.dynamodb",
		"AWS_DYNAMODB_ENDPOINT":     "https://old.dynamodb",
		"AWS_STS_ENDPOINT":          "https://old.sts",
		"AWS_USE_FIPS_ENDPOINT":     "true",
		"AWS_SSE_CUSTOMER_KEY":      strings.Repeat("A", 43) + "=",
		"AWS_SHARED_CONFIG_FILE":    "/config",
		"AWS_RETRY_MODE":            "adaptive",
	} {
		t.Setenv(name, value)
	}
	c, err := Decode(map[string]any{"bucket": "b", "key": "k", "endpoints": map[string]any{"sts": "https://block.sts"}})
	if err != nil {
		t.Fatal(err)
	}
	key, err := c.customerKey()
	if err != nil || len(key) != 32 {
		t.Errorf("key of %d bytes, %v", len(key), err)
	}
	yes := true
	want := &Config{
		Bucket: "b", Key: "k", Region: "eu-west-1", UseFIPSEndpoint: &yes, RetryMode: "adaptive",
		SharedConfigFiles: []string{"/config"},
		Endpoints:         Endpoints{S3: "old.s3", DynamoDB: "https://new.dynamodb", STS: "https://block.sts"},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	if got := *baseURL(c.Endpoints.S3); got != "https://old.s3" {
		t.Errorf("base URL %s", got)
	}
	t.Setenv("AWS_REGION", "eu-north-1")
	if c, err := Decode(map[string]any{"bucket": "b", "key": "k"}); err != nil || c.Region != "eu-north-1" {
		t.Errorf("region %v, %v", c, err)
	}
	if _, err := Decode(block(`"kms_key_id":"alias/x"`)); err == nil || !strings.Contains(err.Error(), "AWS_SSE_CUSTOMER_KEY") {
		t.Errorf("two keys: %v", err)
	}
}

// fakeSTS answers with XML, and remembers what it was asked.
func fakeSTS(t *testing.T) (url string, asked *[]map[string]string) {
	asked = new([]map[string]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.ParseForm()
		form := map[string]string{"host": r.Host}
		for name := range r.PostForm {
			form[name] = r.PostForm.Get(name)
		}
		form["credentials"] = strings.SplitN(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="), "/", 2)[0]
		*asked = append(*asked, form)
		action := form["Action"]
		fmt.Fprintf(w, `<%[1]sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%[1]sResult>
			<Account>123456789012</Account><Arn>arn:aws:sts::123456789012:assumed-role/x/y</Arn><UserId>u</UserId>
			<Credentials><AccessKeyId>ROLEKEY</AccessKeyId><SecretAccessKey>rolesecret</SecretAccessKey><SessionToken>t</SessionToken>
			<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></%[1]sResult></%[1]sResponse>`, action)
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func TestAssumeRole(t *testing.T) {
	clean(t)
	url, asked := fakeSTS(t)
	s, s3, _ := fakeServers(t)
	attributes := s.attributes(map[string]any{
		"skip_credentials_validation": false,
		"skip_requesting_account_id":  false,
		"allowed_account_ids":         []any{"123456789012"},
		"assume_role": map[string]any{
			"role_arn": "arn:aws:iam::123456789012:role/state", "duration": "1h30m", "external_id": "ext",
			"session_name": "lockstep", "policy": " {} ", "policy_arns": []any{"arn:aws:iam::aws:policy/X"},
			"tags": map[string]any{"b": "2", "a": "1"}, "transitive_tag_keys": []any{"a"}, "source_identity": "me",
		},
	})
	attributes["endpoints"] = map[string]any{"s3": s.s3, "sts": url}
	b := open(t, attributes, Options{})
	w, err := b.open("default")
	if err != nil {
		t.Fatal(err)
	}
	put(t, w, state1, "")
	if len(*asked) != 2 {
		t.Fatalf("STS was asked %v", *asked)
	}
	for name, want := range map[string]string{
		"Action": "AssumeRole", "RoleArn": "arn:aws:iam::123456789012:role/state", "DurationSeconds": "5400", "ExternalId": "ext",
		"RoleSessionName": "lockstep", "Policy": "{}", "PolicyArns.member.1.arn": "arn:aws:iam::aws:policy/X", "SourceIdentity": "me",
		"Tags.member.1.Key": "a", "Tags.member.2.Value": "2", "TransitiveTagKeys.member.1": "a", "credentials": statebackendtest.AccessKey,
	} {
		if got := (*asked)[0][name]; got != want {
			t.Errorf("AssumeRole: %s = %q, want %q", name, got, want)
		}
	}
	if got := (*asked)[1]; got["Action"] != "GetCallerIdentity" || got["credentials"] != "ROLEKEY" {
		t.Errorf("then %v; want GetCallerIdentity as the role", got)
	}
	_, header := s3.Object(w.path())
	if got := header.Get("Authorization"); !strings.Contains(got, "Credential=ROLEKEY/") {
		t.Errorf("the state was written by %s", got)
	}

	attributes["allowed_account_ids"] = []any{"999"}
	if _, err := Open(t.Context(), attributes, Options{}); err == nil || !strings.Contains(err.Error(), "123456789012, which is not allowed") {
		t.Errorf("another account: %v", err)
	}
	delete(attributes, "allowed_account_ids")
	attributes["forbidden_account_ids"] = []any{"123456789012"}
	if _, err := Open(t.Context(), attributes, Options{}); err == nil || !strings.Contains(err.Error(), "forbidden account 123456789012") {
		t.Errorf("a forbidden account: %v", err)
	}
}

func TestAssumeRoleWithWebIdentity(t *testing.T) {
	clean(t)
	url, asked := fakeSTS(t)
	s, _, _ := fakeServers(t)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("token in a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		attribute, value, want string
	}{
		{"web_identity_token", "token", "token"},
		{"web_identity_token_file", file, "token in a file"},
	} {
		*asked = nil
		attributes := s.attributes(map[string]any{"assume_role_with_web_identity": map[string]any{
			"role_arn": "arn:aws:iam::123456789012:role/state", "session_name": "lockstep", test.attribute: test.value,
			"duration": "1h", "policy": " {} ", "policy_arns": []any{"arn:aws:iam::aws:policy/X"},
		}})
		attributes["endpoints"] = map[string]any{"s3": s.s3, "sts": url}
		open(t, attributes, Options{})
		if len(*asked) != 1 || (*asked)[0]["Action"] != "AssumeRoleWithWebIdentity" || (*asked)[0]["WebIdentityToken"] != test.want {
			t.Errorf("%s: STS was asked %v", test.attribute, *asked)
		}
		for name, want := range map[string]string{
			"RoleArn": "arn:aws:iam::123456789012:role/state", "RoleSessionName": "lockstep",
			"DurationSeconds": "3600", "Policy": "{}", "PolicyArns.member.1.arn": "arn:aws:iam::aws:policy/X",
		} {
			if got := (*asked)[0][name]; got != want {
				t.Errorf("%s: %s = %q, want %q", test.attribute, name, got, want)
			}
		}
	}
}

func TestCredentialsOfTheEnvironmentAndProfiles(t *testing.T) {
	clean(t)
	s, _, _ := fakeServers(t)
	bare := func(more map[string]any) map[string]any {
		a := s.attributes(map[string]any{"access_key": nil, "secret_key": nil})
		maps.Copy(a, more)
		return a
	}
	if _, err := Open(t.Context(), bare(nil), Options{}); err == nil || !strings.Contains(err.Error(), "credentials") {
		t.Errorf("without credentials: %v", err)
	}
	file := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(file, []byte("[p]\naws_access_key_id = FILEKEY\naws_secret_access_key = filesecret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name       string
		attributes map[string]any
		env        []string
		want       string
	}{
		{"profile", map[string]any{"profile": "p", "shared_credentials_files": []any{file}}, nil, "FILEKEY"},
		{"deprecated attribute", map[string]any{"profile": "p", "shared_credentials_file": file}, nil, "FILEKEY"},
		{"environment", nil, []string{"AWS_ACCESS_KEY_ID=ENVKEY", "AWS_SECRET_ACCESS_KEY=s"}, "ENVKEY"},
		{"file of the environment", nil, []string{"AWS_PROFILE=p", "AWS_SHARED_CREDENTIALS_FILE=" + file}, "FILEKEY"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, v := range test.env {
				name, value, _ := strings.Cut(v, "=")
				t.Setenv(name, value)
			}
			b := open(t, bare(test.attributes), Options{})
			got, err := b.objects.client.Options().Credentials.Retrieve(t.Context())
			if err != nil || got.AccessKeyID != test.want {
				t.Errorf("credentials of %q, %v; want %q", got.AccessKeyID, err, test.want)
			}
		})
	}
}

// Wrong credentials are refused without being shown.
func TestSecretsStayOutOfErrors(t *testing.T) {
	clean(t)
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `<ErrorResponse><Error><Type>Sender</Type><Code>InvalidClientTokenId</Code><Message>The security token included in the request is invalid.</Message></Error></ErrorResponse>`)
	}))
	defer refuses.Close()
	secrets := []string{"AKIDEXAMPLE", "wJalrSECRET", "sessionTOKEN", strings.Repeat("A", 43) + "="}
	attributes := servers{refuses.URL, refuses.URL}.attributes(map[string]any{
		"access_key": secrets[0], "secret_key": secrets[1], "token": secrets[2], "encrypt": true, "sse_customer_key": secrets[3],
		"dynamodb_table": "locks", "max_retries": 0,
	})
	attributes["endpoints"] = map[string]any{"s3": refuses.URL, "dynamodb": refuses.URL, "sts": refuses.URL}
	var errs []error
	w, err := open(t, attributes, Options{Note: func(s string) { errs = append(errs, errors.New(s)) }}).Open("default")
	if err != nil {
		t.Fatal(err)
	}
	_, getErr := w.Get(t.Context())
	_, putErr := w.Put(t.Context(), []byte(state1), "")
	_, lockErr := w.Lock(t.Context(), statebackend.NewLockInfo("x", "1"))
	attributes["skip_credentials_validation"] = false
	_, openErr := Open(t.Context(), attributes, Options{})
	for i, err := range append(errs, getErr, putErr, lockErr, openErr) {
		if err == nil {
			t.Fatalf("%d: no error", i)
		}
		if slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(err.Error(), s) }) {
			t.Errorf("a secret is shown: %v", err)
		}
	}
	if !strings.Contains(openErr.Error(), "skip_credentials_validation") {
		t.Errorf("Open: %v", openErr)
	}
}
