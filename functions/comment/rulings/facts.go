package rulings

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// against is the words for the facts that do not count: the first ten that have names, the number of the others, and the rest,
// which may have the remedy.
func against(r Ruling) []string {
	const most = 10
	var out, nameless []string
	more := 0
	if r.Rule == Policy || r.Rule == Gate {
		more = r.Have
	}
	for i, a := range r.Against {
		switch {
		case i < most:
			out = append(out, speaks(a))
		case a.Name == "":
			nameless = append(nameless, speaks(a))
		default:
			more++
		}
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return append(out, nameless...)
}

// speaks is the words for one of them.
func speaks(a Against) string {
	name, names := markdown.Code(a.Name), markdown.List(a.Names)
	if words, ok := whys[a.Why]; ok {
		return words(name, names)
	}
	return name
}

var whys = map[Why]func(name, names string) string{
	EarlierHead: func(name, _ string) string { return name + " approved another commit" },
	FormerPlan:  func(name, _ string) string { return name + " approved a former plan" },
	OwnChange:   func(name, _ string) string { return name + " wrote the change" },
	OwnOrder:    func(name, _ string) string { return name + " asks for the apply" },
	ByBot:       func(name, _ string) string { return name + " is an App that the settings do not name" },
	CannotWrite: func(name, _ string) string { return name + " has not the permission" },
	NotNamed:    func(name, _ string) string { return name + " is none of them" },
	Refuses:     func(name, _ string) string { return name + " requests changes" },
	Unowned:     func(name, names string) string { return name + " waits for " + names },
	UnknownOwner: func(name, _ string) string {
		return name + ", an owner in CODEOWNERS, is not known to GitHub, or may not write: correct the file on the base branch, or grant that"
	},
	Missing:     func(name, _ string) string { return name + " is not there" },
	Running:     func(name, _ string) string { return name + " is not done" },
	CheckFailed: func(name, _ string) string { return name + " has failed" },
	OtherApp:    func(name, names string) string { return name + " was reported by " + names },
	PutBy:       func(name, names string) string { return name + " was put there by " + names + ", who may not write" },
	TakenBy:     func(name, names string) string { return name + " was removed by " + names + ", who may not write" },
	Conflicting: func(string, string) string { return "it conflicts with the base branch" },
	ReviewMissing: func(string, string) string {
		return "the rules of the base branch want a review"
	},
	Behind:  func(string, string) string { return "the base branch has commits that it lacks" },
	IsDraft: func(string, string) string { return "it is a draft" },
	Denied:  func(name, _ string) string { return name },
	Unreliable: func(string, string) string {
		return "it decides nothing until that is mended on the base branch: then comment `lockstep plan`"
	},
	OtherPolicies: func(string, string) string {
		return "the plan was not judged by it as it is now: comment `lockstep plan`"
	},
	NoVerdict: func(string, string) string {
		return "it gave no verdict, and so holds the apply: `lockstep plan` asks it again"
	},
	OtherGate: func(string, string) string {
		return "it was not asked about the plan as it is now: comment `lockstep plan`"
	},
	Unresolved: func(string, string) string {
		return "there are open conversations, which the rules of the base branch want resolved"
	},
	LeftOut: func(name, _ string) string { return name + " is not valid, and left out, as GitHub does" },
	Blocked: func(_, names string) string {
		if names == "" {
			return "GitHub blocks it by rules of the base branch, and does not tell by which"
		}
		return "GitHub blocks it by rules of the base branch, and does not tell by which; it may be one of " + names
	},
}

// few lists the first ten names.
func few(names []string) string {
	const most = 10
	return markdown.Few(names[:min(most, len(names))], max(len(names)-most, 0))
}
