package notes

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Unguarded returns the note on require and policy blocks of lockstep.hcl that apply to no project. all
// describes each block, in Markdown.
func Unguarded(all []string) string {
	return "**Rules that match no project.** If you merge this, all applies are blocked until `lockstep.hcl` is corrected. Correct it here first.\n\n- " + strings.Join(all, "\n- ")
}

// LeftOut returns the text about root modules that cannot be planned, because no command can contain the names
// of their directories.
func LeftOut(dirs []string) string {
	const most = 10
	return fmt.Sprintf("Lockstep cannot plan %s. A project is named after its directory, and a name can have only the letters a to z, digits, `_`, `.` and `-`, and cannot begin with `.` or `-`. In `lockstep.hcl`, give each of these directories a `project` block with another name, or list it in `exclude`:\n\n%s",
		markdown.Names(dirs, most), markdown.Fence("hcl", fmt.Sprintf("project \"NAME\" {\n  dir = %q\n}\n", dirs[0])))
}
