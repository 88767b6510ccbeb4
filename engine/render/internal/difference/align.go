package difference

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/marks"
)

// align pairs the elements of two lists in the order to show them: [b, a] are indices, and -1 means no
// element. Elements that are equal have equal numbers. The elements in common are the longest common
// subsequence. Between two common elements, removed elements come before added ones. But if the function
// structured returns true for a removed and an added element, they count as versions of one element, and are
// paired.
func align(before, after []int, structured func(b, a int) bool) [][2]int {
	return arrange(before, after, commonSubsequence(before, after), structured)
}

// alignElements is like align, for lists in which the position of an element has a meaning. It first compares
// the lists index by index, if they have the same length. If at least as many elements match in this way as in
// the longest common subsequence, alignElements pairs all elements by index. An element also matches if both
// sides may be versions of one element.
func alignElements(before, after []int, structured func(b, a int) bool) [][2]int {
	common := commonSubsequence(before, after)
	if len(before) != len(after) {
		return arrange(before, after, common, structured)
	}
	was, is := occurring(before), occurring(after)
	alike := 0
	out := make([][2]int, len(before))
	for i, b := range before {
		out[i] = [2]int{i, i}
		if a := after[i]; a == b || structured(i, i) && !is[b] && !was[a] {
			alike++
		}
	}
	if alike >= len(common) {
		return out
	}
	return arrange(before, after, common, structured)
}

func occurring(list []int) map[int]bool {
	out := make(map[int]bool, len(list))
	for _, n := range list {
		out[n] = true
	}
	return out
}

// arrange completes the pairs of common elements with the remaining elements, as align describes.
func arrange(before, after []int, common [][2]int, structured func(b, a int) bool) [][2]int {
	out := make([][2]int, 0, len(before)+len(after)-len(common))
	b, a := 0, 0
	for _, c := range append(common, [2]int{len(before), len(after)}) {
		for b < c[0] {
			if a < c[1] && structured(b, a) {
				out = append(out, [2]int{b, a})
				a++
			} else {
				out = append(out, [2]int{b, -1})
			}
			b++
		}
		for ; a < c[1]; a++ {
			out = append(out, [2]int{-1, a})
		}
		if b < len(before) {
			out = append(out, [2]int{b, a})
			b, a = b+1, a+1
		}
	}
	return out
}

// number returns numbers for the elements of two lists: equal elements have equal numbers. If one list is
// empty, elements are not compared.
func number(before, after []cty.Value) (b, a []int) {
	if len(before) == 0 || len(after) == 0 {
		return make([]int, len(before)), make([]int, len(after))
	}
	c := classes{byHash: map[int][]class{}}
	return c.all(before), c.all(after)
}

// classes gives each value a number. Values that [same] calls the same have one number.
type classes struct {
	byHash map[int][]class
	next   int
}

type class struct {
	v cty.Value
	n int
}

func (c *classes) all(vs []cty.Value) []int {
	out := make([]int, len(vs))
	for i, v := range vs {
		out[i] = c.of(v)
	}
	return out
}

func (c *classes) of(v cty.Value) int {
	c.next++
	key := marks.Plain(v)
	if !key.IsWhollyKnown() {
		return c.next // equal to no other value
	}
	h := key.Hash()
	for _, x := range c.byHash[h] {
		if same(x.v, v) {
			return x.n
		}
	}
	c.byHash[h] = append(c.byHash[h], class{v, c.next})
	return c.next
}

// numberLines returns numbers for the lines of two texts: equal lines have equal numbers.
func numberLines(before, after []string) (b, a []int) {
	ids := map[string]int{}
	all := func(lines []string) []int {
		out := make([]int, len(lines))
		for i, l := range lines {
			id, ok := ids[l]
			if !ok {
				id = len(ids)
				ids[l] = id
			}
			out[i] = id
		}
		return out
	}
	return all(before), all(after)
}

// tooMany is the limit for the product of the lengths of two lists. Above it, the longest common subsequence
// is not computed: the lists are compared index by index, in linear time.
const tooMany = 16 << 20

// commonSubsequence returns the longest common subsequence of two lists as pairs of indices. It first removes
// the common beginning and end, so that the quadratic part handles only the differences.
func commonSubsequence(before, after []int) [][2]int {
	head := 0
	for head < len(before) && head < len(after) && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < len(before)-head && tail < len(after)-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	out := make([][2]int, 0, head+tail)
	for i := range head {
		out = append(out, [2]int{i, i})
	}
	for _, m := range middle(before[head:len(before)-tail], after[head:len(after)-tail]) {
		out = append(out, [2]int{m[0] + head, m[1] + head})
	}
	for i := tail; i > 0; i-- {
		out = append(out, [2]int{len(before) - i, len(after) - i})
	}
	return out
}

// middle finds the longest common subsequence with a table. For each suffix of before and each suffix of after,
// the table has the length of their longest common subsequence.
func middle(before, after []int) [][2]int {
	var out [][2]int
	n, m := len(before), len(after)
	if n*m > tooMany {
		for i := range min(n, m) {
			if before[i] == after[i] {
				out = append(out, [2]int{i, i})
			}
		}
		return out
	}
	lengths := make([]int32, (n+1)*(m+1))
	at := func(i, j int) *int32 { return &lengths[i*(m+1)+j] }
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if before[i] == after[j] {
				*at(i, j) = *at(i+1, j+1) + 1
			} else {
				*at(i, j) = max(*at(i+1, j), *at(i, j+1))
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case before[i] == after[j]:
			out = append(out, [2]int{i, j})
			i, j = i+1, j+1
		case *at(i+1, j) >= *at(i, j+1):
			i++
		default:
			j++
		}
	}
	return out
}
