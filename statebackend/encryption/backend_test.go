package encryption

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/journal"
	"github.com/lockstep-iac/lockstep/statebackend/local"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// open is a source whose metadata are the key itself: quick, and of no use against anybody.
type open struct {
	made, restored atomic.Int32
	fail           error
}

func (o *open) Generate(context.Context, []byte) (key, meta []byte, err error) {
	o.made.Add(1)
	key = make([]byte, 32)
	rand.Read(key)
	return key, fmt.Appendf(nil, "%q", fmt.Sprintf("%x", key)), o.fail
}

func (o *open) Restore(_ context.Context, _, meta []byte) (key []byte, err error) {
	o.restored.Add(1)
	_, err = fmt.Sscanf(string(meta), "%q", &meta)
	if err == nil {
		_, err = fmt.Sscanf(string(meta), "%x", &key)
	}
	return key, err
}

func method(name string, s Source) Method {
	return Method{Name: "method.aes_gcm." + name, Keys: NewKeys("key_provider.open."+name, s, nil)}
}

var unencrypted = Method{Name: "method.unencrypted.u"}

func TestContract(t *testing.T) {
	statebackendtest.Run(t, statebackendtest.Suite{
		Open: func(t *testing.T) statebackend.Backend {
			return Wrap(new(statebackendtest.Fake), New(Target{Methods: []Method{method("a", new(open))}}))
		},
		Kinds:  []statebackend.LockKind{statebackend.MemoryLock},
		Leases: true,
	})
}

