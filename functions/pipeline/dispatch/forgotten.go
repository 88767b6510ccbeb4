package dispatch

import (
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// forgotten reports whether a comment is so old that nobody comes back to it for a good
// reason: its pull request, by the same clock, has changed since for longer than Memory.
// What has no time is not forgotten.
func forgotten(written, changed time.Time) bool {
	return !written.IsZero() && changed.Sub(written) > pipeline.Memory
}
