package github

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestLatestReviews tells which reviews count, written as "who says what", in the order
// in which they were submitted.
func TestLatestReviews(t *testing.T) {
	type says struct {
		who  string
		what ReviewState
	}
	for name, test := range map[string]struct{ all, want []says }{
		"none":                        {nil, nil},
		"a remark alone":              {[]says{{"bob", Commented}}, []says{{"bob", Commented}}},
		"a remark after a verdict":    {[]says{{"bob", Approved}, {"bob", Commented}}, []says{{"bob", Approved}}},
		"a verdict after a remark":    {[]says{{"bob", Commented}, {"bob", Approved}}, []says{{"bob", Approved}}},
		"another opinion":             {[]says{{"bob", Approved}, {"bob", ChangesRequested}}, []says{{"bob", ChangesRequested}}},
		"dismissed":                   {[]says{{"bob", Dismissed}}, []says{{"bob", Dismissed}}},
		"dismissed, then again":       {[]says{{"bob", Dismissed}, {"bob", Approved}}, []says{{"bob", Approved}}},
		"two, the later one at last":  {[]says{{"bob", Approved}, {"carol", ChangesRequested}, {"bob", Approved}}, []says{{"carol", ChangesRequested}, {"bob", Approved}}},
		"begun only":                  {[]says{{"bob", Approved}, {"bob", "pending"}}, []says{{"bob", Approved}}},
		"an account that was deleted": {[]says{{"", Approved}, {"bob", Approved}}, []says{{"bob", Approved}}},
	} {
		var all, want []Review
		at := func(s says, i int) Review {
			return Review{Author: s.who, State: s.what, At: time.Unix(int64(i), 0)}
		}
		for i, s := range test.all {
			all = append(all, at(s, i))
		}
		for _, s := range test.want {
			want = append(want, Review{Author: s.who, State: s.what})
		}
		got := latestReviews(all)
		for i := range got {
			got[i].At = time.Time{}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