// TestSidecar looks at what is stored beside an encrypted state: it is encrypted, too, and no other ciphertext counts
// as a sidecar.
func TestSidecar(t *testing.T) {
	t.Parallel()
	plain, err := local.Open(nil, local.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	cipher := New(Target{Methods: []Method{method("a", new(open))}})
	sealed := Wrap(plain, cipher)
	statebackendtest.Run(t, statebackendtest.Suite{
		Open: func(t *testing.T) statebackend.Backend {
			b, err := local.Open(nil, local.Options{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			return Wrap(b, New(Target{Methods: []Method{method("a", new(open))}}))
		},
		ProcessLocks: true,
		Kinds:        []statebackend.LockKind{statebackend.FileLock},
	})
	w, _ := sealed.Open("default")
	under, _ := plain.Open("default")
	if _, err := w.Put(t.Context(), []byte(`{"serial":1,"lineage":"l"}`), ""); err != nil {
		t.Fatal(err)
	}
	if err := statebackend.WriteSidecar(t.Context(), w, []byte("a digest of hunter2")); err != nil {
		t.Fatal(err)
	}
	stored, err := statebackend.ReadSidecar(t.Context(), under)
	if err != nil || bytes.Contains(stored, []byte("hunter2")) || !IsEncrypted(stored) {
		t.Errorf("%q, %v", stored, err)
	}
	state, err := under.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range [][]byte{state.Bytes, []byte("plain"), []byte("{}"), nil} {
		if other == nil {
			other = bytes.Replace(stored, []byte(`"encrypted_data":"`), []byte(`"encrypted_data":"AAAA`), 1)
		}
		if err := statebackend.WriteSidecar(t.Context(), under, other); err != nil {
			t.Fatal(err)
		}
		if data, err := statebackend.ReadSidecar(t.Context(), w); err == nil {
			t.Errorf("%q is read as %q", other, data)
		}
	}
}

func TestFaults(t *testing.T) {
	statebackendtest.RunFaults(t, func(t *testing.T, faults *statebackendtest.Faults) statebackend.Backend {
		return Wrap(&statebackendtest.Fake{Faults: faults}, New(Target{Methods: []Method{method("a", new(open))}}))
	})
}

func TestLog(t *testing.T) {
	statebackendtest.RunLog(t, func(t *testing.T) func() statebackend.Log {
		l, c := new(statebackendtest.Log), New(Target{Methods: []Method{method("a", new(open))}})
		return func() statebackend.Log { return &log{l, c} }
	})
}

const state = `{"version": 4, "serial": 7, "lineage": "l", "outputs": {"password": "hunter2"}}`

// TestNothingInClear holds that no file beside a state has its values: the state, its backup, its
// journal, and what the local backend leaves of a crash.
func TestNothingInClear(t *testing.T) {
	dir := t.TempDir()
	b, err := local.Open(nil, local.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	w, err := Wrap(b, New(Target{Methods: []Method{method("a", new(open))}})).Open(statebackend.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	v, err := w.Put(t.Context(), []byte(state), "")
	if err == nil {
		_, err = w.Put(t.Context(), []byte(strings.Replace(state, "7", "8", 1)), v)
	}
	if err != nil {
		t.Fatal(err)
	}
	l := w.(statebackend.Journaled).Journal()
	defer l.Close()
	j, _, err := journal.Open(t.Context(), l, "run")
	if err == nil {
		err = j.Write(t.Context(), []byte(`{"password": "hunter2"}`))
	}
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	hidden, _ := filepath.Glob(filepath.Join(dir, ".*"))
	if files = append(files, hidden...); err != nil || len(files) < 3 {
		t.Fatalf("%q, %v", files, err)
	}
	t.Log(files)
	for _, f := range files {
		checkHidden(t, f)
	}
	if s, err := w.Get(t.Context()); err != nil || !bytes.Contains(s.Bytes, []byte("hunter2")) || s.Outdated {
		t.Errorf("read back: %s, %v", s.Bytes, err)
	}
}

func checkHidden(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte("hunter2")) || bytes.Contains(data, []byte("password")) {
		t.Errorf("%s has the values in clear:\n%s", path, data)
	}
}

// openIn opens the state of a backend with a target.
func openIn(t *testing.T, b statebackend.Backend, target Target) statebackend.Workspace {
	t.Helper()
	w, err := Wrap(b, New(target)).Open(statebackend.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func stored(t *testing.T, b statebackend.Backend) []byte {
	t.Helper()
	w, err := b.Open(statebackend.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.Bytes
}

// TestNoKey holds that nothing is stored where there is no key to encrypt with.
func TestNoKey(t *testing.T) {
	fake, broken := new(statebackendtest.Fake), errors.New("KMS is away")
	w := openIn(t, fake, Target{Methods: []Method{method("a", &open{fail: broken}), unencrypted}})
	if _, err := w.Put(t.Context(), []byte(state), ""); !errors.Is(err, broken) || !strings.Contains(err.Error(), "nothing was written") {
		t.Errorf("put without a key: %v", err)
	}
	if s := stored(t, fake); s != nil {
		t.Errorf("stored without a key: %s", s)
	}
}

// TestMigration walks from clear to encrypted, to another key, and back, each time with what was
// before as the fallback. A state in a former form is outdated until it is written.
func TestMigration(t *testing.T) {
	fake := new(statebackendtest.Fake)
	a, b := method("a", new(open)), method("b", new(open))
	v := statebackend.Version("")
	for i, target := range []Target{
		{Methods: []Method{unencrypted}},
		{Methods: []Method{a, unencrypted}},
		{Methods: []Method{a}, Enforced: true},
		{Methods: []Method{b, a}, Enforced: true},
		{Methods: []Method{b}},
		{Methods: []Method{unencrypted, b}},
		{Methods: []Method{unencrypted}},
	} {
		w := openIn(t, fake, target)
		s, err := w.Get(t.Context())
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		if changes := i == 1 || i == 3 || i == 5; s.Outdated != changes {
			t.Errorf("%d: outdated %v", i, s.Outdated)
		}
		if v, err = w.Put(t.Context(), []byte(state), s.Version); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		if s, err = w.Get(t.Context()); err != nil || string(s.Bytes) != state || s.Outdated || s.Version != v {
			t.Errorf("%d: %s, %v", i, s.Bytes, err)
		}
		if IsEncrypted(stored(t, fake)) != (target.Methods[0].Keys != nil) {
			t.Errorf("%d: stored is %s", i, stored(t, fake))
		}
	}
}

// TestMigratingEcho holds that an unchanged state is written in its new form, though the stored one
// has the same content: a conflict is not taken for the echo of an earlier attempt.
func TestMigratingEcho(t *testing.T) {
	fake := new(statebackendtest.Fake)
	if _, err := openIn(t, fake, Target{Methods: []Method{unencrypted}}).Put(t.Context(), []byte(state), ""); err != nil {
		t.Fatal(err)
	}
	w := openIn(t, fake, Target{Methods: []Method{method("a", new(open)), unencrypted}})
	if _, err := w.Put(t.Context(), []byte(state), "another"); !errors.As(err, new(*statebackend.ConflictError)) {
		t.Errorf("over the same state in clear: %v", err)
	}
}

// TestKeysAreMadeOnce holds that a cipher makes a key to encrypt with, and one to decrypt each key's
// files with, however often it is used.
func TestKeysAreMadeOnce(t *testing.T) {
	fake, source := new(statebackendtest.Fake), new(open)
	before := openIn(t, fake, Target{Methods: []Method{method("a", source)}})
	if _, err := before.Put(t.Context(), []byte(state), ""); err != nil {
		t.Fatal(err)
	}
	w := openIn(t, fake, Target{Methods: []Method{method("a", source)}})
	for range 5 {
		s, err := w.Get(t.Context())
		if err == nil {
			_, err = w.Put(t.Context(), append(s.Bytes, ' '), s.Version)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if made, restored := source.made.Load(), source.restored.Load(); made != 2 || restored != 1 {
		t.Errorf("%d keys made, %d restored; want 2, of two processes, and 1", made, restored)
	}
}
