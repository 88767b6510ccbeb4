package differential

import (
	"fmt"
	"math/rand/v2"
)

// A Block is one top-level block of a configuration.
type Block struct {
	File string // path of the file, with forward slashes
	Text string
}

// A Round is one version of a configuration, with the way it is planned.
type Round struct {
	Blocks  []Block
	Options []string // options of the plan command
	// Chdir makes the tools run in the parent directory, with -chdir.
	Chdir bool
	// Elsewhere is set if the backend's path changes between plan and apply, and init runs again.
	Elsewhere bool
}

// A Case is a configuration and its versions after random edits.
type Case struct {
	Seed   uint64
	Things bool // the case has objects of the lab provider
	Rounds []Round
}

// rounds is the number of versions of the configuration in a case.
const rounds = 3

// Generate returns the random case of a seed.
func Generate(seed uint64) Case { return generate(seed, false) }

func generate(seed uint64, things bool) Case {
	c := Case{Seed: seed, Things: things}
	base := rand.New(rand.NewPCG(seed, 1))
	plan := sketch(base, 0)
	if things {
		plan = (&module{scope: scope{r: rand.New(rand.NewPCG(seed, 7))}}).sketchThings(plan)
	}
	for i := range rounds {
		m := &module{scope: scope{r: rand.New(rand.NewPCG(seed, uint64(i+2)))}, dir: "", things: things, seed: seed}
		if things && m.chance(5) {
			m.seed += uint64(i) // other provider configurations
		}
		if i > 0 {
			plan = m.edit(plan)
		}
		m.write(plan)
		m.r = rand.New(rand.NewPCG(seed, uint64(i+100)))
		m.mistake()
		round := Round{Blocks: m.blocks, Options: m.options()}
		round.Chdir, round.Elsewhere = m.chance(8), !things && m.chance(12)
		c.Rounds = append(c.Rounds, round)
	}
	return c
}

// An item is the outline of a declaration in a module. Edits of other items do not change its name and seed.
type item struct {
	kind string // "local", "resource", "thing", "data", "call", "output", "check", "variable", "moved"
	name string
	seed uint64
	// shape is the seed for the count, for_each and lifecycle of the item.
	shape uint64
	was   string // previous name, for a moved block
	gone  string // "removed": only a removed block is left; "forgotten": one that keeps the object
	// reshaped is true if the shape is new, so that instances may have moved.
	reshaped bool
	in       []item // items of the called module
}

// sketch returns the random outline of a module.
func sketch(r *rand.Rand, depth int) []item {
	var items []item
	for i := range 1 + r.IntN(2) {
		items = append(items, item{kind: "variable", name: fmt.Sprintf("v%d", i), seed: r.Uint64()})
	}
	for i := range 3 + r.IntN(4) {
		x := item{kind: "resource", name: fmt.Sprintf("r%d", i), seed: r.Uint64(), shape: r.Uint64()}
		switch k := r.IntN(10); {
		case k < 3:
			x.kind, x.name = "local", fmt.Sprintf("l%d", i)
		case k == 3 && depth < 2:
			x.kind, x.name = "call", fmt.Sprintf("m%d", i)
			x.in = sketch(r, depth+1)
		case k == 4:
			x.kind, x.name = "check", fmt.Sprintf("c%d", i)
		}
		items = append(items, x)
	}
	for i := range 1 + r.IntN(2) {
		items = append(items, item{kind: "output", name: fmt.Sprintf("o%d", i), seed: r.Uint64()})
	}
	return items
}
