package cli

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/events"
)

// However many objects a query finds, only one table of them is kept.
func TestManyFound(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	v := &textView{a: New(context.Background(), Streams{In: &bytes.Buffer{}, Out: &out, Err: &out}, nil)}
	const many = 10_000
	for i := range many {
		v.Query(events.Query{Kind: events.QueryFound, Address: "list.x.all", Found: events.Found{
			DisplayName: fmt.Sprint("thing ", i), Identity: cty.ObjectVal(map[string]cty.Value{"id": cty.NumberIntVal(int64(i))}),
		}})
	}
	if cap(v.listed) > 2*mostListed {
		t.Errorf("%d objects are kept", cap(v.listed))
	}
	v.Query(events.Query{Kind: events.QueryComplete, Address: "list.x.all", Total: many})
	v.Query(events.Query{Kind: events.QueryComplete, Address: "list.x.none"})
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != many+3 || !bytes.Contains(out.Bytes(), []byte("list.x.none found no objects.")) {
		t.Errorf("%d lines", n)
	}
}
