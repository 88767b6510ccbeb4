package github

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestArchives holds that an archive is kept for the scope that has fetched it, whole, and that all of
// them take a bounded number of bytes.
func TestArchives(t *testing.T) {
	a := &archiveCache{}
	one := tokenScope{Repo: 1}
	a.Put(one, "a", []byte("one"))
	a.Put(one, "a", []byte("another"))
	if got := a.Get(one, "a"); string(got) != "one" {
		t.Errorf("%q", got)
	}
	if a.Get(tokenScope{Repo: 2}, "a") != nil || a.Get(one, "b") != nil {
		t.Error("another repository's archive, or another commit's")
	}
	for i := range 4 * maxKeptArchives / maxKeptArchive {
		a.Get(one, "a")
		a.Put(one, fmt.Sprint(i), make([]byte, maxKeptArchive))
	}
	sum := 0
	for _, x := range a.all {
		sum += len(x.data)
	}
	if sum != a.size || sum > maxKeptArchives || sum < maxKeptArchives/2 {
		t.Errorf("%d bytes, counted as %d", sum, a.size)
	}
	if a.Get(one, "a") == nil {
		t.Error("the one in use is dropped")
	}
	if a.Put(one, "long", make([]byte, maxKeptArchive+1)); a.Get(one, "long") != nil {
		t.Error("a long one is kept")
	}
}

// TestKeeping holds which archives are kept: those that were read to their end, and are not too long.
func TestKeeping(t *testing.T) {
	for _, test := range []struct {
		length int
		want   bool
	}{{1, true}, {maxKeptArchive, true}, {maxKeptArchive + 1, false}, {2*maxKeptArchive + 1, false}} {
		text := strings.Repeat("x", test.length)
		k := &keepingReader{Reader: strings.NewReader(text), Max: maxKeptArchive}
		if _, err := io.CopyN(io.Discard, k, int64(test.length/2)); err != nil {
			t.Fatal(err)
		}
		if got := k.All(); test.want && string(got) != text || !test.want && got != nil {
			t.Errorf("%d bytes: %d are kept", test.length, len(got))
		}
		if k.data.Len() > 2*maxKeptArchive {
			t.Errorf("%d of %d bytes are in memory", k.data.Len(), test.length)
		}
	}
	broken := &keepingReader{Reader: io.MultiReader(strings.NewReader("x"), io.LimitReader(failingTransport{}, 9)), Max: maxKeptArchive}
	if broken.All() != nil {
		t.Error("an archive that broke off is kept")
	}
}

type failingTransport struct{}

func (failingTransport) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
