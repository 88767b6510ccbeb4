package statefile

import (
	"bytes"

	"github.com/lockstep-iac/lockstep/engine/internal/jsonscan"
)

// texts keeps parts of a file without their layout, many of them in one allocation. The whole file
// would stay in memory with the smallest part of it that is not copied.
type texts struct {
	free []byte // to be filled
}

// shared is the size of an allocation for several texts. What is replaced by an apply frees memory
// only with its neighbours, so that it is not large.
const shared = 16 << 10

// keep returns a copy of a JSON text that the scanner has checked, without white space.
func (t *texts) keep(raw []byte) []byte {
	if len(raw) > cap(t.free)-len(t.free) {
		if len(raw) > shared/4 {
			return bytes.Clone(jsonscan.AppendCompact(make([]byte, 0, len(raw)), raw))
		}
		t.free = make([]byte, 0, shared)
	}
	start := len(t.free)
	t.free = jsonscan.AppendCompact(t.free, raw)
	return t.free[start:len(t.free):len(t.free)]
}
