package subprocess

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/confine"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// remedy is the advice for people if [Engine.Remedy] is empty. It fits all limits.
const remedy = "A part of the configuration is too large, or grows without end. Make that part smaller and push, or ask an operator of Lockstep to raise the limit."

// asDeath returns the *jobs.DeathError in an error; nil if it contains none.
func asDeath(err error) *jobs.DeathError {
	var dead *jobs.DeathError
	errors.As(err, &dead)
	return dead
}

// death returns the reason for a child's death.
func (c *call) death(end confine.End) *jobs.DeathError {
	d := &jobs.DeathError{What: c.order.what(), Place: c.where(), Remedy: remedy}
	if c.engine.Remedy != "" {
		d.Remedy = c.engine.Remedy
	}
	d.Why = why(end, c.limits(), string(c.said.text), c.forced)
	if c.early && !c.forced && end.Reason == "" {
		d.Why = "It took longer than a run may take here."
	}
	return d
}

// exceeded matches the message of a Go runtime with the size of a stack.
var exceeded = regexp.MustCompile(`goroutine stack exceeds (\d+)-byte limit`)

// why returns the reason for a child's end as a text: the limit at which it was killed, or an explanation of
// what it wrote to its standard error.
func why(end confine.End, l confine.Limits, said string, forced bool) string {
	switch end.Reason {
	case confine.Memory:
		return fmt.Sprintf("It took more than %s of memory, the limit for one run.", size(l.Memory))
	case confine.CPU:
		return fmt.Sprintf("It took more than %s of processor time, the limit for one run.", l.CPU)
	case confine.Wall:
		return fmt.Sprintf("It took longer than %s, the limit for one run.", l.Wall)
	case confine.Disk:
		return fmt.Sprintf("It wrote more than %s, the limit for one run.", size(l.Disk))
	case confine.Processes:
		return fmt.Sprintf("It started more than %d processes, the limit for one run.", l.Processes)
	}
	switch {
	case forced:
		return fmt.Sprintf("Its time was over, and it did not stop within %s.", grace.Round(time.Second))
	case exceeded.MatchString(said):
		return "It nested things too deeply: its stack overflowed."
	case strings.Contains(said, "out of memory"), strings.Contains(said, "cannot allocate memory"):
		return fmt.Sprintf("It took more than %s of memory, the limit for one run.", size(l.Memory))
	case end.Signal == "CPU time limit exceeded":
		return fmt.Sprintf("It took more than %s of processor time, the limit for one run.", l.CPU)
	case end.Signal == "killed":
		return "Something outside killed its process; often that is the system, when it runs out of memory."
	}
	return fmt.Sprintf("Its process ended with %s; this is a bug in Lockstep.", end)
}

// size returns a number of bytes as a text for people.
func size(bytes int64) string {
	if bytes >= 1<<30 && bytes%(1<<30) == 0 {
		return fmt.Sprintf("%d GiB", bytes>>30)
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}
