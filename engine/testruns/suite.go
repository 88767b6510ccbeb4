package testruns

import (
	"sync"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/events"
)

// A suite is all files of one call of [Run].
type suite struct {
	in        Input
	processes *processes
	functions map[string]function.Function

	salt string // of made-up values

	coverage *coverage

	sending sync.Mutex

	mu       sync.Mutex
	variants map[variantKey]*variant
}

// send tells the listener.
func (s *suite) send(e events.Test) {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.in.Listener(e)
}

// A file is one test file under way.
type file struct {
	*suite
	*testfiles.File
	sources []inputs.Source
	runs    []*run
	result  events.TestFileResult

	mu      sync.Mutex
	states  map[string]*stored
	outputs map[string]cty.Value // of runs that are done, by name
}

// worsen raises the status of the file.
func (f *file) worsen(s events.TestStatus) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.result.Status = max(f.result.Status, s)
}

// broken reports whether the runs that have not begun are skipped.
func (f *file) broken() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.result.Status == events.TestError
}
