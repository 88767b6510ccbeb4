package drift

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
)

// turn returns the last time, up to now, at which it was a project's turn. The turns of a project are every apart. key
// identifies the project: the turns of different projects are spread over that time.
func turn(key string, every time.Duration, now time.Time) time.Time {
	sum := sha256.Sum256([]byte(key))
	second := time.Duration(binary.BigEndian.Uint64(sum[:8])%uint64(every/time.Second)) * time.Second
	begin := now.Truncate(every).Add(second)
	if begin.After(now) {
		begin = begin.Add(-every)
	}
	return begin
}

// The pauses between two rounds in a repository. A change of the settings is noticed after longest at the latest.
const (
	shortest = 15 * time.Minute
	longest  = ledger.LongestPause
)

// pause returns the time until the next round, if each project has its turn once in every; 0 means that no project
// has a turn.
func pause(every time.Duration) time.Duration {
	if every == 0 {
		return longest
	}
	return min(max(every/24, shortest), longest)
}
