package render

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
)

type listStartMember struct {
	Address string          `json:"address"`
	Type    string          `json:"resource_type"`
	Config  json.RawMessage `json:"input_config,omitempty"`
}

type listFoundMember struct {
	Address         string          `json:"address"`
	DisplayName     string          `json:"display_name"`
	Identity        json.RawMessage `json:"identity"`
	IdentityVersion int64           `json:"identity_version"`
	Type            string          `json:"resource_type"`
	Object          json.RawMessage `json:"resource_object,omitempty"`
	Config          string          `json:"config,omitempty"`
	Import          string          `json:"import_config,omitempty"`
}

type listCompleteMember struct {
	Address string `json:"address"`
	Type    string `json:"resource_type"`
	Total   int    `json:"total"`
}

// QueryMessage returns the JSON message (option -json) about a step of a query.
func QueryMessage(e events.Query) Message {
	switch e.Kind {
	case events.QueryStart:
		m := message("list_start", e.Address+": Starting query...")
		m.ListStart = &listStartMember{Address: e.Address, Type: e.Type}
		if e.Config != cty.NilVal {
			m.ListStart.Config = formats.Plain(set(e.Config))
		}
		return m
	case events.QueryFound:
		m := message("list_resource_found", e.Address+": Result found")
		f := e.Found
		m.ListFound = &listFoundMember{
			Address: e.Address, Type: e.Type, DisplayName: f.DisplayName, Identity: formats.Plain(set(f.Identity)), IdentityVersion: f.IdentityVersion,
			Config: f.Resource, Import: f.Import,
		}
		if f.Object != cty.NilVal {
			m.ListFound.Object = formats.Plain(without(f.Object, f.Secrets))
		}
		return m
	}
	m := message("list_complete", fmt.Sprintf("%s: List complete (%d found)", e.Address, e.Total))
	m.ListComplete = &listCompleteMember{Address: e.Address, Type: e.Type, Total: e.Total}
	return m
}

// set returns an object without its null attributes.
func set(v cty.Value) cty.Value {
	attrs := v.AsValueMap()
	maps.DeleteFunc(attrs, func(_ string, x cty.Value) bool { return x.IsNull() })
	return cty.ObjectVal(attrs)
}

// without returns a value with null at the given paths.
func without(v cty.Value, paths []cty.Path) cty.Value {
	if len(paths) == 0 {
		return v
	}
	out, err := cty.Transform(v, func(p cty.Path, x cty.Value) (cty.Value, error) {
		if slices.ContainsFunc(paths, p.Equals) {
			return cty.NullVal(x.Type()), nil
		}
		return x, nil
	})
	if err != nil {
		return cty.NullVal(v.Type())
	}
	return out
}

// QueryResults writes the objects of one list block for people, a line each, in columns: address, identity, name.
func (p *Printer) QueryResults(w io.Writer, list []events.Query) {
	var rows [][2]string
	widest := [2]int{}
	for _, e := range list {
		row := [2]string{e.Address, identityText(e.Found.Identity)}
		for i, text := range row {
			widest[i] = max(widest[i], utf8.RuneCountInString(text))
		}
		rows = append(rows, row)
	}
	for i, e := range list {
		fmt.Fprintf(w, "%-*s   %-*s   %s\n", widest[0], rows[i][0], widest[1], rows[i][1], OneLine(e.Found.DisplayName))
	}
}

// identityText returns an identity as name=value, separated by commas.
func identityText(v cty.Value) string {
	var parts []string
	attrs := v.AsValueMap()
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		x := attrs[name]
		if x.IsNull() {
			continue
		}
		text := string(formats.Plain(x))
		if s, err := convert.Convert(x, cty.String); err == nil {
			text = s.AsString()
		}
		parts = append(parts, name+"="+OneLine(text))
	}
	return strings.Join(parts, ",")
}
