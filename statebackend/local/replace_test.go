package local

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

var (
	oldState = []byte(`{"serial":1,"old":"` + strings.Repeat("o", 5000) + `"}`)
	newState = []byte(`{"serial":2,"new":"` + strings.Repeat("n", 9000) + `"}`)
)

// A writer is killed at each step, and also in the middle of writing the body.
func TestKilledAtEachStep(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		step string
		want []byte // that is read afterwards
	}{
		{"sibling", oldState},
		{"reserve", oldState},
		{"mark", oldState},
		{"body", newState},
		{"half the body", newState},
		{"unmark", newState},
		{"forget", newState},
	} {
		for _, sizes := range []string{"longer", "shorter"} {
			t.Run(test.step+" "+sizes, func(t *testing.T) {
				t.Parallel()
				from, to, want := oldState, newState, test.want
				if sizes == "shorter" {
					from, to = to, from
					if bytes.Equal(want, oldState) {
						want = newState
					} else {
						want = oldState
					}
				}
				killedAt(t, test.step, from, to, want)
			})
		}
	}
}

func killedAt(t *testing.T, step string, from, to, want []byte) {
	dir := t.TempDir()
	path := filepath.Join(dir, "terraform.tfstate")
	write(t, path, string(from))
	dead := openHooked(t, dir, func(at string) bool {
		if step != "half the body" || at != "body" {
			return at == step
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Error(err)
			return true
		}
		defer f.Close()
		f.WriteAt(to[1:len(to)/2], 1)
		return true
	})
	if _, err := dead.Put(t.Context(), to, versionOf(from)); !errors.Is(err, errStopped) {
		t.Fatalf("Put: %v", err)
	}

	// Any reader, without a lock.
	b := open(t, dir)
	w, err := b.Open("default")
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes, want) {
		t.Errorf("read %.30q..., %d bytes; want %.30q..., %d bytes", got.Bytes, len(got.Bytes), want, len(want))
	}

	// The next holder of the lock makes it whole for everybody.
	id, err := w.Lock(t.Context(), statebackend.NewLockInfo("x", "1"))
	if err != nil {
		t.Fatal(err)
	}
	onDisk, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(onDisk, want) {
		t.Errorf("under the lock the file holds %.30q..., %v; want %.30q...", onDisk, err, want)
	}
	if _, err := w.Put(t.Context(), []byte("next"), got.Version); err != nil {
		t.Fatal(err)
	}
	if err := w.Unlock(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(siblingOf(path)); err == nil {
		t.Error("the sibling is left")
	}
}

func openHooked(t *testing.T, dir string, dies func(step string) bool) *workspace {
	t.Helper()
	w, err := open(t, dir).Open("default")
	if err != nil {
		t.Fatal(err)
	}
	w.(*workspace).dies = dies
	return w.(*workspace)
}

// The writer itself tries again after an error, without a lock.
func TestPutAgainAfterAnError(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"sibling", "reserve", "mark", "body", "unmark", "forget"} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "terraform.tfstate"), string(oldState))
		failing := true
		w := openHooked(t, dir, func(at string) bool {
			if failing && at == step {
				failing = false
				return true
			}
			return false
		})
		if _, err := w.Put(t.Context(), newState, versionOf(oldState)); !errors.Is(err, errStopped) {
			t.Fatalf("%s: %v", step, err)
		}
		if _, err := w.Put(t.Context(), newState, versionOf(oldState)); err != nil {
			t.Errorf("%s: the second Put: %v", step, err)
		}
		onDisk, err := os.ReadFile(filepath.Join(dir, "terraform.tfstate"))
		if err != nil || !bytes.Equal(onDisk, newState) {
			t.Errorf("%s: the file holds %.30q..., %v", step, onDisk, err)
		}
	}
}

// /dev/full is a disk that is full.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		statebackendtest.Missing(t, "no /dev/full here")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "terraform.tfstate")
	write(t, path, string(oldState))
	w := openHooked(t, dir, func(step string) bool {
		if step == "sibling" {
			if err := os.Symlink("/dev/full", siblingOf(path)); err != nil {
				t.Error(err)
			}
		}
		return false
	})
	_, err := w.Put(t.Context(), newState, versionOf(oldState))
	if err == nil || !strings.Contains(err.Error(), "no space left on device") {
		t.Fatalf("Put: %v; want no space left", err)
	}
	wantFiles(t, dir, "terraform.tfstate "+string(oldState)+"\nterraform.tfstate.backup "+string(oldState))
}

func TestDamagedStates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "terraform.tfstate")
	write(t, path, "\x00erial\":1}")
	w := openHooked(t, dir, nil)
	if _, err := w.Get(t.Context()); err == nil || !strings.Contains(err.Error(), "half-written") {
		t.Errorf("without a sibling: %v", err)
	}
	write(t, siblingOf(path), strings.Repeat("0", 64)+"\n{}")
	if _, err := w.Get(t.Context()); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("with a wrong hash: %v", err)
	}
}

// TestVersionInAFile holds the version of a file that is read in pieces against that of its state.
func TestVersionInAFile(t *testing.T) {
	t.Parallel()
	whole := `{"serial":1}` + strings.Repeat(" ", 1<<17)
	sum := sha256.Sum256([]byte(whole))
	for name, content := range map[string]string{"empty": "", "small": "{}", "whole": whole, "torn": "\x00erial"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "terraform.tfstate")
		write(t, path, content)
		write(t, siblingOf(path), hex.EncodeToString(sum[:])+"\n"+whole)
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		data, err := readState(f, path)
		got, err2 := versionIn(f, path)
		f.Close()
		if err != nil || err2 != nil || got != versionOf(data) || name == "torn" && string(data) != whole {
			t.Errorf("%s: version %q, %v, %v", name, got, err, err2)
		}
	}
}

// The test binary as a process that writes until it is killed.
const writerVariable = "LOCKSTEP_TEST_LOCAL_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerVariable); dir != "" {
		writeForever(dir)
	}
	os.Exit(m.Run())
}

func writeForever(dir string) {
	b, err := Open(nil, Options{Dir: dir, BackupPath: "-"})
	if err != nil {
		panic(err)
	}
	w, err := b.Open("default")
	if err != nil {
		panic(err)
	}
	for i := 0; ; i++ {
		now, err := w.Get(context.Background())
		if err != nil {
			panic(err)
		}
		if _, err := w.Put(context.Background(), numbered(i), now.Version); err != nil {
			panic(err)
		}
	}
}

// numbered is a state of some size that says what it must be.
func numbered(i int) []byte {
	n := 1000 + i*7919%50000
	return fmt.Appendf(nil, `{"i":%d,"n":%d,"x":"%s"}`, i, n, strings.Repeat(string(rune('a'+i%26)), n))
}

func wholeState(b []byte) bool {
	var i, n int
	if _, err := fmt.Sscanf(string(b), `{"i":%d,"n":%d,`, &i, &n); err != nil {
		return false
	}
	return bytes.Equal(b, numbered(i))
}

func TestKillNine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for round := range 15 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), writerVariable+"="+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// After the first write, at a moment that varies.
		path := filepath.Join(dir, "terraform.tfstate")
		for {
			if info, err := os.Stat(path); err == nil && info.Size() > 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(10+round*3) * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
		w := openHooked(t, dir, nil)
		got, err := w.Get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !wholeState(got.Bytes) {
			t.Fatalf("round %d: %d bytes that nobody wrote: %.40q", round, len(got.Bytes), got.Bytes)
		}
	}
}
