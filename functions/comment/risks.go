package comment

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Risk is something dangerous that a plan does. Its texts come from the pull request, without secrets.
type Risk struct {
	// Name is the kind of the risk, such as "public-ingress". Object is the address of the object.
	Name, Object string
	// Text is a phrase that says what the plan does: "opens 22/tcp to 0.0.0.0/0". Parts of it that come from the
	// configuration are between backquotes.
	Text string
	// May is set if the plan does not show all values. Text then says "may".
	May bool `json:",omitempty"`
}

// These are the limits of the lines about risks: how many there are, how many objects one names, and the lengths of
// an address and a text in bytes.
const (
	maxRiskLines   = 10
	maxRiskObjects = 3
	maxRiskAddress = 150
	maxRiskText    = 300
)

// RiskLines returns a list of risks in Markdown, with a line for each different text; "" if there are no risks.
func RiskLines(all []Risk) string {
	objects := map[[2]string][]string{}
	var lines [][2]string
	for _, r := range all {
		k := [2]string{r.Name, r.Text}
		if objects[k] == nil {
			lines = append(lines, k)
		}
		objects[k] = append(objects[k], cutTitle(r.Object, maxRiskAddress))
	}
	shown := lines
	if len(lines) > maxRiskLines+maxRiskLines/4 { // a cut would save little
		shown = lines[:maxRiskLines]
	}
	var b strings.Builder
	for _, k := range shown {
		fmt.Fprintf(&b, "- **Risk** %s: %s (%s)\n", markdown.Code(k[0]), riskText(k[1]), markdown.Names(objects[k], maxRiskObjects))
	}
	if len(shown) < len(lines) {
		more := map[string]int{}
		var names []string
		for _, k := range lines[len(shown):] {
			if more[k[0]] == 0 {
				names = append(names, k[0])
			}
			more[k[0]] += len(objects[k])
		}
		for i, n := range names {
			names[i] = fmt.Sprintf("%d × %s", more[n], markdown.Code(n))
		}
		fmt.Fprintf(&b, "- **Risks** that are not listed: %s\n", strings.Join(names, ", "))
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// riskWords are the characters of Lockstep's own words in the text of a risk. None has a meaning in Markdown there.
var riskWords = regexp.MustCompile(`^[A-Za-z0-9 ,.:/()_-]*$`)

// riskText returns the text of a risk in Markdown. What is between backquotes becomes code. A text with anything
// else than words becomes code as a whole.
func riskText(text string) string {
	parts := strings.Split(text, "`")
	var b strings.Builder
	for i, p := range parts {
		switch {
		case i%2 == 1:
			b.WriteString(markdown.Code(p))
		case !riskWords.MatchString(p) || len(parts)%2 == 0 || len(text) > maxRiskText:
			return markdown.Code(cutTitle(text, maxRiskText))
		default:
			b.WriteString(p)
		}
	}
	return b.String()
}
