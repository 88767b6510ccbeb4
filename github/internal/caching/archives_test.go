package caching

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestArchives holds that an archive is kept for the scope that has fetched it, whole, and that all of
// them take a bounded number of bytes.
func TestArchives(t *testing.T) {
	a := &Archives{}
	key := func(repo int64, sha string) tarballKey { return tarballKey{Scope{Repo: repo}, sha} }
	a.put(key(1, "a"), []byte("one"))
	a.put(key(1, "a"), []byte("another"))
	if got := a.Get(Scope{Repo: 1}, "a"); string(got) != "one" {
		t.Errorf("%q", got)
	}
	if a.Get(Scope{Repo: 2}, "a") != nil || a.Get(Scope{Repo: 1}, "b") != nil {
		t.Error("another repository's archive, or another commit's")
	}
	for i := range 4 * maxAllArchives / maxArchive {
		a.Get(Scope{Repo: 1}, "a")
		a.put(key(1, fmt.Sprint(i)), make([]byte, maxArchive))
	}
	sum := 0
	for _, x := range a.all {
		sum += len(x.data)
	}
	if sum != a.size || sum > maxAllArchives || sum < maxAllArchives/2 {
		t.Errorf("%d bytes, counted as %d", sum, a.size)
	}
	if a.Get(Scope{Repo: 1}, "a") == nil {
		t.Error("the one in use is dropped")
	}
	if a.put(key(1, "long"), make([]byte, maxArchive+1)); a.Get(Scope{Repo: 1}, "long") != nil {
		t.Error("a long one is kept")
	}
}

// TestKeeping holds which archives are kept: those that were read to their end, and are not too long.
func TestKeeping(t *testing.T) {
	for _, test := range []struct {
		length int
		want   bool
	}{{0, true}, {1, true}, {maxArchive, true}, {maxArchive + 1, false}, {2*maxArchive + 1, false}} {
		text := strings.Repeat("x", test.length)
		k := &Keeping{Reader: strings.NewReader(text)}
		if _, err := io.CopyN(io.Discard, k, int64(test.length/2)); err != nil {
			t.Fatal(err)
		}
		if got := k.rest(); got != test.want || got && !bytes.Equal(k.data.Bytes(), []byte(text)) {
			t.Errorf("%d bytes: %v, %d are kept", test.length, got, k.data.Len())
		}
		if k.data.Len() > 2*maxArchive {
			t.Errorf("%d of %d bytes are in memory", k.data.Len(), test.length)
		}
	}
	broken := &Keeping{Reader: io.MultiReader(strings.NewReader("x"), io.LimitReader(failing{}, 9))}
	if broken.rest() {
		t.Error("an archive that broke off is kept")
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
