package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Watch is a pull request that Lockstep examines again without a command. Its plans wait until they meet the
// requirements in lockstep.hcl, or GitHub has so far refused to merge the pull request. Most of the facts that
// decide change without a command, for example when a review is submitted. After each change that may matter,
// Lockstep writes the comments and checks again, and tries the merge again.
type Watch struct {
	Pull Pull
	Head string
	// Base is the tip of the base branch whose settings the decision used. At is the hour of the decision.
	Base string
	At   time.Time
	// Until is a moment at which the decision changes by the clock alone; zero if there is none within a day.
	Until time.Time `json:",omitzero"`
	// Reports are prefixes of the names of check runs and commit statuses that matter. "" is a prefix of all
	// names.
	Reports []string `json:",omitempty"`
	// Merge is set if Lockstep must try the merge again.
	Merge bool `json:",omitempty"`
}

// ShadowHead is used instead of a commit in the watch over a pull request with plans in shadow mode. Comments on such a pull
// request may contain the plans of another tool.
const ShadowHead = "shadow"

// WatchDir returns the directory of the keys of all watches of a commit.
func WatchDir(repo int64, sha string) string { return fmt.Sprintf("watch/%d/%s", repo, sha) }

// Key returns the key of the watch's record.
func (w Watch) Key() string {
	return fmt.Sprintf("%s/%d", WatchDir(w.Pull.Repo.ID, w.Head), w.Pull.Number)
}

// LateDir returns the directory of the keys of a repository's watches over merged pull requests. The janitor
// finds these watches only in this directory, because its other search covers only open pull requests.
func LateDir(repo int64) string { return fmt.Sprintf("late/%d", repo) }

// LateKey returns the key of the watch's record in [LateDir].
func (w Watch) LateKey() string { return fmt.Sprintf("%s/%d", LateDir(w.Pull.Repo.ID), w.Pull.Number) }

// DependsOn reports whether a check run or commit status with this name may change the decision about the
// watched pull request. The caller leaves out the names of Lockstep's own checks.
func (w Watch) DependsOn(name string) bool {
	return w.Merge || slices.ContainsFunc(w.Reports, func(begins string) bool { return strings.HasPrefix(name, begins) })
}

// Due reports whether Lockstep must decide again about the watched pull request. That is so in these cases:
// w.Until is reached, the tip of the base branch has changed, or an hour is over. The hour is for facts whose
// changes nobody reports.
func (w Watch) Due(now time.Time, tip string) bool {
	return !w.Until.IsZero() && !now.Before(w.Until) || w.Base != tip || !now.Before(w.At.Add(time.Hour))
}

// Decide returns the message that makes Lockstep decide again about the watched pull request. Its ID stays
// the same for an hour, so repetitions within the hour are dropped.
func Decide(w Watch, now time.Time) Message {
	id := fmt.Sprintf("%s%d-%d-%d-%d-%.12s", decided, w.Pull.Repo.ID, w.Pull.Number, now.Unix()/3600, w.Until.Unix(), w.Base)
	return Message{ID: id, Kind: SyncComments, Pull: w.Pull}
}

const decided = "decided-"

// Decided reports whether [Decide] made the message.
func (m Message) Decided() bool { return strings.HasPrefix(m.ID, decided) }

// DecodeWatch decodes the value of a record.
func DecodeWatch(rec Record) (w Watch, err error) {
	if err := json.Unmarshal(rec.Value, &w); err != nil {
		return w, fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
	}
	return w, nil
}
