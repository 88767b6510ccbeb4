package schema

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

var validName = regexp.MustCompile(`^[a-z0-9_]+$`)

// Check returns an error that lists everything in b that no value could satisfy: names that cannot be
// written, flags that exclude each other, item limits that cannot be met. A schema that fails is a bug of the
// provider.
func (b *Block) Check() error {
	return errors.Join(b.check("")...)
}

func (b *Block) check(path string) []error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(b.Attributes)) {
		if a := b.Attributes[name]; a == nil {
			errs = append(errs, fmt.Errorf("%s%s: attribute schema is nil", path, name))
		} else {
			errs = append(errs, a.check(path, name)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Blocks)) {
		n := b.Blocks[name]
		if n == nil || n.Block == nil {
			errs = append(errs, fmt.Errorf("%s%s: block schema is nil", path, name))
			continue
		}
		if b.Attributes[name] != nil {
			errs = append(errs, fmt.Errorf("%s%s: name defined as both attribute and block", path, name))
		}
		errs = append(errs, n.check(path, name)...)
	}
	return errs
}

func (n *NestedBlock) check(path, name string) []error {
	var errs []error
	fail := func(text string, args ...any) {
		errs = append(errs, fmt.Errorf("%s%s: %s", path, name, fmt.Sprintf(text, args...)))
	}
	if !validName.MatchString(name) {
		fail("name may contain only lowercase letters, digits and underscores")
	}
	if n.MinItems < 0 || n.MaxItems < 0 {
		fail("MinItems and MaxItems must both be at least zero")
	}
	inner := n.Block.check(path + name + ".")
	errs = append(errs, inner...)
	if problem := n.unfitNesting(); problem != "" {
		fail("%s", problem)
	}
	if n.Nesting == NestingSet && len(inner) == 0 && n.Block.ImpliedType().HasDynamicTypes() {
		fail("blocks in a set may not have attributes of a dynamic type")
	}
	return errs
}

// unfitNesting returns why the nesting mode, or the limits on the number of blocks, cannot be met; "" if they
// can.
func (n *NestedBlock) unfitNesting() string {
	limited := n.MinItems != 0 || n.MaxItems != 0
	switch n.Nesting {
	case NestingSingle:
		if n.MinItems != n.MaxItems || n.MinItems > 1 {
			return "MinItems and MaxItems must match, and be 0 or 1, for a single block"
		}
	case NestingGroup:
		if limited {
			return "MinItems and MaxItems cannot be used for a group block"
		}
	case NestingList, NestingSet:
		if n.MinItems > n.MaxItems && n.MaxItems != 0 {
			return "MinItems must be less than or equal to MaxItems"
		}
	case NestingMap:
		if limited {
			return "MinItems and MaxItems must both be 0 for blocks in a map"
		}
	default:
		return fmt.Sprintf("invalid nesting mode %d", n.Nesting)
	}
	return ""
}

func (a *Attribute) check(path, name string) []error {
	var errs []error
	fail := func(text string, args ...any) {
		errs = append(errs, fmt.Errorf("%s%s: %s", path, name, fmt.Sprintf(text, args...)))
	}
	if !validName.MatchString(name) {
		fail("name may contain only lowercase letters, digits and underscores")
	}
	if problem := a.unfitFlags(); problem != "" {
		fail("%s", problem)
	}
	if a.WriteOnly && a.Computed {
		fail("cannot set WriteOnly together with Computed")
	}
	switch {
	case a.Type == cty.NilType && a.Nested == nil:
		fail("either Type or Nested must be defined")
	case a.Type != cty.NilType && a.Nested != nil:
		fail("Type and Nested cannot both be set")
	}
	if o := a.Nested; o != nil {
		inner := (&Block{Attributes: o.Attributes}).check(path + name + ".")
		errs = append(errs, inner...)
		switch o.Nesting {
		case NestingSingle, NestingList, NestingMap:
		case NestingSet:
			if len(inner) == 0 && o.ImpliedType().HasDynamicTypes() {
				fail("objects in a set may not have attributes of a dynamic type")
			}
		default:
			fail("invalid nesting mode %d", o.Nesting)
		}
	}
	return errs
}

// unfitFlags returns why the flags leave open who sets the attribute, configuration or provider; "" if they
// are consistent.
func (a *Attribute) unfitFlags() string {
	switch {
	case !a.Optional && !a.Required && !a.Computed:
		return "must set Optional, Required or Computed"
	case a.Optional && a.Required:
		return "cannot set both Optional and Required"
	case a.Computed && a.Required:
		return "cannot set both Computed and Required"
	}
	return ""
}
