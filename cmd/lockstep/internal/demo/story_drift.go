package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// edgeFiles are the files of a project in which Lockstep looks for drift.
var edgeFiles = githubtest.Files{
	"lockstep.hcl":    baseFiles["lockstep.hcl"] + "\ndrift {\n  projects = [\"network\"]\n}\n",
	"network/edge.tf": "resource \"terraform_data\" \"edge\" {\n  input = \"10.40.0.0/24\"\n}\n",
}

// drifted are the scenes up to the issue about drift.
var drifted = []scene{
	opened("alice adds the range of the edge, and has Lockstep look for drift", "alice", "edge", "The edge", edgeFiles, "check lockstep/network: success"),
	commented("she applies", "alice", 1, "lockstep apply", "**Applied** `network`"),
	merged("and merges", "alice", 1),
	{title: "somebody changes the range in the console of the cloud. At the next look, there is an issue", want: []string{"issue #1001: open, Drift in network"}, do: func(ctx context.Context, w *World) error {
		w.cloud.change("10.40.0.0/24", "10.40.0.0/22")
		return w.look(ctx, "network@default")
	}},
}

// look looks for drift in a project now, and not only at its turn.
func (w *World) look(ctx context.Context, target string) error {
	repo := pipeline.Pull{Installation: w.repo.Installation(), Repo: w.repo.Repo()}
	return w.machine.Data.Queue.Send(ctx, pipeline.Message{Kind: pipeline.ToDrift, Pull: repo, ID: fmt.Sprint("look-", time.Now().UnixNano()), Target: target})
}

var drift = Story{
	Name:  "drift",
	Shows: "Somebody changes an object outside of Lockstep: an issue says what, and its commands undo the change.",
	scenes: append(drifted[:len(drifted):len(drifted)],
		commented("bob asks for a plan that undoes it", "bob", 1001, "lockstep drift revert", "**Planned** `network`: 0 to add, 1 to change", "10.40.0.0/22"),
		commented("he applies it there: the drift is gone, and so is the issue", "bob", 1001, "lockstep apply", "**Applied** `network`: 0 added, 1 changed", "issue #1001: closed"),
	),
}

var driftAccept = Story{
	Name:  "drift-accept",
	Shows: "A change outside of Lockstep was right: it goes into the configuration by a pull request, and into the state.",
	scenes: append(append([]scene{accepts("contents", "write")}, drifted...),
		commented("bob wants to keep it: Lockstep opens a pull request with the line", "bob", 1001, "lockstep drift propose",
			"Opened #2. It writes the present values of `network` into 1 line of the configuration.", "check lockstep/network: success"),
		merged("he merges it", "bob", 2),
		commented("and asks for a plan that writes the present values into the state", "bob", 1001, "lockstep drift accept", "**Planned** `network`: no changes"),
		commented("he applies it: the issue is done", "bob", 1001, "lockstep apply", "**Applied** `network`", "issue #1001: closed"),
	),
}
