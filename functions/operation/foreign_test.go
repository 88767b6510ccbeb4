package operation

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// foreign is a state as another tool has written it, with an object at the address of b.
const foreign = `{
  "version": 4,
  "terraform_version": "1.11.4",
  "serial": 7,
  "lineage": "LINEAGE",
  "outputs": {},
  "resources": [
    {
      "mode": "managed",
      "type": "terraform_data",
      "name": "b",
      "provider": "provider[\"terraform.io/builtin/terraform\"]",
      "instances": [
        {
          "schema_version": 0,
          "attributes": {"id": "theirs", "input": null, "output": null, "triggers_replace": null},
          "sensitive_attributes": []
        }
      ]
    }
  ]
}
`

// TestForcedUnlockAndForeignWrite has a person release the lock of an apply while it makes its first
// object, and a stock tool write the state. The apply overwrites nothing, and tells; the next one folds what it had done into the other's state, and ends whole.
func TestForcedUnlockAndForeignWrite(t *testing.T) {
	t.Parallel()
	for _, after := range []string{"intent", "outcome"} {
		for _, other := range []bool{false, true} {
			t.Run(after+map[bool]string{true: ", another lineage", false: ""}[other], func(t *testing.T) {
				t.Parallel()
				log := new(eavesdropped)
				b := journaled{new(statebackendtest.Fake), log}
				w, err := b.Open("default")
				if err != nil {
					t.Fatal(err)
				}
				text, err := statefile.Write(states.Empty().With("lineage", 1))
				if err != nil {
					t.Fatal(err)
				}
				version, err := w.Put(t.Context(), text, "")
				if err != nil {
					t.Fatal(err)
				}
				theirs := strings.Replace(foreign, "LINEAGE", map[bool]string{true: "other", false: "lineage"}[other], 1)
				d := mustOpen(t, b, continuing("r"))
				log.once(`"kind":"`+after+`"`, func() {
					if err := w.Unlock(t.Context(), d.State.Holding().Lease().Lock); err != nil {
						t.Error(err)
					}
					if _, err := w.Put(t.Context(), []byte(theirs), version); err != nil {
						t.Error(err)
					}
				})
				done, ds := applied(t, d)
				if !ds.HasErrors() {
					t.Error("the apply has no error")
				}
				if !tells(ds, "The state lock was lost") && !tells(ds, "Failed to save state") {
					t.Errorf("a person reads %v", ds)
				}
				if s := storedState(t, b); s != theirs {
					t.Errorf("the state of the other was overwritten by %s", s)
				}
				d.Unlock(t.Context())
				if other { // nothing can be told of whose objects they are
					_, ds := opened(t, b, continuing("next"))
					if !ds.HasErrors() || !strings.Contains(ds.Error(), `belongs to a state of lineage "lineage", and the state has lineage "other"`) || !strings.Contains(ds.Error(), "Put that state back.") {
						t.Errorf("the next one reads %v", ds)
					}
					if s := storedState(t, b); s != theirs {
						t.Errorf("the state of the other was overwritten by %s", s)
					}
					return
				}
				// A lock that is released and taken by nobody is missed at its next renewal: until then
				// objects are made, of which the other has one, too.
				next := mustOpen(t, b, continuing("next"))
				if c := next.Recovery.Conflicts; done.Tally.Done().Add == 2 && (len(c) != 1 || c[0].Address != "terraform_data.b") {
					t.Errorf("conflicts: %+v", c)
				}
				if s := storedState(t, b); !strings.Contains(s, "theirs") || !strings.Contains(s, `"name": "a"`) {
					t.Errorf("the state is %s", s)
				}
				releases(t, next)
				whole(t, b)
			})
		}
	}
}
