package render

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/causes"
)

// A Cause is a cause of a change in JSON.
type Cause struct {
	Object    string      `json:"object"`
	Action    string      `json:"action"`
	Attribute string      `json:"attribute,omitempty"`
	Replaces  bool        `json:"replaces,omitempty"`
	Steps     []causeStep `json:"steps,omitempty"`
	Place     *causePlace `json:"place,omitempty"`
	Unedited  string      `json:"unedited,omitempty"`
}

type causeStep struct {
	Name  string      `json:"name"`
	Place *causePlace `json:"place,omitempty"`
}

type causePlace struct {
	File  string `json:"file"`
	First int    `json:"first_line"`
	Last  int    `json:"last_line"`
}

func causePlaceOf(r hcl.Range) *causePlace {
	if r.Filename == "" {
		return nil
	}
	return &causePlace{r.Filename, r.Start.Line, r.End.Line}
}

// Causes returns causes for JSON. They contain no values.
func Causes(found []causes.Cause) []Cause {
	out := []Cause{}
	for _, c := range found {
		x := Cause{Object: c.Object(), Attribute: c.AttributeName(), Replaces: c.Replaces, Place: causePlaceOf(c.Place), Unedited: string(c.Unedited)}
		if c.Change != nil {
			x.Action = c.Change.Action.String()
		} else {
			x.Action = c.Output.Action.String()
		}
		for _, s := range c.Steps {
			x.Steps = append(x.Steps, causeStep{s.Name, causePlaceOf(s.Range)})
		}
		out = append(out, x)
	}
	return out
}
