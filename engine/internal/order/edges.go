package order

// edges are the edges of a graph. Each leads from a node to a node that must come after it.
type edges struct {
	from, to []int32
	weight   []strength
}

func (e *edges) add(from, to int32, w strength) {
	e.from, e.to, e.weight = append(e.from, from), append(e.to, to), append(e.weight, w)
}

// after returns, for each of the n nodes, the nodes that must come before it.
func (e edges) after(n int) [][]int32 {
	into := e.index(n, e.to)
	out := make([][]int32, n)
	for x := range out {
		list := into.of(int32(x))
		for i, edge := range list {
			list[i] = e.from[edge]
		}
		if len(list) > 0 {
			out[x] = list[:len(list):len(list)]
		}
	}
	return out
}

// An index lists the edges of each node, in the order in which they were added.
type index struct{ start, list []int32 }

func (x index) of(node int32) []int32 { return x.list[x.start[node]:x.start[node+1]] }

// index returns an index of the edges by one of their two nodes. ends has this node for each edge.
func (e edges) index(n int, ends []int32) index {
	start := make([]int32, n+2) // shifted by one, so that it can be filled in place
	for _, x := range ends {
		start[x+2]++
	}
	for i := 2; i < len(start); i++ {
		start[i] += start[i-1]
	}
	list := make([]int32, len(ends))
	for i, x := range ends {
		list[start[x+1]] = int32(i)
		start[x+1]++
	}
	return index{start[:n+1], list}
}
