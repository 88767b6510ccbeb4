package differential

import "fmt"

// edit changes an outline at random: items get other contents or names, are added and removed.
func (m *module) edit(items []item) []item {
	var out []item
	for _, x := range items {
		x.was, x.reshaped = "", false
		if x.gone != "" || x.kind == "moved" {
			continue
		}
		if x.in != nil {
			x.in = m.edit(x.in)
		}
		if stays := m.change(&x); stays {
			out = append(out, x)
		}
	}
	if m.chance(3) {
		out = append(out, item{kind: "resource", name: fmt.Sprintf("n%d", m.r.IntN(100)), seed: m.r.Uint64(), shape: m.r.Uint64()})
	}
	if m.chance(6) {
		out = m.sink(out)
	}
	return out
}

// change gives an item other contents or another name, or leaves it unchanged. It returns false if the item
// is removed.
func (m *module) change(x *item) bool {
	movable := x.kind == "resource" || x.kind == "call" || x.kind == "thing"
	switch k := m.r.IntN(18); {
	case k < 4:
		x.seed = m.r.Uint64()
	case k < 6 && movable:
		x.shape, x.reshaped = m.r.Uint64(), true
	case k == 6 && movable:
		x.was, x.name = x.name, x.name+"x"
	case k == 7 && movable:
		x.gone = m.pick("removed", "forgotten")
	case k == 8 && x.kind != "variable":
		return false
	}
	return true
}

// sink moves a resource into a module.
func (m *module) sink(items []item) []item {
	resource, call := -1, -1
	for i, x := range items {
		switch {
		case x.gone != "" || x.was != "":
		case x.kind == "resource":
			resource = i
		case x.kind == "call":
			call = i
		}
	}
	if resource < 0 || call < 0 {
		return items
	}
	x := items[resource]
	y := &items[call]
	from := "terraform_data." + x.name
	x.name += "s"
	y.in = append(y.in[:len(y.in):len(y.in)], x)
	to := "module." + y.name + m.pick("", "", "[0]", `["a"]`) + ".terraform_data." + x.name
	items[resource] = item{kind: "moved", was: from, name: to}
	return items
}
