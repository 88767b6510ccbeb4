package plans

import "fmt"

// Decoded returns the change with its values. Most changes have them already, and Decoded returns c itself.
// A no-op of a plan that was just made may have [ResourceChange.Unchanged] instead: most objects of a plan do
// not change, and nobody asks for their values. Decoded then decodes the object, each time it is called, and
// does not keep the result.
func (c *ResourceChange) Decoded() *ResourceChange {
	if c.Unchanged == nil {
		return c
	}
	out := *c
	v, err := c.Schema.Stored(c.Unchanged.AttrsJSON, c.Unchanged.Sensitive)
	if err != nil {
		panic(fmt.Sprintf("plans: %s was encoded, but cannot be decoded: %s", c.Addr, err))
	}
	out.Before, out.After, out.Unchanged = v, v, nil
	return &out
}
