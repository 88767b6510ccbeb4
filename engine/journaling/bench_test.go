package journaling

import (
	"fmt"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// BenchmarkRecords is the part of an apply that a journal costs, without the disk.
func BenchmarkRecords(b *testing.B) {
	n := new(notation)
	j := New("run", n)
	o := &states.Object{Status: states.Ready, AttrsJSON: []byte(`{"id":"0123456789abcdef","input":{"name":"something","size":12,"tags":["a","b"]},"output":{"name":"something","size":12,"tags":["a","b"]},"triggers_replace":null}`), Private: []byte("private")}
	b.ReportAllocs()
	for i := range b.N {
		a, err := addrs.ParseAbsResourceInstance(fmt.Sprintf("thing.a[%d]", i))
		if err != nil {
			b.Fatal(err)
		}
		id, _ := j.Intent(b.Context(), Intent{Address: a.String(), Action: "create", Known: map[string]string{"name": "something"}})
		j.Edit(addrs.ResourceInstanceObject{Instance: a}, providerConfig, nil, o)
		j.Outcome(b.Context(), id, "")
	}
}
