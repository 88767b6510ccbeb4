package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Watch is a pull request with plans that wait at a head under requirements of the settings, or with nothing left but a merge
// that GitHub refuses. Most of the facts behind the decision change without a command, so each change that may be one of these has the
// comments and checks made again, and the merge tried.
type Watch struct {
	Pull Pull
	Head string
	// Base is the tip of the base branch whose settings the decision is by, At the hour of the decision.
	Base string
	At   time.Time
	// Until is a time at which another decision follows from the clock alone; zero if there is none within a day.
	Until time.Time `json:",omitzero"`
	// Reports begin the names of the check runs and commit statuses that count; "" begins all.
	Reports []string `json:",omitempty"`
	// Merge is set if the merge is to be tried again.
	Merge bool `json:",omitempty"`
}

// WatchDir is the directory of the keys of all watches of a commit.
func WatchDir(repo int64, sha string) string { return fmt.Sprintf("watch/%d/%s", repo, sha) }

// Key is the key of the watch's record.
func (w Watch) Key() string {
	return fmt.Sprintf("%s/%d", WatchDir(w.Pull.Repo.ID, w.Head), w.Pull.Number)
}

// LateDir is the directory of the keys of the watches over merged pull requests of a repository, which no list of open ones has.
func LateDir(repo int64) string { return fmt.Sprintf("late/%d", repo) }

// LateKey is the key of the watch's record there.
func (w Watch) LateKey() string { return fmt.Sprintf("%s/%d", LateDir(w.Pull.Repo.ID), w.Pull.Number) }

// Reported reports whether a check run or a commit status of a name, which is none of ours, may change the decision.
func (w Watch) Reported(name string) bool {
	return w.Merge || slices.ContainsFunc(w.Reports, func(begins string) bool { return strings.HasPrefix(name, begins) })
}

// Over reports whether the decision may be another one by now, with the base branch at a tip: by the clock, or by what
// nobody is told of, once an hour.
func (w Watch) Over(now time.Time, tip string) bool {
	return !w.Until.IsZero() && !now.Before(w.Until) || w.Base != tip || !now.Before(w.At.Add(time.Hour))
}

// Decide returns the message that has the decision made again, and which is the same for an hour.
func Decide(w Watch, now time.Time) Message {
	id := fmt.Sprintf("%s%d-%d-%d-%d-%.12s", decided, w.Pull.Repo.ID, w.Pull.Number, now.Unix()/3600, w.Until.Unix(), w.Base)
	return Message{ID: id, Kind: SyncComments, Pull: w.Pull}
}

const decided = "decided-"

// Decided reports whether a message is one of [Decide].
func (m Message) Decided() bool { return strings.HasPrefix(m.ID, decided) }

// DecodeWatch reads the value of a record.
func DecodeWatch(rec Record) (w Watch, err error) {
	if err := json.Unmarshal(rec.Value, &w); err != nil {
		return w, fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
	}
	return w, nil
}
