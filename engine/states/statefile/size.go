package statefile

import (
	"bytes"

	"github.com/lockstep-iac/lockstep/engine/states"
)

// expectedSize estimates the size of the file, rather too large than too small: a buffer that has to grow is
// copied, and states of large projects are the largest values that an apply has in memory.
func (e *encoder) expectedSize(s *states.State) int {
	n := 4096
	lists := map[*states.Dependencies]int{}
	for o := range s.Objects() {
		n += 512 + laidOut(o.AttrsJSON) + laidOut(o.Identity.JSON) + len(o.Private)*4/3 + 200*len(o.Sensitive)
		size, ok := lists[o.Dependencies]
		if !ok {
			size = e.listSize(o.Dependencies)
			lists[o.Dependencies] = size
		}
		n += size
	}
	return n
}

// indentation is the number of layout bytes before most attributes: the newline, the indentation, and the
// space after the colon.
const indentation = 16

// laidOut estimates the size of a JSON text when it is laid out over many lines.
func laidOut(text []byte) int {
	n := 1
	for _, sign := range []string{",", "{", "[", "}", "]"} {
		n += bytes.Count(text, []byte(sign))
	}
	escaped := 0
	for _, sign := range []string{"<", ">", "&"} {
		escaped += bytes.Count(text, []byte(sign))
	}
	return len(text) + n*indentation + escaped*len(`\u003c`)
}

// listSize returns the size of a list of dependencies in the file.
func (e *encoder) listSize(d *states.Dependencies) int {
	if raw := d.Encoded(); raw != nil || d == nil {
		return len(raw)
	}
	n := 2 * indentation
	for _, i := range e.closure.List(d) {
		n += len(e.closure.Names()[i]) + indentation
	}
	return n
}
