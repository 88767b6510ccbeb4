package demo

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

var mergeQueue = Story{
	Name:  "merge-queue",
	Shows: "GitHub's merge queue waits for Lockstep's check, and Lockstep applies the result.",
	scenes: []scene{
		opened("carol opens a pull request for the application, which is applied on merge", "carol", "release", "Release 2026.11", newRelease, "applies on merge"),
		opened("bob opens one that cannot be planned", "bob", "broken", "Broken", githubtest.Files{"app/broken.tf": "resource {\n"}, "check lockstep: failure"),
		queues("carol's goes into the merge queue, and the commit of its group gets the check", "carol", 1, "check lockstep: success, 1 project applies on merge"),
		lands("so the queue merges it", true, "**Applied** `app`: 1 added, 0 changed, 0 destroyed"),
		queues("bob's goes in, too", "bob", 2, "check lockstep: failure"),
		lands("and is put out", false),
		opened("dave opens one for the application, too", "dave", "worker", "Worker", githubtest.Files{"app/worker.tf": "resource \"terraform_data\" \"worker\" {\n  input = \"1\"\n}\n"}, "applies on merge"),
		{title: "meanwhile somebody pushes to the base branch", do: by(func(r *githubtest.Repository) {
			r.Push("alice", "main", "Cache", githubtest.Files{"app/cache.tf": "resource \"terraform_data\" \"cache\" {\n  input = \"1\"\n}\n"})
		})},
		queues("dave's goes in: with that its plan is another one, which nobody has read", "dave", 3, "check lockstep: failure", "Failed: the plan has changed in the merge queue", "terraform_data.cache"),
	},
}

// queues returns a scene in which somebody adds a pull request to the merge queue.
func queues(title, who string, number int, want ...string) scene {
	return scene{title: title, want: want, do: by(func(r *githubtest.Repository) { r.Enqueue(who, number) })}
}

// lands returns a scene in which the merge queue merges its first pull request, or removes it.
func lands(title string, merges bool, want ...string) scene {
	return scene{title: title, want: want, do: func(_ context.Context, w *World) error {
		if w.repo.Land("lockstep") != merges {
			return errors.New("the merge queue decides otherwise")
		}
		return nil
	}}
}

var mergeApply = Story{
	Name:  "merge-apply",
	Shows: "Merging applies the plan that people have read, if lockstep.hcl says so.",
	scenes: []scene{
		opened("carol opens a pull request for the application", "carol", "release", "Release 2026.11", newRelease,
			"1 to add, 0 to change, 0 to destroy", "applies on merge"),
		commented("she tries to apply it by a comment", "carol", 1, "lockstep apply",
			"**Not applied** `app`", "To apply the plan, merge the pull request."),
		merged("so she merges", "carol", 1, "**Applied** `app`: 1 added, 0 changed, 0 destroyed"),
		opened("bob opens one for the next release", "bob", "next", "Release 2026.12",
			githubtest.Files{"app/main.tf": edit(baseFiles["app/main.tf"], `"2026.10"`, `"2026.12"`)}, "1 to add, 0 to change, 1 to destroy"),
		opened("meanwhile alice changes the module that it uses", "alice", "prod", "A stage of its own",
			edited("modules/naming/main.tf", `"live"`, `"prod"`), "1 project ready to apply, 1 applies on merge"),
		merged("and merges: bob's plan is another one by now", "alice", 3, "**Applied** `app`",
			"**New plan** for `app`", "the configuration on the base branch has changed: `modules/naming/main.tf`", "The merge does not apply the new plan, because nobody has confirmed it."),
		merged("bob merges what nobody has looked at: nothing is applied", "bob", 2,
			"erged, not applied", "Nobody has confirmed the new plan"),
	},
}

var retryAfterMerge = Story{
	Name:  "retry-after-merge",
	Shows: "A merged change that could not be applied is planned and applied again from its pull request.",
	scenes: []scene{
		opened("carol opens a pull request for the application", "carol", "release", "Release 2026.11", newRelease, "applies on merge"),
		opened("meanwhile alice adds an alarm", "alice", "alarm", "An alarm", githubtest.Files{"app/alarm.tf": oneObject("alarm")}, "2 to add"),
		merged("and merges", "alice", 2, "**Applied** `app`: 2 added"),
		merged("carol merges a plan that nobody has looked at: it is another one by now, and is not applied", "carol", 1,
			"erged, not applied", "To apply what was merged, comment `lockstep retry`", "issue #1001: open, #1 is merged"),
		commented("she has it planned again", "carol", 1, "lockstep retry", "**Planned** `app`: 1 to add, 0 to change, 1 to destroy", "ready to apply"),
		commented("looks at the plan, and applies it", "carol", 1, "lockstep apply", "**Applied** `app`: 1 added, 0 changed, 1 destroyed", "issue #1001: closed"),
	},
}

var followUp = Story{
	Name:  "follow-up",
	Shows: "An apply that fails after the merge opens an issue. The issue closes when the rest is applied.",
	scenes: []scene{
		opened("alice adds a host with a wrong address to the application, which is applied on merge", "alice", "hosts", "A host", githubtest.Files{"app/hosts.tf": hostsFile("10.21.0.9")}, "applies on merge"),
		merged("she merges, and the apply fails half-way", "alice", 1, "**Failed to apply** `app`", "The host is not in our range.", "issue #1001: open, #1 is merged, but not fully applied"),
		opened("bob corrects the address", "bob", "range", "A host in our range", githubtest.Files{"app/hosts.tf": hostsFile("10.20.0.9")}, "applies on merge"),
		merged("and merges, which applies what is left of hers, too", "bob", 2, "**Applied** `app`", "#2 has applied `app`.", "issue #1001: closed"),
	},
}

var automerge = Story{
	Name:  "automerge",
	Shows: "Lockstep merges a pull request when everything is applied, and deletes the branch.",
	scenes: []scene{
		{title: "main asks for it", do: by(func(r *githubtest.Repository) {
			r.Push("carol", "main", "Merge what is applied", githubtest.Files{"lockstep.hcl": baseFiles["lockstep.hcl"] + "\nautomerge {\n  method        = \"squash\"\n  delete_branch = true\n}\n"})
		})},
		opened("alice opens a pull request", "alice", "more", "One more subnet", more, "ready to apply"),
		commented("the App may not merge yet, and says so", "alice", 1, "lockstep apply", "**Applied** `network`: 2 added", "**Applied, not merged.**", "contents"),
		merged("carol merges herself", "carol", 1),
		accepts("contents", "write"),
		opened("bob opens another one", "bob", "again", "Another subnet", githubtest.Files{"network/again.tf": edit(oneSubnet, "\"more\"", "\"again\"")}, "ready to apply"),
		commented("it is applied, and then merged", "bob", 2, "lockstep apply", "**Applied** `network`: 1 added", "merge #2", "deletes the branch again"),
	},
}
