package githubtest

import (
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// auto is the auto-merge that a person has enabled for a pull request.
type auto struct {
	by    *user
	check string // the name of the check that must pass
}

// AutoMerge makes GitHub merge a pull request in a person's name as soon as a check passes on its head.
func (l *pulls) AutoMerge(who string, number int, check string) {
	l.act(who, number, "auto-merge", check, func(p *pull) (string, rest.Object) {
		p.auto = &auto{l.repo.world.person(who), check}
		return "auto_merge_enabled", nil
	})
}

// autoMerge merges the pull requests that wait for the check c, if the check has passed.
func (l *checks) autoMerge(c *checkRun) {
	for _, p := range l.heads(c.shown.SHA) {
		if p.auto == nil || p.auto.check != c.shown.Name || c.shown.Conclusion != github.ConcludedSuccess && c.shown.Conclusion != github.ConcludedNeutral {
			continue
		}
		base := l.repo.mustBranch(p.base)
		p.touched = c.at
		l.pulls.land(p, p.auto.by, base, []string{base, p.headSHA})
		l.repo.note(Edit{Kind: "merge", Who: p.auto.by.login, Number: p.number})
		l.pulls.send(p, p.auto.by, "closed", nil)
	}
}
