// Package project knows which projects a repository has: directories with a root
// module of their own, planned and applied each for itself; which files matter to
// which; what of other people's programs planning one may run, and where its modules may
// come from.
//
// A repository says it in lockstep.hcl ([Parse]), or leaves it to what its
// directories hold ([Discover]). Whoever opens a pull request writes that file too:
// so what is discovered in it says only where to look, and what grants rights
// ([Settings.ApplyOn], [GrantsOf], [Allow.States]) is for the caller to read at the base
// commit, and at the default branch's where the base is another ([Settings.Names]).
//
// The package looks at files and nothing else, and refuses to know pull requests and
// plans, and what is in a state. Start at [Discover].
package project

import (
	"regexp"

	"github.com/lockstep-iac/lockstep/functions/places"
)

// A Project is a root module and the workspace that its state is in.
type Project struct {
	// Name is what people call it; it is unique in the repository.
	Name string
	// Dir is its directory, slash-separated, from the repository's own, which is ".".
	Dir       string
	Workspace string
	// Modules are the directories of the local modules that it calls, and those call,
	// sorted. [Discover] fills it in.
	Modules []string
	// WhenChanged are the patterns of the files that it is planned for, in
	// doublestar's notation, from the repository's directory. nil: the files of Dir and
	// Modules, and VarFiles.
	WhenChanged []string
	// VarFiles are files with values of variables, as -var-file takes them, by paths
	// from the repository's directory. Later ones win.
	VarFiles []string
	// Apply says what applies it. What the base branch says counts: see
	// [Settings.ApplyOn].
	Apply ApplyOn
	// Backend is the type of the backend that its configuration names, "" if it names
	// none. [Discover] fills it in.
	Backend string
	// Place is where its configuration keeps its state; if that is nowhere, Nowhere says
	// why, for people. [Discover] fills them in. Whether the state may be there is not said:
	// the base commit counts.
	Place   places.Place
	Nowhere string
}

// ApplyOn says on what occasion a plan is applied.
type ApplyOn string

const (
	OnComment ApplyOn = "comment" // somebody writes "lockstep apply" before the merge
	OnMerge   ApplyOn = "merge"   // the pull request is merged
)

// FileName is the file, in the repository's directory, that describes its projects.
const FileName = "lockstep.hcl"

// DefaultWorkspace is the workspace of a project that names none.
const DefaultWorkspace = "default"

// MaxProjects is how many projects a repository may have, so that no pull request
// can ask for more plans than anybody would read.
const MaxProjects = 200

// namePattern is what the grammar of commands can name; package comment has the same,
// which a test holds.
var namePattern = regexp.MustCompile(`^(\.|[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*)$`)

// maxName is how long a name may be, in bytes.
const maxName = 200

func validName(s string) bool { return len(s) <= maxName && namePattern.MatchString(s) }
