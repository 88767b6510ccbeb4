package refs

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Path converts the rest of a reference, which has names and literal keys, to the path of an
// attribute. An error is a splat.
func Path(t hcl.Traversal) (cty.Path, error) {
	var path cty.Path
	for _, step := range t {
		switch s := step.(type) {
		case hcl.TraverseAttr:
			path = append(path, cty.GetAttrStep{Name: s.Name})
		case hcl.TraverseRoot:
			path = append(path, cty.GetAttrStep{Name: s.Name})
		case hcl.TraverseIndex:
			path = append(path, cty.IndexStep{Key: s.Key})
		default:
			return nil, fmt.Errorf("a reference here can only hold names and literal keys")
		}
	}
	return path, nil
}
