package cli

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/render"
)

// mostListed is the maximum number of objects in one table in the output of the command query. After that many
// objects, a new table begins.
const mostListed = 100

func (v *textView) Query(e events.Query) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e.Kind == events.QueryFound {
		v.listed = append(v.listed, e)
	}
	if len(v.listed) == mostListed || e.Kind == events.QueryComplete {
		v.a.Print().QueryResults(v.a.Out, v.listed)
		v.listed = v.listed[:0]
	}
	if e.Kind != events.QueryComplete {
		return
	}
	if e.Total == 0 {
		fmt.Fprintf(v.a.Out, "%s found no objects.\n", e.Address)
	}
	fmt.Fprintln(v.a.Out)
}

func (v *jsonView) Query(e events.Query) { v.send(render.QueryMessage(e)) }
