package places

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// s3 is a block, written "NAME=VALUE".
func s3(arguments ...string) map[string]any {
	out := map[string]any{"bucket": "states", "key": "net/terraform.tfstate"}
	for _, a := range arguments {
		name, value, _ := strings.Cut(a, "=")
		out[name] = value
	}
	return out
}

// TestOf is a table of blocks, and of the one name that their places have.
func TestOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		what, backend, workspace string
		block                    map[string]any
		want, no                 string
	}{
		{"no backend", "", "default", nil, "local", ""},
		{"a local one", "local", "prod", map[string]any{"path": "../../evil.tfstate"}, "local", ""},
		{"another", "gcs", "default", nil, "", `its state is in the backend "gcs", and pull requests need states in S3`},
		{"in S3", "s3", "default", s3(), "s3://states/net/terraform.tfstate", ""},
		{"a prefix that does not count", "s3", "default", s3("workspace_key_prefix=w"), "s3://states/net/terraform.tfstate", ""},
		{"a workspace", "s3", "blue", s3(), "s3://states/env:/blue/net/terraform.tfstate", ""},
		{"a workspace with a prefix", "s3", "blue", s3("workspace_key_prefix=w/x"), "s3://states/w/x/blue/net/terraform.tfstate", ""},
		{"a workspace without a prefix", "s3", "blue", s3("workspace_key_prefix="), "s3://states/blue/net/terraform.tfstate", ""},
		{"the same by a key", "s3", "default", s3("key=env:/blue/net/terraform.tfstate"), "s3://states/env:/blue/net/terraform.tfstate", ""},
		{"nothing", "s3", "default", nil, "", "it names no bucket"},
		{"no key", "s3", "default", s3("key="), "", "a key must be given"},
		{"no key in a workspace", "s3", "blue", s3("key="), "", "a key must be given"},
		{"an access point", "s3", "default", s3("bucket=arn:aws:s3:us-east-1:1:accesspoint/x"), "", "not an access point"},
		{"an alias", "s3", "default", s3("bucket=x-abc-s3alias"), "", "not an access point"},
		{"a bucket in capitals", "s3", "default", s3("bucket=States"), "", "name the bucket itself"},
		{"a bucket with a slash", "s3", "default", s3("bucket=states/net"), "", "name the bucket itself"},
		{"climbing", "s3", "default", s3("key=a/../net/terraform.tfstate"), "", `can be empty, "." or ".."`},
		{"climbing out of a workspace", "s3", "blue", s3("key=../../prod.tfstate"), "", `can be empty, "." or ".."`},
		{"climbing by the prefix", "s3", "blue", s3("workspace_key_prefix=x/.."), "", `can be empty, "." or ".."`},
		{"a slash before", "s3", "default", s3("key=/net/terraform.tfstate"), "", "can be empty"},
		{"two slashes", "s3", "default", s3("key=net//terraform.tfstate"), "", "can be empty"},
		{"a pattern of policies", "s3", "default", s3("key=net/*"), "", "none of *"},
		{"a variable of policies", "s3", "default", s3("key=${aws:userid}"), "", "none of *"},
		{"a quote", "s3", "default", s3(`key=a"b`), "", "none of *"},
		{"a control character", "s3", "default", s3("key=a\x00b"), "", "no control characters"},
		{"too long", "s3", "default", s3("key=" + strings.Repeat("x", 1025)), "", "at most 1024"},
		{"another state's journal", "s3", "default", s3("key=.lockstep/journal/prod/00000000000000000001"), "", "begin with .lockstep/"},
		{"another state's lock object", "s3", "default", s3("key=prod.tfstate.tflock"), "", "end with .tflock"},
		{"another state's digest", "s3", "default", s3("key=prod.tfstate-md5"), "", "end with -md5"},
		{"what Lockstep notes of another", "s3", "default", s3("key=prod.tfstate-lockstep"), "", "end with -lockstep"},
		{"another account's table", "s3", "default", s3("dynamodb_table=arn:aws:dynamodb:us-east-1:2:table/locks"), "", "name the table itself"},
		{"a role", "s3", "default", by("arn:aws:iam::222222222222:role/team/states"), "s3://states/net/terraform.tfstate", ""},
		{"a user", "s3", "default", by("arn:aws:iam::222222222222:user/states"), "", "give the ARN of a role"},
		{"all roles", "s3", "default", by("arn:aws:iam::222222222222:role/*"), "", "give the ARN of a role"},
		{"no role", "s3", "default", by(""), "", "give the ARN of a role"},
		{"all tables", "s3", "default", s3("dynamodb_table=*"), "", "name the table itself"},
	} {
		p, err := Of(test.backend, test.block, test.workspace)
		if p.String() != test.want || (err == nil) != (test.no == "") || err != nil && !strings.Contains(err.Error(), test.no) {
			t.Errorf("%s: %q, %v; want %q %s", test.what, p, err, test.want, test.no)
		}
	}
}

