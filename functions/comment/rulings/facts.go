package rulings

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// against returns the texts about facts that speak against the rule: the first ten, and how many more there
// are. Facts without a name are all listed, because their texts may contain advice.
func against(r Ruling) []string {
	const most = 10
	var out, nameless []string
	more := 0
	if r.Rule.judges() || r.Rule == NoRisk {
		more = r.Have
	}
	for i, a := range r.Against {
		switch {
		case i < most:
			out = append(out, factWords(r, a))
		case a.Name == "":
			nameless = append(nameless, factWords(r, a))
		default:
			more++
		}
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return append(out, nameless...)
}

// factWords returns the text about one fact that speaks against the rule.
func factWords(r Ruling, a Against) string {
	name, names := markdown.Code(a.Name), markdown.List(a.Names)
	switch {
	case a.Why == NotNamed:
		names = either(r.Wanted)
	case a.Why == Unowned: // one of the owners is enough
		names = either(a.Names)
	case a.Why == "" && r.Rule == NotLabels:
		return "it has " + name
	}
	if words, ok := whys[a.Why]; ok {
		return words(name, names)
	}
	return name
}

var whys = map[Why]func(name, names string) string{
	EarlierHead: func(name, _ string) string { return name + " approved an earlier commit" },
	FormerPlan:  func(name, _ string) string { return name + " approved an earlier plan" },
	OwnChange: func(name, _ string) string {
		return name + " is an author of the change, so this approval does not count"
	},
	OwnOrder:    func(name, _ string) string { return name + " requested the apply, so this approval does not count" },
	ByBot:       func(name, _ string) string { return name + " is an App that the settings do not list" },
	CannotWrite: func(name, _ string) string { return name + " has no write permission" },
	NotNamed: func(name, wanted string) string {
		if wanted == "" {
			return name + " is not in the list"
		}
		return name + " is not in " + wanted
	},
	Refuses: func(name, _ string) string { return name + " requested changes" },
	Unowned: func(name, names string) string { return name + " needs the approval of " + names },
	UnknownOwner: func(name, _ string) string {
		return "CODEOWNERS names " + name + ", who does not exist or cannot write to the repository: correct CODEOWNERS on the base branch, or give write access"
	},
	Missing:     func(name, _ string) string { return name + " is missing" },
	Running:     func(name, _ string) string { return name + " is in progress" },
	CheckFailed: func(name, _ string) string { return name + " has failed" },
	OtherApp:    func(name, names string) string { return name + " was reported by another App, " + names },
	PutBy: func(name, names string) string {
		return name + " was added by " + names + ", who cannot write to the repository"
	},
	TakenBy: func(name, names string) string {
		return name + " was removed by " + names + ", who cannot write to the repository"
	},
	Conflicting: func(string, string) string { return "the branch conflicts with the base branch" },
	ReviewMissing: func(string, string) string {
		return "the branch protection requires a review"
	},
	Behind:  func(string, string) string { return "the base branch has newer commits" },
	IsDraft: func(string, string) string { return "the pull request is a draft" },
	IsIssue: func(string, string) string {
		return "an issue cannot be merged: open a pull request that touches the project, and apply there"
	},
	Denied: func(name, _ string) string { return name },
	Unreliable: func(string, string) string {
		return "the policy is broken and blocks the apply: fix it on the base branch, then comment `lockstep plan`"
	},
	OtherPolicies: func(string, string) string {
		return "the policy has changed since the plan: comment `lockstep plan`"
	},
	AtRisk: func(name, names string) string { return "the plan has the risk " + name + ": " + names },
	NotAssessed: func(string, string) string {
		return "Lockstep has not looked for risks with the present settings: comment `lockstep plan`"
	},
	NoVerdict: func(string, string) string {
		return "the gate did not answer: comment `lockstep plan` to ask it again"
	},
	OtherGate: func(string, string) string {
		return "the gate has not seen this plan: comment `lockstep plan`"
	},
	CostsMore: func(name, _ string) string { return "this plan raises the costs by " + name },
	NoCosts: func(string, string) string {
		return "no step has reported the costs before and after this change: run infracost in a step after the plan, then comment `lockstep plan`"
	},
	NoResult: func(string, string) string {
		return "the step has no result: comment `lockstep plan` to run it again"
	},
	OtherStep: func(string, string) string {
		return "the step has not run for this plan, or has changed since: comment `lockstep plan`"
	},
	Unresolved: func(string, string) string {
		return "the branch protection requires all conversations to be resolved"
	},
	LeftOut: func(name, _ string) string { return "CODEOWNERS has an invalid line, which GitHub ignores: " + name },
	Blocked: func(_, names string) string {
		if names == "" {
			return "GitHub blocks the merge by branch protection, and does not say by which rule"
		}
		return "GitHub blocks the merge by branch protection, and does not say by which rule; possible rules: " + names
	},
}

// few returns a list of the first ten names, and how many more there are.
func few(names []string) string {
	const most = 10
	return markdown.Names(names, most)
}
