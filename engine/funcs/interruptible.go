package funcs

import (
	"io"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// interruptible is a file whose reading stops when the budget is stopped: some files have no end, such as
// /dev/zero.
type interruptible struct {
	io.Reader
	b *budget.Budget
}

// stepBytes is the number of bytes that count as one step of the budget.
const stepBytes = 4096

// Read implements io.Reader. It returns an error once the budget is stopped.
func (r interruptible) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if x := r.b.Step(int64(n)/stepBytes + 1); x != nil {
		return n, x
	}
	return n, err
}
