package executor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// identified is a state with three things, of which one has no identity, and something else with the identity of one of them.
const identified = `{"version": 4, "terraform_version": "1.16.0", "serial": 1, "lineage": "l", "outputs": {}, "resources": [
  {"mode": "managed", "type": "lab_thing", "name": "a", "provider": "provider[\"registry.terraform.io/lockstep/lab\"]", "instances": [
    {"index_key": 0, "schema_version": 0, "attributes": {}, "identity_schema_version": 0, "identity": {"zone": null, "name": "a", "id": 1}},
    {"index_key": 1, "schema_version": 0, "attributes": {}}]},
  {"mode": "managed", "type": "lab_other", "name": "b", "provider": "provider[\"registry.terraform.io/lockstep/lab\"]", "instances": [
    {"schema_version": 0, "attributes": {}, "identity_schema_version": 0, "identity": {"name": "b", "id": 2}}]}
]}`

// TestInventory holds which objects a state has: those of the same type with the same identity, whatever the order of its parts.
func TestInventory(t *testing.T) {
	t.Parallel()
	s, err := statefile.Read([]byte(identified))
	if err != nil {
		t.Fatal(err)
	}
	x := &inventory{room: 1000}
	x.read(s)
	found := func(name string, id int64) events.Query {
		identity := cty.ObjectVal(map[string]cty.Value{"id": cty.NumberIntVal(id), "name": cty.StringVal(name), "zone": cty.NullVal(cty.String)})
		return events.Query{Kind: events.QueryFound, Address: "list.lab_thing.all", Type: "lab_thing", Found: events.Found{DisplayName: name, Identity: identity, Resource: "resource " + name, Import: "import " + name}}
	}
	for _, e := range []events.Query{{Kind: events.QueryStart, Address: "list.lab_thing.all", Type: "lab_thing"}, found("a", 1), found("b", 2), found("a", 3), {Kind: events.QueryComplete}, {Kind: events.QueryStart, Address: "list.lab_thing.more", Type: "lab_thing"}} {
		if !x.hear(e) {
			t.Error("it is ended")
		}
	}
	const list = "list.lab_thing.all"
	want := comment.Queried{
		Lists: []comment.QueriedList{{Address: list, Found: 3, Managed: 1, Unknown: 1}, {Address: "list.lab_thing.more"}},
		Objects: []comment.QueriedObject{
			{List: list, Name: "b", Identity: `{"id":2,"name":"b"}`}, {List: list, Name: "a", Identity: `{"id":3,"name":"a"}`},
			{List: list, Name: "a", Identity: `{"id":1,"name":"a"}`, Managed: "lab_thing.a[0]"},
		},
		Config: "resource b\n\nimport b\n\nresource a\n\nimport a\n",
	}
	if diff := cmp.Diff(want, x.done("")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestManyFound holds that a query ends after ten thousand objects, and that what it keeps of them is small.
func TestManyFound(t *testing.T) {
	t.Parallel()
	x := &inventory{room: comment.MaxQueryConfig}
	x.hear(events.Query{Kind: events.QueryStart, Address: "list.x.all", Type: "x"})
	n := 0
	for more := true; more && n < 2*maxFound; n++ {
		f := events.Found{DisplayName: fmt.Sprint(n), Identity: cty.ObjectVal(map[string]cty.Value{"n": cty.NumberIntVal(int64(n))}), Resource: strings.Repeat("x", 1000)}
		more = x.hear(events.Query{Kind: events.QueryFound, Address: "list.x.all", Type: "x", Found: f})
	}
	got := x.done("")
	if n != maxFound || !got.Ended || got.Lists[0].Found != maxFound || len(got.Objects) != comment.MaxQueried || len(got.Config) > comment.MaxQueryConfig || got.Without+strings.Count(got.Config, "xxx\n") != maxFound {
		t.Errorf("%d heard, %d objects, %d bytes, %d without", n, len(got.Objects), len(got.Config), got.Without)
	}
}

// TestFoundSecret holds that the configuration of an object with a secret in one of its values is left out, and counted.
func TestFoundSecret(t *testing.T) {
	t.Parallel()
	hide := &secrets{}
	hide.Text("correct-horse-battery")
	x := &inventory{room: 1000, hide: hide}
	x.hear(events.Query{Kind: events.QueryStart, Address: "list.x.all", Type: "x"})
	for i, value := range []string{"one", "correct-horse-battery", "three"} {
		f := events.Found{Identity: cty.ObjectVal(map[string]cty.Value{"n": cty.NumberIntVal(int64(i))}), Resource: fmt.Sprintf("a = %q", value), Import: "import {}"}
		x.hear(events.Query{Kind: events.QueryFound, Address: "list.x.all", Type: "x", Found: f})
	}
	if got := x.done(""); got.Secret != 1 || got.Without != 0 || strings.Contains(got.Config, "horse") || !strings.Contains(got.Config, "three") {
		t.Errorf("%+v", got)
	}
}

// TestQueryRefused is a table of queries that fail, each with its reason.
func TestQueryRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ files, want string }{
		{"", "No list blocks"},
		{"list \"terraform_data\" \"all\" {\n  provider = terraform\n}\n", "Resource type cannot be listed"},
		{"list \"lab_thing\" \"all\" {\n  provider = lab\n}\n", "Provider is not allowed"},
	} {
		b := newBench(t, map[string]string{"net/main.tf": "resource \"terraform_data\" \"a\" {}\n", "net/find.tfquery.hcl": test.files})
		found, failure, err := b.engine.Query(t.Context(), b.job, 1000)
		if err != nil || found.Lists != nil || !strings.Contains(failure, test.want) {
			t.Errorf("%s: %+v, %s, %v", test.files, found, failure, err)
		}
		if p := b.plan(); p.Plan == nil {
			t.Errorf("a plan reads query files: %s", p.Report)
		}
	}
	b := newBench(t, map[string]string{"net/main.tf": ""})
	b.job = jobs.Unprivileged(b.job, jobs.Snapshot{})
	if _, _, err := b.engine.Query(t.Context(), b.job, 0); err == nil {
		t.Error("a job without rights is queried")
	}
}
