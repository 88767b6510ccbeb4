package project

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// stateOf returns where a backend block keeps the state of a workspace, in a form that
// is the same for the same place, or "" if the block alone does not tell: values may
// come from elsewhere, and what is not S3 is kept for each project by itself.
func stateOf(b *config.Backend, workspace string) string {
	if b == nil || b.Type != "s3" {
		return ""
	}
	attrs, _ := b.Body.JustAttributes() // the place is in no block
	value := func(name, absent string) string {
		if attrs[name] == nil {
			return absent
		}
		v, ds := attrs[name].Expr.Value(nil)
		if ds.HasErrors() || v.IsNull() || !v.IsKnown() || v.Type() != cty.String {
			return ""
		}
		return v.AsString()
	}
	bucket, key := value("bucket", ""), value("key", "")
	if bucket == "" || key == "" || slices.ContainsFunc([]string{"endpoint", "endpoints"}, func(name string) bool { return attrs[name] != nil }) {
		return ""
	}
	if workspace != DefaultWorkspace {
		// The layout of Terraform's S3 backend: PREFIX/WORKSPACE/KEY.
		key = path.Join(cmp.Or(value("workspace_key_prefix", "env:"), "env:"), workspace, key)
	}
	return "s3://" + bucket + "/" + key
}

// place is where a project's state is, and which line says so.
type place struct {
	state string
	at    hcl.Range
}

// apart leaves out the projects that keep their states in one place: planned one
// after the other, each would destroy what the other has made. Most often a directory
// was copied, and its backend block with it.
func apart(all []Project, places map[string]place) ([]Project, diags.Diagnostics) {
	sharers := map[string][]string{}
	for _, p := range all {
		if s := places[p.Name].state; s != "" {
			sharers[s] = append(sharers[s], p.Name)
		}
	}
	var ds diags.Diagnostics
	all = slices.DeleteFunc(all, func(p Project) bool {
		x := places[p.Name]
		names := sharers[x.state]
		if len(names) < 2 {
			return false
		}
		if p.Name == names[len(names)-1] {
			ds = append(ds, diags.Errorf(&x.at, "Two projects with one state",
				"The projects %s keep their state at %s: each would destroy what the other has made. Give each a key of its own, or a workspace of its own in %s.",
				strings.Join(names, " and "), x.state, FileName)...)
		}
		return true
	})
	return all, ds
}
