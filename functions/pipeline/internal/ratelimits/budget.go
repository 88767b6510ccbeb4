package ratelimits

import "time"

// A Budget is what is left to an installation of the requests that GitHub takes within an hour, and what its repositories have used of it since less
// than half was left. The last fifth is for those that have used less than their share: however much one repository has planned,
// others go on.
type Budget struct {
	Limit, Left int
	Reset       time.Time
	Used        map[int64]int `json:",omitempty"` // by the ID of the repository
}

// Short reports whether so much is used that the repositories have to share the rest.
func (b Budget) Short() bool { return b.Left < b.Limit/2 }

// Spend adds what a repository has used. now is the budget as GitHub has told it last, without what others have used.
func (b Budget) Spend(repo int64, used int, now Budget) Budget {
	all := map[int64]int{}
	if b.Reset.Equal(now.Reset) {
		for id, n := range b.Used {
			all[id] = n
		}
		now.Left = min(b.Left, now.Left)
	}
	all[repo] += used
	now.Used = all
	return now
}

// Waits reports whether a repository waits for the next hour: only the last fifth is left, and it has used more than its share, as if there were one
// more that shares.
func (b Budget) Waits(repo int64, now time.Time) bool {
	if !now.Before(b.Reset) || b.Left >= b.Limit/5 {
		return false
	}
	sum := 0
	for _, n := range b.Used {
		sum += n
	}
	return b.Used[repo]*(len(b.Used)+1) > sum
}
