package render

import (
	"encoding/json"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/events"
)

func strs(attrs ...string) cty.Value {
	out := map[string]cty.Value{}
	for i := 0; i < len(attrs); i += 2 {
		out[attrs[i]] = cty.StringVal(attrs[i+1])
		if attrs[i+1] == "" {
			out[attrs[i]] = cty.NullVal(cty.String)
		}
	}
	return cty.ObjectVal(out)
}

func TestQueryMessages(t *testing.T) {
	t.Parallel()
	secret := events.Found{DisplayName: "thing a", Identity: strs("name", "a", "zone", ""), IdentityVersion: 2, Object: strs("name", "a", "pass", "hunx2"), Secrets: []cty.Path{cty.GetAttrPath("pass")}}
	for want, e := range map[string]events.Query{
		`{"address":"list.x.all","resource_type":"x"}`:                              {Kind: events.QueryStart, Address: "list.x.all", Type: "x"},
		`{"address":"list.x.all","input_config":{"zone":"eu"},"resource_type":"x"}`: {Kind: events.QueryStart, Address: "list.x.all", Type: "x", Config: strs("zone", "eu", "more", "")},
		`{"address":"list.x.all","resource_type":"x","total":3}`:                    {Kind: events.QueryComplete, Address: "list.x.all", Type: "x", Total: 3},
		`{"address":"list.x.all","display_name":"thing a","identity":{"name":"a"},"identity_version":2,"resource_object":{"name":"a","pass":null},"resource_type":"x"}`: {Kind: events.QueryFound, Address: "list.x.all", Type: "x", Found: secret},
	} {
		m := said(t, QueryMessage(e))
		var got any
		for _, name := range []string{"list_start", "list_resource_found", "list_complete"} {
			if m[name] != nil {
				got = m[name]
			}
		}
		var wanted any
		if err := json.Unmarshal([]byte(want), &wanted); err != nil {
			t.Fatal(err)
		}
		if d := gocmp.Diff(wanted, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}

// The columns of a table are as wide as they need to be, and a name cannot write over the lines of others.
func TestQueryResults(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	(&Printer{}).QueryResults(&b, []events.Query{
		{Address: "list.x.all", Found: events.Found{DisplayName: "thing a", Identity: strs("name", "a", "zone", "")}},
		{Address: "list.x.all", Found: events.Found{DisplayName: "b\r\x1b[2K\nc", Identity: strs("name", "longer\n", "zone", "eu")}},
	})
	lines := strings.Split(b.String(), "\n")
	if len(lines) != 3 || strings.Index(lines[0], "thing a") != strings.Index(lines[1], `"b\r`) || strings.ContainsAny(b.String(), "\r\x1b") {
		t.Errorf("%q", lines)
	}
}
