package shadow

import (
	"encoding/json"
	"html"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
)

// The format of tfcmt 4.14.18, with its default templates. Source: pkg/terraform/template.go and
// pkg/notifier/github/notify.go. tfcmt names the target that people give it, if they do, and the commit.
var (
	tfcmtTitle  = lazyregexp.New(`^## (?::x: )?(Plan Result|Plan Failed|(?::white_check_mark: )?Apply Succeeded|Apply Failed)(?: \((.+)\))?$`)
	tfcmtResult = lazyregexp.New(`(?s)<pre><code>(.*?)</code></pre>`)
	tfcmtItem   = lazyregexp.New(`^  \* (.+)$`)
	// tfcmtData is a hidden line with facts.
	tfcmtData = lazyregexp.New(`<!-- github-comment: (\{.*\}) -->`)
)

// tfcmtLists are the headlines of lists of addresses.
var tfcmtLists = map[string]Action{"* Create": create, "* Update": update, "* Delete": destroy, "* Replace": replace, "* Import": "", "* Move": keep}

// readTfcmt reads a comment of tfcmt. Its lists name all objects, even if the text of the plan is cut.
func readTfcmt(body string) []Claim {
	c, title, list := Claim{}, "", ""
	var imported []string
	var prose, blocks strings.Builder
	for _, p := range parts(body) {
		if p.fenced {
			blocks.WriteString(p.text)
			continue
		}
		prose.WriteString(p.text)
		for line := range strings.Lines(p.text) {
			line = strings.TrimRight(line, "\n")
			if m := tfcmtTitle.FindStringSubmatch(line); m != nil && title == "" {
				title, c.Project = m[1], html.UnescapeString(m[2])
				continue
			}
			if _, is := tfcmtLists[line]; is {
				list = line
				continue
			}
			m := tfcmtItem.FindStringSubmatch(line)
			if m == nil {
				list = ""
			}
			switch item := ""; {
			case list == "":
			case list == "* Move":
				item = html.UnescapeString(m[1])
				from, to, _ := strings.Cut(item, " => ")
				c.move(from, to)
			case list == "* Import":
				imported = append(imported, html.UnescapeString(m[1]))
			default:
				c.add(Change{Address: html.UnescapeString(m[1]), Action: tfcmtLists[list]})
			}
		}
	}
	switch {
	case title == "":
		return nil
	case strings.HasSuffix(title, "Apply Succeeded"):
		c.Plan, c.Applied = Plan{}, true
	case title == "Plan Failed":
		c.Plan = Plan{Failed: true}
	case title != "Plan Result":
		return nil
	}
	for _, address := range imported {
		c.imports(address)
	}
	c.facts(body)
	if c.Applied || c.Failed {
		return []Claim{c}
	}
	result := ""
	if m := tfcmtResult.FindStringSubmatch(prose.String()); m != nil {
		result = html.UnescapeString(m[1])
	}
	said := readText(result)
	c.Counts, c.Counted, c.Cut = said.Counts, said.Counted, c.Cut || said.Cut
	if result == "Only Outputs will be changed." {
		c.Counted, c.Cut, c.Outputs = true, false, true
	}
	shown := readText(blocks.String())
	c.Outputs, c.OutputsUnknown = c.Outputs || shown.Outputs, strings.Contains(blocks.String(), "so the content is omitted by tfcmt.")
	for _, x := range shown.Changes {
		if x.Action == forget { // tfcmt has no list of them
			c.add(x)
		}
	}
	c.sort()
	return []Claim{c}
}

// facts reads the hidden line with facts. tfcmt writes it last.
func (c *Claim) facts(body string) {
	all := tfcmtData.FindAllStringSubmatch(body, -1)
	if len(all) == 0 {
		return
	}
	var data struct{ Target, SHA1 string }
	if json.Unmarshal([]byte(all[len(all)-1][1]), &data) == nil {
		c.Head = data.SHA1
		if c.Project == "" {
			c.Project = data.Target
		}
	}
}

// move notes that an object has another address now.
func (p *Plan) move(from, to string) {
	for i, x := range p.Changes {
		if x.Address == to {
			p.Changes[i].From = from
			return
		}
	}
	p.add(Change{Address: to, Action: keep, From: from})
}

// imports notes that an object is imported.
func (p *Plan) imports(address string) {
	for i, x := range p.Changes {
		if x.Address == address {
			p.Changes[i].Imported = true
			return
		}
	}
	p.add(Change{Address: address, Action: keep, Imported: true})
}
