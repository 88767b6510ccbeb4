package project

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// maxBots is the maximum number of named Apps.
const maxBots = 20

// bots reads the logins of Apps.
func (p *parser) bots(a *hcl.Attribute) (out []string) {
	for _, s := range p.list(a) {
		party, err := requirements.ParseParty(s.text)
		if err != nil || !strings.HasSuffix(party.Login, "[bot]") {
			p.errorf(s.at, "Invalid login of an App", "%q is not the login of an App, which ends with [bot]: \"renovate[bot]\". People command by their permission.", s.text)
			continue
		}
		out = append(out, party.Login)
	}
	if len(out) > maxBots {
		p.errorf(a.Expr.Range(), "Too many Apps", "There are %d, and at most %d are allowed.", len(out), maxBots)
		return nil
	}
	return out
}

// NamesBot reports whether the App with this login may give commands like people with write access. s comes
// from the default branch.
func (s *Settings) NamesBot(login string) bool {
	return s != nil && slices.Contains(s.Allow.Bots, strings.ToLower(login))
}