// by is the block with a role.
func by(arn string) map[string]any {
	block := s3()
	block[RoleArgument] = map[string]any{"role_arn": arn}
	return block
}

// TestBlock holds that a place is opened as it was found: in the default workspace of a
// block that means it.
func TestBlock(t *testing.T) {
	t.Parallel()
	p, err := Of("s3", s3("workspace_key_prefix=w", "dynamodb_table=locks", "use_lockfile=true"), "blue")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"bucket": "states", "key": "w/blue/net/terraform.tfstate", "dynamodb_table": "locks", "use_lockfile": "true"}
	if d := cmp.Diff(want, p.Block()); d != "" {
		t.Error(d)
	}
	again, err := Of("s3", p.Block(), "default")
	if err != nil || !again.Is(p) || again.Differing(p) != nil || again.Table() != "locks" || !again.LockFile() {
		t.Errorf("%+v, %v", again, err)
	}
	x := p.With(TableArgument, nil).With("encrypt", true)
	if d := cmp.Diff([]string{"dynamodb_table", "encrypt"}, p.Differing(x)); d != "" || p.Table() != "locks" || !x.Is(p) {
		t.Errorf("%s%v", d, x)
	}
	if p.Differing(p.With("encrypt", false)) != nil {
		t.Error("what is false is as good as not said")
	}
}

// TestPatterns is a table of patterns and places.
func TestPatterns(t *testing.T) {
	t.Parallel()
	at := func(bucket, key string) Place { return Place{Backend: "s3", Bucket: bucket, Key: key} }
	for _, test := range []struct {
		pattern string
		place   Place
		want    bool
	}{
		{"s3://states/acme/infra/**", at("states", "acme/infra/net/terraform.tfstate"), true},
		{"s3://states/acme/infra/**", at("states", "acme/infrastructure/net"), false},
		{"s3://states/acme/infra/**", at("others", "acme/infra/net"), false},
		{"s3://states/acme/*", at("states", "acme/net"), true},
		{"s3://states/acme/*", at("states", "acme/net/x"), false},
		{"s3://states/{a,b}/x", at("states", "b/x"), true},
		{"s3://states/**", Local, false},
		{"s3://states/**", Place{}, false},
	} {
		p, err := ParsePattern(test.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if p.Matches(test.place) != test.want || p.String() != test.pattern {
			t.Errorf("%s, %s: %v", p, test.place, !test.want)
		}
	}
	if (Pattern{}).Matches(at("", "")) {
		t.Error("the zero value matches")
	}
	for _, bad := range []string{"", "states/x", "s3://states", "s3://states/", "s3://*/x", "s3:///x", "s3://states/[", "https://states/x", "s3://states/" + strings.Repeat("{a,a}", 5)} {
		if p, err := ParsePattern(bad); err == nil {
			t.Errorf("%q is taken for %s", bad, p)
		}
	}
}

// TestOwn holds that a deployment's patterns give each repository its own places only.
func TestOwn(t *testing.T) {
	t.Parallel()
	own, err := ParseOwn("s3://states/{owner}/{name}/**, s3://more/{id}/*")
	if err != nil {
		t.Fatal(err)
	}
	got := own.Of("acme", "infra", 7)
	if len(got) != 2 || got[0].String() != "s3://states/acme/infra/**" || got[1].String() != "s3://more/7/*" {
		t.Error(got)
	}
	if none, err := ParseOwn(" "); len(none) != 0 || err != nil {
		t.Errorf("%v, %v", none, err)
	}
	for bad, want := range map[string]string{
		"s3://states/**": "the same for all repositories", "s3://states/{owner}/**": "the same for all repositories",
		"s3://states/{name}/**": "the same for repositories of one name", "states/{id}/**": "is not a pattern of states",
	} {
		if _, err := ParseOwn(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	if got := ClaimKey("s3://states/env:/blue/net"); got != "place/s3:%2F%2Fstates%2Fenv:%2Fblue%2Fnet" {
		t.Error(got)
	}
	long := ClaimKey("s3://states/" + strings.Repeat("ü", 500))
	if len(long) > 100 || long == ClaimKey("s3://states/"+strings.Repeat("ü", 501)) {
		t.Error(long)
	}
	if c, err := DecodeClaim(nil); c != nil || err != nil {
		t.Errorf("%v, %v", c, err)
	}
	if _, err := DecodeClaim([]byte("{")); err == nil {
		t.Error("a damaged record is taken for none")
	}
}
