package ratelimits

import "time"

// A Budget counts the requests that GitHub still accepts from an installation in this hour. If less than half
// is left, it also counts the requests of each repository. The last fifth is reserved for repositories that
// have used less than their share. So a repository with many plans does not block the others.
type Budget struct {
	Limit, Left int
	Reset       time.Time
	Used        map[int64]int `json:",omitempty"` // by the ID of the repository
}

// Short reports whether less than half of this hour's requests are left. The repositories then have to share
// the rest.
func (b Budget) Short() bool { return b.Left < b.Limit/2 }

// Spend adds the requests that a repository has used. now is the budget according to GitHub's latest answer,
// which does not distinguish repositories.
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

// Waits reports whether a repository must wait for the next hour. It must if less than a fifth of the requests
// is left, and if the repository has used more than its share. The share is computed as if there were one more
// repository.
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
