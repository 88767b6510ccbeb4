package refs

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Path converts the steps after the object in a reference (see [Reference]) to the path of an attribute. The
// steps are names and literal keys; for a splat, Path returns an error.
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
