package statefile

import (
	"bytes"
	"hash/maphash"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/internal/jsonscan"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A dependency is a decoded entry of a list of dependencies.
type dependency struct {
	addr    addrs.ConfigResource
	printed bool // the file spells it exactly as addr prints
}

// dependencies reads a list, and checks that decoding it later cannot fail. All lists of a file together can
// have as many entries as the square of the number of resources. So entries are only looked up here, not
// decoded.
func (r *reader) dependencies() (*states.Dependencies, error) {
	if r.Null() {
		return nil, nil
	}
	r.Next()
	start, n, printed := r.Pos(), 0, true
	err := r.Array(func() error {
		n++
		r.Next()
		pos := r.Pos()
		b, err := r.TextBytes()
		if err != nil {
			return err
		}
		d, ok := r.depAddrs[string(b)]
		if !ok {
			if d.addr, err = addrs.ParseConfigResource(string(b)); err != nil {
				return r.Fail(pos, "invalid dependency: %s", err)
			}
			d.printed = d.addr.String() == string(b)
			r.depAddrs[string(b)] = d
		}
		printed = printed && d.printed
		return nil
	})
	if err != nil || n == 0 {
		return nil, err
	}
	text := r.Src(start, r.Pos())
	h := maphash.Bytes(r.seed, text)
	if d := r.deps[h]; printed && d != nil && bytes.Equal(d.Encoded(), text) {
		return d, nil
	}
	text = bytes.Clone(text)
	known := r.depAddrs // complete when load uses it
	load := func() []addrs.ConfigResource { return decodeDependencies(text, n, known) }
	if !printed {
		return states.ListedDependencies(load), nil
	}
	d := states.EncodedDependencies(text, load)
	r.deps[h] = d
	return d, nil
}

func decodeDependencies(text []byte, n int, known map[string]dependency) []addrs.ConfigResource {
	s := jsonscan.New(text)
	out := make([]addrs.ConfigResource, 0, n)
	err := s.Array(func() error {
		b, err := s.TextBytes()
		out = append(out, known[string(b)].addr)
		return err
	})
	if err != nil {
		panic("statefile: a list of dependencies has changed since it was read: " + err.Error())
	}
	return states.SortDependencies(out)
}
