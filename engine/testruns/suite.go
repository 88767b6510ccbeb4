package testruns

import (
	"sync"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/events"
)

// A suite is one call of [Run], with all its test files.
type suite struct {
	in        Input
	processes *processes
	functions map[string]function.Function

	salt string // part of the seed of made-up values

	coverage *coverage

	sending sync.Mutex

	mu       sync.Mutex
	variants map[variantKey]*variant
}

// send sends an event to the listener, one at a time.
func (s *suite) send(e events.Test) {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.in.Listener(e)
}

// A file is a test file, while it is carried out.
type file struct {
	*suite
	*testfiles.File
	sources []inputs.Source
	runs    []*run
	result  events.TestFileResult

	mu      sync.Mutex
	states  map[string]*stored
	outputs map[string]cty.Value // outputs of finished runs, by name of the run
}

// worsen sets the status of the file to s, unless the status is worse already.
func (f *file) worsen(s events.TestStatus) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.result.Status = max(f.result.Status, s)
}

// broken reports whether a run ended in an error: the file then skips all runs that have not begun.
func (f *file) broken() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.result.Status == events.TestError
}
