package notes

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Unguarded is the note on blocks of lockstep.hcl that must hold something and select no project; all are texts in Markdown.
func Unguarded(all []string) string {
	return "**Guards that select no project.** If you merge this, all applies are blocked until `lockstep.hcl` on the base branch is corrected. Correct it here before.\n\n- " + strings.Join(all, "\n- ")
}

// LeftOut is the problem of root modules that cannot be planned, as no command can name their directories.
func LeftOut(dirs []string) string {
	const most = 10
	return fmt.Sprintf("Lockstep cannot plan %s: a project has the name of its directory, and a name has letters (a to z), digits, `_`, `.` and `-` only, and begins with none of the last two. In `lockstep.hcl`, give each of these directories a `project` block with another name, or name it in `exclude`:\n\n%s",
		markdown.Few(dirs[:min(most, len(dirs))], max(len(dirs)-most, 0)), markdown.Fence("hcl", fmt.Sprintf("project \"NAME\" {\n  dir = %q\n}\n", dirs[0])))
}
