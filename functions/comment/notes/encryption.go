package notes

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// EncryptionChange describes how a pull request's encryption block differs from that of the base branch.
type EncryptionChange struct {
	Project string
	// Broken is set if the encryption block in the pull request has errors. The other fields are then not set.
	Broken      bool
	State, Plan Resealed
	// Others is set if the keys or methods change by which the block decrypts the states of other projects
	// (remote_state_data_sources).
	Others bool
}

// Resealed describes how the encryption of states, or of plans, has changed. Its fields are those of
// encrypting.Change.
type Resealed struct{ Any, Begins, Ends, Rekeyed, Unreadable, Relaxed bool }

// Above returns report with the note about the encryption above it.
func (c EncryptionChange) Above(report string) string {
	if !c.Broken && !c.State.Any && !c.Plan.Any && !c.Others {
		return report
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**This pull request changes the encryption of %s.** The change takes effect after the merge. Until then, plans and applies use the encryption of the base branch.", markdown.Code(c.Project))
	lines := append(c.State.words("the state"), c.Plan.words("saved plans")...)
	if c.Others {
		lines = append(lines, "other states (`remote_state_data_sources`) are decrypted with other keys or methods. Check that those states are encrypted that way.")
	}
	if c.Broken {
		lines = []string{"**nothing can be planned or applied**, because the new encryption block has errors. Correct it here first."}
	}
	b.WriteString(" After the merge:\n\n")
	for _, line := range lines {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	return b.String() + "\n" + report
}

// words returns the consequences of the change, each as a sentence. subject is what is encrypted, such as "the
// state".
func (r Resealed) words(subject string) []string {
	var lines []string
	add := func(set bool, text string) {
		if set {
			lines = append(lines, fmt.Sprintf(text, subject))
		}
	}
	verb := "is"
	if strings.HasSuffix(subject, "s") {
		verb = "are"
	}
	add(r.Begins, "%s "+verb+" encrypted from the next apply on.")
	add(r.Ends, "%s "+verb+" **no longer encrypted**: everybody who can read the bucket can read the secrets.")
	add(r.Rekeyed, "%s "+verb+" encrypted with another key or method. Check that everybody who reads %[1]s has access to the new key.")
	add(r.Unreadable, "**%s written before cannot be read**, so every plan fails. To avoid that, add a `fallback` block with the current method before you merge.")
	add(r.Relaxed, "encryption of %s is no longer enforced: the method `unencrypted` would be accepted.")
	if r.Any && len(lines) == 0 {
		add(true, "the encryption of %s has other settings. Lockstep can still read the stored data.")
	}
	return lines
}
