package statefile

import (
	"bytes"

	"github.com/lockstep-iac/lockstep/engine/internal/jsonscan"
)

// texts keeps copies of parts of a file, without white space, many of them in one allocation. If even a small
// part were not copied, the whole file would stay in memory.
type texts struct {
	free []byte // unused rest of the allocation
}

// shared is the size in bytes of an allocation for several texts. It is small because an apply that replaces
// a text frees its memory only when all texts of the allocation are gone.
const shared = 16 << 10

// keep returns a copy of a JSON text, without white space. The scanner must have checked the text.
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
