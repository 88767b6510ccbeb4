//go:build linux

package lambdatest_test

import (
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestOthersChecked holds that the deployed functions check the plans of others, with the rights that
// they have: one that an apply has made another one, and one that it has nothing to do with.
func TestOthersChecked(t *testing.T) {
	t.Parallel()
	r, n := twoThings(t)
	peer := r.pull("peer", githubtest.Files{"net/peer.tf": thing("peer", "10.0.2.0/24")})
	r.expect("the first apply", r.say("alice", peer, "lockstep apply"), "**Applied**", "2 added")
	r.repo.Merge("alice", peer)
	r.settle()
	r.expect("another plan", r.status(n), "has a new plan", "1 to add", "# terraform_data.vpc\n- action: create", "by #2, applied by `alice`")
	r.expect("its check", r.checks("subnet"), "completed action_required")
	r.expect("an apply that names none", r.say("alice", n, "lockstep apply"), "**Not applied**", "Nobody has confirmed the new plan")

	same := r.pull("same", githubtest.Files{"net/same.tf": thing("same", "10.0.3.0/24")})
	zone := r.pull("zone", githubtest.Files{"net/zone.tf": thing("zone", "10.0.4.0/24")})
	r.expect("the second apply", r.say("alice", zone, "lockstep apply"), "**Applied**", "1 added")
	r.repo.Merge("alice", zone)
	r.settle()
	r.expect("the same plan", r.status(same), "Planned again", "by #4, applied by `alice`", "ready to apply")
	r.expect("its apply", r.say("alice", same, "lockstep apply"), "**Applied**", "1 added, 0 changed, 0 destroyed")
	r.free(netState)
}
