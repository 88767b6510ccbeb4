package atlantis

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// FileName is the file's name, in the repository's directory.
const FileName = "atlantis.yaml"

// A Document is the content of atlantis.yaml, in the terms of lockstep.hcl. Names and paths are as they stand
// in the file, and not checked.
type Document struct {
	Projects []Project
	// Exclude are patterns of directories without projects.
	Exclude []Text
	// Require are the requirements, in the order of their first lines.
	Require []requirements.Requirement
	// Automerge is set if a pull request is merged once all of its projects are applied, and DeleteBranch if its
	// branch goes then.
	Automerge    bool
	DeleteBranch bool
	// Unreadable is set if the file has errors that may hide a requirement.
	Unreadable bool
	// Notices are the parts without a meaning here, in the order of the file.
	Notices []Notice
}

// A Text is a text of the file with its range.
type Text struct {
	Value string
	At    hcl.Range
}

// A Project is one of the file's list. Paths are from the repository's directory.
type Project struct {
	At        hcl.Range
	Name      Text
	Dir       Text
	Workspace Text // empty: the default one
	// WhenChanged are patterns in doublestar's notation; one that begins with ! takes files out again.
	// nil: the project's own files.
	WhenChanged   []Text
	VarFiles      []Text
	Variables     map[string]json.RawMessage
	BackendFiles  []Text
	BackendConfig map[string]json.RawMessage
	// DependsOn are the names of projects of the file that are applied before it. Group is its
	// execution_order_group: those of lower groups are applied before it, too.
	DependsOn []Text
	Group     int
	// Broken is set if the project has errors.
	Broken bool
}

// A Notice is about a part of the file that has no meaning here.
type Notice struct {
	Lines []int
	// Key is the part: a key of the file, a step, or an argument of a command. Whoever may open a pull
	// request has written it, in at most 60 bytes without control characters.
	Key string
	// Instead is a sentence about the way here.
	Instead string
}

// Where is the notice's place, for people: the part, and its lines in a file.
func (n Notice) Where(file string) string {
	var lines []string
	for _, x := range n.Lines {
		lines = append(lines, strconv.Itoa(x))
	}
	return n.Key + " (" + file + ":" + strings.Join(lines, ", ") + ")"
}

// notices collects notices: the same one of many projects is one with many lines.
type notices []Notice

// Limits of a report: nobody reads more.
const (
	maxNotices = 100
	maxLines   = 200
)

func (n *notices) add(line int, key, instead string) {
	key = visible(key)
	i := slices.IndexFunc(*n, func(x Notice) bool { return x.Key == key && x.Instead == instead })
	switch {
	case i < 0 && len(*n) > maxNotices:
		return
	case i < 0 && len(*n) == maxNotices:
		key, instead = "...", "There is more of the kind, which is not listed."
		fallthrough
	case i < 0:
		*n = append(*n, Notice{Key: key, Instead: instead})
		i = len(*n) - 1
	}
	if x := &(*n)[i]; len(x.Lines) < maxLines && !slices.Contains(x.Lines, line) {
		x.Lines = append(x.Lines, line)
	}
}

// sorted returns the notices by their first lines.
func (n notices) sorted() []Notice {
	for _, x := range n {
		slices.Sort(x.Lines)
	}
	slices.SortStableFunc(n, func(a, b Notice) int { return cmp.Compare(a.Lines[0], b.Lines[0]) })
	return n
}

// maxKey is the limit of a notice's key in bytes.
const maxKey = 60

// visible cuts a text of the file, and replaces characters that could change the look of a report.
func visible(s string) string {
	out := []byte{}
	for _, r := range s {
		if len(out) > maxKey-len("...") {
			return string(out) + "..."
		}
		if r < ' ' || r > '~' {
			r = '?'
		}
		out = append(out, byte(r))
	}
	return string(out)
}
