package notes

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// EncryptionChange describes a pull request's encryption block, where it differs from the base branch's.
type EncryptionChange struct {
	Project string
	// Broken is set if it has errors, so that nothing else is known of it.
	Broken      bool
	State, Plan Resealed
	// Others is set if the states of others are read in another way.
	Others bool
}

// Resealed is the difference for states or for plans; its fields are those of encrypting.Change.
type Resealed struct{ Any, Begins, Ends, Rekeyed, Unreadable, Relaxed bool }

// Above returns a report with the remark about the encryption above it.
func (c EncryptionChange) Above(report string) string {
	if !c.Broken && !c.State.Any && !c.Plan.Any && !c.Others {
		return report
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**The encryption of %s changes in this pull request.** The change takes effect when it is merged; this plan, and an apply before the merge, use the encryption of the base branch.", markdown.Code(c.Project))
	lines := append(c.State.words("the state"), c.Plan.words("saved plans")...)
	if c.Others {
		lines = append(lines, "states of others (`remote_state_data_sources`) are read in another way.")
	}
	if c.Broken {
		lines = []string{"**nothing could be planned or applied**: the new encryption block has errors."}
	}
	b.WriteString(" After the merge:\n\n")
	for _, line := range lines {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	return b.String() + "\n" + report
}

// words are the consequences for a subject, one a line.
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
	add(r.Begins, "%s "+verb+" encrypted, from the next apply on; until then nothing changes.")
	add(r.Ends, "%s "+verb+" **not encrypted any more**: whoever can read the bucket can read the secrets in it.")
	add(r.Rekeyed, "%s "+verb+" encrypted with another key, or in another way. Whoever has no access to that key cannot read what it protects.")
	add(r.Unreadable, "**%s as it was written before cannot be read**, and every plan fails. To avoid that, name the present method in a fallback block before the merge.")
	add(r.Relaxed, "encryption of %s is not enforced any more: a method \"unencrypted\" would be accepted.")
	if r.Any && len(lines) == 0 {
		add(true, "other settings for the encryption of %s count; what is stored can still be read.")
	}
	return lines
}
