package ratelimits

import "time"

// A Budget is what is left of the requests that GitHub accepts from an installation in an hour. It also has
// what the repositories have used since less than half was left. The last fifth is for repositories that have
// used less than their share. So a repository with many plans does not stop others.
type Budget struct {
	Limit, Left int
	Reset       time.Time
	Used        map[int64]int `json:",omitempty"` // by the ID of the repository
}

// Short reports whether so much is used that the repositories have to share the rest.
func (b Budget) Short() bool { return b.Left < b.Limit/2 }

// Spend adds the requests that a repository has used. now is the budget in GitHub's last answer, without the
// use of each repository.
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

// Waits reports whether a repository has to wait for the next hour. Only the last fifth is left, and the
// repository has used more than its share, counted as if one more repository shared.
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
