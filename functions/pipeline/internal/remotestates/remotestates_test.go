package remotestates

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/builtin"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
	"github.com/lockstep-iac/lockstep/statebackend/encryption"
	"github.com/lockstep-iac/lockstep/statebackend/s3"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// TestUses is a table of configurations.
func TestUses(t *testing.T) {
	t.Parallel()
	const reads = "data \"terraform_remote_state\" \"x\" {\n  backend = \"s3\"\n}\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"nothing":                 {map[string]string{"main.tf": ""}, false},
		"in the root module":      {map[string]string{"main.tf": reads}, true},
		"in a child module":       {map[string]string{"main.tf": "module \"m\" {\n  source = \"./m\"\n}\n", "m/main.tf": reads}, true},
		"in a module not called":  {map[string]string{"main.tf": "", "m/main.tf": reads}, false},
		"a resource of that type": {map[string]string{"main.tf": "resource \"terraform_remote_state\" \"x\" {}\n"}, false},
		"another data source":     {map[string]string{"main.tf": "data \"terraform_remote_states\" \"x\" {}\n"}, false},
	} {
		files := map[string][]byte{}
		for f, text := range c.files {
			files[f] = []byte(text)
		}
		cfg, ds := loading.Load(loading.Input{Tree: source.Files(files)})
		if ds.HasErrors() {
			t.Fatalf("%s: %v", name, ds)
		}
		if got := Uses(cfg); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// forPullRequests are the arguments of the backend "s3" that a pull request may set.
const forPullRequests = `acl allowed_account_ids assume_role bucket dynamodb_table encrypt forbidden_account_ids force_path_style key
	kms_key_id max_retries region retry_mode skip_credentials_validation skip_metadata_api_check skip_region_validation
	skip_requesting_account_id skip_s3_checksum sse_customer_key sts_region use_dualstack_endpoint use_fips_endpoint use_lockfile
	use_path_style workspace_key_prefix`

// TestEveryArgument holds for each argument of the backend, and for one that it does not have, whether a
// pull request may set it. Whoever adds an argument decides here.
func TestEveryArgument(t *testing.T) {
	t.Parallel()
	names := []string{"of_tomorrow"}
	for _, a := range s3.Attributes {
		names = append(names, a.Name)
	}
	r := &Reader{Env: []string{"AWS_ACCESS_KEY_ID=k", "AWS_SECRET_ACCESS_KEY=s"}}
	for _, name := range names {
		err := r.complete(map[string]any{name: "x"})
		if may := slices.Contains(strings.Fields(forPullRequests), name); may != (err == nil) {
			t.Errorf("%s: %v", name, err)
		} else if err != nil && !strings.Contains(err.Error(), fmt.Sprintf("the argument %q is not for a pull request to say", name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestComplete is a table of environments and arguments, and what the state is read with.
func TestComplete(t *testing.T) {
	t.Parallel()
	const keys = "AWS_ACCESS_KEY_ID=k AWS_SECRET_ACCESS_KEY=s"
	for _, c := range []struct{ env, arguments, want string }{
		{"", "", "no AWS credentials"},
		{"AWS_ACCESS_KEY_ID=k", "", "no AWS credentials"},
		{"AWS_SECRET_ACCESS_KEY=s", "", "no AWS credentials"},
		{keys + " AWS_SECRET_ACCESS_KEY=", "", "no AWS credentials"}, // later ones win
		{keys, "", "access_key=k secret_key=s token="},
		{keys + " AWS_SESSION_TOKEN=t", "bucket=b", "access_key=k bucket=b secret_key=s token=t"},
		{keys + " AWS_ACCESS_KEY_ID=l", "", "access_key=l secret_key=s token="},
		{keys + " AWS_REGION=r AWS_DEFAULT_REGION=d", "", "access_key=k region=r secret_key=s token="},
		{keys + " AWS_DEFAULT_REGION=d", "", "access_key=k region=d secret_key=s token="},
		{keys + " AWS_REGION=r", "region=mine", "access_key=k region=mine secret_key=s token="},
		{keys + " AWS_PROFILE=p AWS_ROLE_ARN=a", "", "access_key=k secret_key=s token="},
		{keys, "access_key=mine", `the argument "access_key"`},
		{"", "token=mine", `the argument "token"`},
	} {
		arguments := map[string]any{}
		for word := range strings.FieldsSeq(c.arguments) {
			name, value, _ := strings.Cut(word, "=")
			arguments[name] = value
		}
		got := ""
		if err := (&Reader{Env: strings.Fields(c.env)}).complete(arguments); err != nil {
			if got = err.Error(); strings.Contains(got, c.want) {
				got = c.want
			}
		} else {
			for _, name := range slices.Sorted(maps.Keys(arguments)) {
				got += fmt.Sprintf(" %s=%v", name, arguments[name])
			}
			got = strings.TrimSpace(got)
		}
		if got != c.want {
			t.Errorf("%q with %q: %s, want %s", c.env, c.arguments, got, c.want)
		}
	}
}

// TestRefusedBeforeAnyRequest holds the refusals of other backends and values.
func TestRefusedBeforeAnyRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		backend   string
		arguments cty.Value
		want      string
	}{
		{"http", cty.EmptyObjectVal, "runs of pull requests cannot reach: keep it in S3"},
		{"local", cty.NullVal(cty.DynamicPseudoType), "runs of pull requests cannot reach: keep it in S3"},
		{"nowhere", cty.EmptyObjectVal, `the backend "nowhere", which runs of pull requests cannot reach: keep it in S3`},
		{"", cty.EmptyObjectVal, `the backend "", which runs of pull requests cannot reach: keep it in S3`},
		{"s3", cty.StringVal("bucket"), "the arguments of the backend are a string, and not an object"},
		{"s3", cty.ListVal([]cty.Value{cty.StringVal("bucket")}), "and not an object"},
	} {
		_, err := new(Reader).Read(t.Context(), c.backend, c.arguments, "default")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %#v: %v", c.backend, c.arguments, err)
		}
	}
}

// A bucket is a real S3 server with states.
type bucket struct {
	t      *testing.T
	server string
}

func newBucket(t *testing.T) bucket {
	b := bucket{t, statebackendtest.StartVersitygw(t)}
	t.Setenv("AWS_ENDPOINT_URL_S3", b.server)
	return b
}

// put stores a state of outputs, "name=value", sensitive ones with "!" before them, under a key.
func (b bucket) put(key, workspace string, c *encryption.Cipher, outputs string) {
	b.t.Helper()
	all := map[string]any{}
	for word := range strings.FieldsSeq(outputs) {
		name, value, _ := strings.Cut(word, "=")
		name, sensitive := strings.CutPrefix(name, "!")
		all[name] = map[string]any{"value": value, "type": "string", "sensitive": sensitive}
	}
	text, err := json.Marshal(map[string]any{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l", "outputs": all})
	if err != nil {
		b.t.Fatal(err)
	}
	opened, err := s3.Open(b.t.Context(), map[string]any{
		"bucket": "states", "key": key, "region": "us-east-1", "access_key": statebackendtest.AccessKey, "secret_key": statebackendtest.SecretKey,
		"endpoints": map[string]any{"s3": b.server}, "use_path_style": true, "skip_credentials_validation": true, "skip_requesting_account_id": true,
	}, s3.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	w, err := encryption.Wrap(opened, c).Open(workspace)
	if err != nil {
		b.t.Fatal(err)
	}
	was, err := w.Get(b.t.Context())
	if err == nil {
		_, err = w.Put(b.t.Context(), text, was.Version)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// arguments are those of a data source that reads a key.
func arguments(key string) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"bucket": cty.StringVal("states"), "key": cty.StringVal(key), "use_path_style": cty.True, "skip_credentials_validation": cty.True,
		"profile": cty.NullVal(cty.String), // as if it were not there
	})
}

// reader has the right credentials, and no cipher.
func reader(secret string) *Reader {
	return &Reader{
		Env:    []string{"AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=" + statebackendtest.AccessKey, "AWS_SECRET_ACCESS_KEY=" + secret},
		Cipher: func(string) (*encryption.Cipher, error) { return nil, nil },
	}
}

// text is a list of values in a line.
func text(values []cty.Value) string {
	var out []string
	for _, v := range values {
		out = append(out, strings.ReplaceAll(fmt.Sprintf("%#v", v), "cty.", ""))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// A fixed key, from nothing.
type fixed struct{}

func (fixed) Generate(context.Context, []byte) (key, meta []byte, err error) {
	return bytes.Repeat([]byte{7}, 32), []byte("{}"), nil
}
func (f fixed) Restore(ctx context.Context, secret, _ []byte) ([]byte, error) {
	key, _, err := f.Generate(ctx, secret)
	return key, err
}

// TestRead reads from a real server: outputs, workspaces, encrypted states, and refusals.
func TestRead(t *testing.T) {
	b := newBucket(t)
	cipher := encryption.New(encryption.Target{Enforced: true, Methods: []encryption.Method{
		{Name: "method.aes_gcm.m", Keys: encryption.NewKeys("key_provider.fixed.k", fixed{}, nil)},
	}})
	b.put("vpc", "default", nil, "subnet=one !password=horse")
	b.put("vpc", "blue", nil, "subnet=two")
	b.put("sealed", "default", cipher, "!token=t")
	address := "data.terraform_remote_state.x"
	ctx := provider.WithReading(t.Context(), address)

	r := reader(statebackendtest.SecretKey)
	got, err := r.Read(ctx, "s3", arguments("vpc"), "default")
	if want := map[string]cty.Value{"subnet": cty.StringVal("one"), "password": cty.StringVal("horse")}; err != nil || !maps.EqualFunc(want, got, cty.Value.RawEquals) {
		t.Errorf("%#v, %v", got, err)
	}
	if got := text(r.Sensitive()); got != `StringVal("horse")` {
		t.Errorf("sensitive are %s", got)
	}
	if got, err := r.Read(ctx, "s3", arguments("vpc"), "blue"); err != nil || !got["subnet"].RawEquals(cty.StringVal("two")) || len(r.Sensitive()) != 1 {
		t.Errorf("another workspace: %#v, %v", got, err)
	}
	for _, none := range []struct{ key, workspace string }{{"vpc", "green"}, {"nothing", "default"}} {
		if _, err := r.Read(ctx, "s3", arguments(none.key), none.workspace); !errors.Is(err, builtin.ErrNoState) {
			t.Errorf("%v: %v", none, err)
		}
	}
	if _, err := r.Read(ctx, "s3", arguments("sealed"), "default"); err == nil {
		t.Error("an encrypted state is read without a cipher")
	}
	r.Cipher = func(who string) (*encryption.Cipher, error) {
		if who != address {
			return nil, fmt.Errorf("no cipher for %q", who)
		}
		return cipher, nil
	}
	if got, err := r.Read(ctx, "s3", arguments("sealed"), "default"); err != nil || !got["token"].RawEquals(cty.StringVal("t")) {
		t.Errorf("an encrypted state: %#v, %v", got, err)
	}
	if _, err := r.Read(ctx, "s3", arguments("vpc"), "default"); err == nil {
		t.Error("a state that is not encrypted is read although that is enforced")
	}
	if _, err := r.Read(t.Context(), "s3", arguments("sealed"), "default"); err == nil || err.Error() != `no cipher for ""` {
		t.Errorf("without a cipher: %v", err)
	}
	if got := text(r.Sensitive()); got != `StringVal("horse") StringVal("t")` {
		t.Errorf("sensitive are %s", got)
	}
	const wrong = "another-secret"
	if _, err := reader(wrong).Read(ctx, "s3", arguments("vpc"), "default"); err == nil || strings.Contains(err.Error(), wrong) {
		t.Errorf("with other credentials: %v", err)
	}
	if got := (*Reader)(nil).Sensitive(); got != nil {
		t.Errorf("a nil reader has read %#v", got)
	}
}

// TestRecall is a table of data sources in the state of a plan, read by another process, and the values that are
// sensitive after Recall. The state vpc has the outputs subnet=one, and password=horse, which is sensitive.
func TestRecall(t *testing.T) {
	b := newBucket(t)
	b.put("vpc", "default", nil, "subnet=one !password=horse")
	b.put("vpc", "blue", nil, "!pin=1234")
	read := func(key, workspace, outputs string) string {
		return fmt.Sprintf(`{"backend":"s3","config":{"type":["object",{"bucket":"string","key":"string","use_path_style":"bool","skip_credentials_validation":"bool"}],
			"value":{"bucket":"states","key":%q,"use_path_style":true,"skip_credentials_validation":true}},"defaults":null,"workspace":%s,
			"outputs":{"type":["object",{"a":"string","password":"string","subnet":"string"}],"value":%s}}`, key, workspace, outputs)
	}
	const outputs = `{"a":"default","password":"horse","subnet":"one"}`
	const all = `ObjectVal(map[string]Value{"a":StringVal("default"), "password":StringVal("horse"), "subnet":StringVal("one")})`
	for name, c := range map[string]struct {
		mode, kind, attributes string
		want                   string
	}{
		"read again":             {"data", dataSource, read("vpc", "null", outputs), `StringVal("default") StringVal("horse")`},
		"with its defaults":      {"data", dataSource, strings.Replace(read("vpc", "null", outputs), `"defaults":null`, `"defaults":{"type":["map","string"],"value":{"a":"default","subnet":"else"}}`, 1), `StringVal("horse")`},
		"changed since":          {"data", dataSource, read("vpc", "null", `{"a":"default","password":"donkey","subnet":"zero"}`), `StringVal("default") StringVal("donkey") StringVal("horse") StringVal("zero")`},
		"another workspace":      {"data", dataSource, read("vpc", `"blue"`, outputs), `StringVal("1234") StringVal("default") StringVal("horse") StringVal("one")`},
		"gone":                   {"data", dataSource, read("gone", "null", outputs), all},
		"without a backend":      {"data", dataSource, strings.Replace(read("vpc", "null", outputs), `"s3"`, "null", 1), all},
		"with odd arguments":     {"data", dataSource, `{"backend":"s3","config":{"type":"string","value":"x"},"defaults":null,"workspace":null,"outputs":{"type":"string","value":"o"}}`, `StringVal("o")`},
		"without outputs":        {"data", dataSource, strings.Replace(read("vpc", "null", outputs), `{"type":["object",{"a":"string","password":"string","subnet":"string"}],"value":`+outputs+"}", "null", 1), `NullVal(DynamicPseudoType) StringVal("horse")`},
		"outputs of no object":   {"data", dataSource, strings.Replace(read("vpc", "null", outputs), `"type":["object",{"a":"string","password":"string","subnet":"string"}],"value":`+outputs, `"type":"string","value":"o"`, 1), `StringVal("horse") StringVal("o")`},
		"damaged":                {"data", dataSource, `{"backend":{}}`, "decode data.terraform_remote_state.x:"},
		"another data source":    {"data", "aws_vpc", `{"id":"x"}`, ""},
		"a resource, not a read": {"managed", dataSource, `{"id":"x"}`, ""},
	} {
		st, err := statefile.Read(fmt.Appendf(nil, `{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"l","outputs":{},"resources":[
			{"mode":%q,"type":%q,"name":"x","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[{"schema_version":0,"attributes":%s}]}]}`, c.mode, c.kind, c.attributes))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r := reader(statebackendtest.SecretKey)
		got := ""
		if err := r.Recall(t.Context(), &plans.Plan{PriorState: st}); err != nil {
			got = strings.Join(strings.Fields(err.Error())[:2], " ")
		} else {
			got = text(r.Sensitive())
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}
