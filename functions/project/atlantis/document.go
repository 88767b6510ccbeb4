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
	// Discover is set if directories without an entry are projects, too, if their configurations have a backend.
	Discover bool
	// Exclude are patterns of directories that are not.
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

// A Notice is about a part of the file that has no meaning here, or another form.
type Notice struct {
	File  string
	Lines []int
	// Key is the part: a key of the file, a step, or an argument of a command. Whoever may open a pull
	// request has written it, in at most 60 bytes without control characters.
	Key string
	// Instead is a sentence about the way here.
	Instead string
	// Carried is set if lockstep.hcl has the part, in another form.
	Carried bool
}

// Where is the notice's place, for people: the part, and its lines in its file.
func (n Notice) Where() string {
	var lines []string
	for _, x := range n.Lines {
		lines = append(lines, strconv.Itoa(x))
	}
	return n.Key + " (" + n.File + ":" + strings.Join(lines, ", ") + ")"
}

// notices collects notices: the same one of many projects is one with many lines.
type notices struct {
	file string
	all  []Notice
}

// Limits of a report: nobody reads more.
const (
	maxNotices = 100
	maxLines   = 200
)

// add adds a notice about a part, with the sentence that has the given name in instead.
func (n *notices) add(line int, key, name string) {
	key = visible(key)
	new := Notice{File: n.file, Key: key, Instead: instead[name], Carried: slices.Contains(carried, name)}
	i := slices.IndexFunc(n.all, func(x Notice) bool { return x.Key == key && x.Instead == new.Instead })
	switch {
	case i < 0 && len(n.all) > maxNotices:
		return
	case i < 0 && len(n.all) == maxNotices:
		new.Key, new.Instead = "...", "There are more problems of this kind. They are not listed."
		fallthrough
	case i < 0:
		n.all = append(n.all, new)
		i = len(n.all) - 1
	}
	if x := &n.all[i]; len(x.Lines) < maxLines && !slices.Contains(x.Lines, line) {
		x.Lines = append(x.Lines, line)
	}
}

// sorted returns the notices by their first lines.
func (n *notices) sorted() []Notice {
	for _, x := range n.all {
		slices.Sort(x.Lines)
	}
	slices.SortStableFunc(n.all, func(a, b Notice) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Lines[0], b.Lines[0]))
	})
	return n.all
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
