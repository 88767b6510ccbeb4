package counting_test

import (
	"encoding/json"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
)

// TestStored reads and writes counts as the records of runs have them: records of earlier versions stay readable.
func TestStored(t *testing.T) {
	t.Parallel()
	const stored = `{"Import":1,"Add":2,"Change":3,"Destroy":4,"Forget":5}`
	want := counting.Counts{Import: 1, Add: 2, Change: 3, Destroy: 4, Forget: 5}
	var got counting.Counts
	if err := json.Unmarshal([]byte(stored), &got); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if text, err := json.Marshal(want); err != nil || string(text) != stored {
		t.Errorf("%s, %v, want %s", text, err, stored)
	}
}

// TestPlus adds each number to its like.
func TestPlus(t *testing.T) {
	t.Parallel()
	a := counting.Counts{Import: 1, Add: 2, Change: 3, Destroy: 4, Forget: 5}
	b := counting.Counts{Import: 10, Add: 20, Change: 30, Destroy: 40, Forget: 50}
	if got, want := a.Plus(b), (counting.Counts{Import: 11, Add: 22, Change: 33, Destroy: 44, Forget: 55}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
