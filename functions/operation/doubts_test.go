package operation

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// stateOf has objects with these attributes, each of the type that its address says.
func stateOf(t *testing.T, objects map[string]map[string]any) *states.State {
	t.Helper()
	e := states.Empty().Edit()
	for address, attributes := range objects {
		a, err := addrs.ParseTarget(address)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(attributes)
		if err != nil {
			t.Fatal(err)
		}
		e.SetObject(addrs.ResourceInstanceObject{Instance: instanceOf(a)}, addrs.AbsProviderConfig{}, &states.Object{AttrsJSON: data})
	}
	return e.State()
}

// TestImportLines holds that the import command has the ID where all objects of the type in the state say how it
// is made, and not where they leave a choice.
func TestImportLines(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		others map[string]map[string]any
		known  map[string]string
		want   string
	}{
		"by name":       {map[string]map[string]any{"q.a": {"id": "one", "name": "one", "size": 3}}, map[string]string{"name": "two"}, "lockstep import 'q.new[\"k\"]' 'two'"},
		"by two":        {map[string]map[string]any{"q.a": {"id": "one@v", "name": "one", "vhost": "v"}}, map[string]string{"name": "two", "vhost": "w"}, "lockstep import 'q.new[\"k\"]' 'two@w'"},
		"a choice":      {map[string]map[string]any{"q.a": {"id": "one", "name": "one", "title": "one"}}, map[string]string{"name": "two", "title": "Two"}, "lockstep import 'q.new[\"k\"]' ID"},
		"no choice":     {map[string]map[string]any{"q.a": {"id": "one", "name": "one", "title": "one"}}, map[string]string{"name": "two", "title": "two"}, "lockstep import 'q.new[\"k\"]' 'two'"},
		"two disagree":  {map[string]map[string]any{"q.a": {"id": "one", "name": "one"}, "q.b": {"id": "17", "name": "b"}}, map[string]string{"name": "two"}, "lockstep import 'q.new[\"k\"]' ID"},
		"of the server": {map[string]map[string]any{"q.a": {"id": "i-17", "name": "one"}}, map[string]string{"name": "two"}, "lockstep import 'q.new[\"k\"]' ID"},
		"nothing known": {map[string]map[string]any{"q.a": {"id": "one", "name": "one"}}, nil, "lockstep import 'q.new[\"k\"]' ID"},
		"another type":  {map[string]map[string]any{"r.a": {"id": "one", "name": "one"}}, map[string]string{"name": "two"}, "lockstep import 'q.new[\"k\"]' ID"},
		"no others":     {nil, map[string]string{"name": "two"}, "lockstep import 'q.new[\"k\"]' ID"},
		"with a quote":  {map[string]map[string]any{"q.a": {"id": "one", "name": "one"}}, map[string]string{"name": "o'neill; rm"}, "lockstep import 'q.new[\"k\"]' 'o'\\''neill; rm'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := journaling.Open{Intent: journaling.Intent{Address: "q.new[\"k\"]", Action: plans.Create.String(), Known: test.known}, Started: time.Now()}
			if got := Doubts([]journaling.Open{u}, stateOf(t, test.others), 1); !strings.Contains(got, "\n  "+test.want+"\n") {
				t.Errorf("%s\nwant %s", got, test.want)
			}
			if got := Doubts([]journaling.Open{u, u}, stateOf(t, test.others), 2); strings.Contains(test.want, "' '") && !strings.Contains(got, "\n  "+test.want+"\n") {
				t.Errorf("of two: %s\nwant %s", got, test.want)
			}
		})
	}
}
