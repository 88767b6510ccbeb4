package differential

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// maxTries is the largest number of runs for making a case smaller.
const maxTries = 150

// Shrink looks for a smaller case with a difference at the same place, such as the errors or a path in the
// state. It removes rounds, then blocks, and keeps each smaller case in which the tools still differ at this
// place.
func (d *Difference) Shrink(ctx context.Context, dir string, a, b Tool) (*Difference, error) {
	tries := 0
	differs := func(c Case) (*Difference, error) {
		tries++
		if err := os.RemoveAll(dir); err != nil {
			return nil, err
		}
		found, err := c.Compare(ctx, dir, a, b)
		if found != nil && found.place() != d.place() {
			found = nil
		}
		return found, err
	}
	d.Case.Rounds = d.Case.Rounds[:d.Round+1]
	for i := 0; i < len(d.Case.Rounds)-1 && tries < maxTries; {
		found, err := differs(Case{d.Case.Seed, d.Case.Things, slices.Delete(slices.Clone(d.Case.Rounds), i, i+1)})
		if err != nil {
			return d, err
		}
		if found == nil {
			i++
			continue
		}
		d = found
	}
	for size := 8; size > 0; size /= 2 {
		for at := 0; at < d.Case.size() && tries < maxTries; {
			found, err := differs(d.Case.without(at, size))
			if err != nil {
				return d, err
			}
			if found == nil {
				at += size
				continue
			}
			d = found
		}
	}
	return d, nil
}

// place returns the part of Detail before the two values, without indexes.
func (d *Difference) place() string {
	at, _, _ := strings.Cut(d.Detail, ":")
	at, _, _ = strings.Cut(at, "[")
	return at
}

func (c Case) size() int {
	n := 0
	for _, r := range c.Rounds {
		n += len(r.Blocks)
	}
	return n
}

// without returns the case without n blocks, from the block with the number first on. The blocks are numbered
// through all rounds.
func (c Case) without(first, n int) Case {
	out := Case{Seed: c.Seed, Things: c.Things}
	i := 0
	for _, r := range c.Rounds {
		var blocks []Block
		for _, b := range r.Blocks {
			if i < first || i >= first+n {
				blocks = append(blocks, b)
			}
			i++
		}
		r.Blocks = blocks
		out.Rounds = append(out.Rounds, r)
	}
	return out
}

// String returns the case as txtar, with the difference as its comment.
func (d *Difference) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, round %d: %s\n", d.Case.Seed, d.Round, d.Detail)
	for i, r := range d.Case.Rounds {
		if len(r.Options) > 0 {
			fmt.Fprintf(&b, "-- %d/options --\n%s\n", i, strings.Join(r.Options, "\n"))
		}
		if r.Chdir {
			fmt.Fprintf(&b, "-- %d/chdir --\n", i)
		}
		if r.Elsewhere {
			fmt.Fprintf(&b, "-- %d/elsewhere --\n", i)
		}
		files := filesOf(r.Blocks)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			fmt.Fprintf(&b, "-- %d/%s --\n%s", i, name, files[name])
		}
	}
	for i, output := range d.Output {
		fmt.Fprintf(&b, "-- output.%d --\n%s", i, output)
	}
	return b.String()
}
