package planfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// A File is the contents of a saved plan.
type File struct {
	// Engine is the version of Lockstep that made the plan. [Decode] accepts only the caller's version,
	// unless Options.AnyEngine is set.
	Engine string
	// Language is the version of the language that the configuration is written in.
	Language language.Version
	Plan     *plans.Plan
	// Config are the files of the configuration, by path. Paths have forward slashes, and are absolute or
	// relative to the root module's directory.
	Config map[string][]byte
	// Modules identify the versions of the modules that the plan was made with, by the keys of their calls. A
	// value is the checksum of the package, or its source address. nil means that the versions do not matter.
	// The caller compares them.
	Modules map[string]string
	// Manifest lists the modules and where their files are in Config, in the format of [source.Manifest]. It
	// is nil if the reader knows the modules.
	Manifest []byte
	// Lock is the dependency lock file that the providers were selected by; nil if there is none.
	Lock []byte
	// Providers are the installed providers that the plan was made with.
	Providers map[addrs.Provider]Selection
}

// A Selection is one installed provider.
type Selection struct {
	Version string
	// Hashes are the package's checksums, as in the lock file ("h1:...").
	Hashes []string
}

// Options are the options for reading a plan.
type Options struct {
	// Engine is the version of Lockstep that reads the plan.
	Engine string
	// AnyEngine accepts plans of other versions in the same format. Such a plan may be compared with another
	// plan, but never applied.
	AnyEngine bool
	// Schema returns the schema of a resource type, for [plans.ResourceChange.Schema]. mode is "managed" or
	// "data". If Schema is nil, or returns nil, the change has no schema.
	Schema func(p addrs.Provider, mode, typeName string) *schema.Schema
}

// errNotPlan is the error for a file that is no saved plan of Lockstep.
var errNotPlan = errors.New("not a saved plan of Lockstep")

// A VersionError is the error for a plan saved by another version of Lockstep.
type VersionError struct {
	Engine, Want string
	format       int
}

// Error implements error.
func (e *VersionError) Error() string {
	made, want := e.Engine, e.Want
	if made == want {
		made = fmt.Sprintf("%s (format %d)", made, e.format)
		want = fmt.Sprintf("%s (format %d)", want, format)
	}
	return fmt.Sprintf("the saved plan was created by a different version of Lockstep, %s, and this is %s: apply it with that version, or plan again", made, want)
}

// A Seal returns the bytes to save instead of an encoded plan, for instance the encrypted plan.
type Seal func([]byte) ([]byte, error)

// Write saves f in a file that only its owner may read. The file appears only when it is complete; after an
// error the previous file is still there. If path is a link, Write follows it. If the target is not a regular
// file, such as a pipe or /dev/null, Write writes to it directly. seal may be nil.
func Write(path string, f *File, seal Seal) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeThrough(path, f, seal)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // has mode 0600
	if err != nil {
		return fmt.Errorf("save plan %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
			err = fmt.Errorf("save plan %s: %w", path, err)
		}
	}()
	if err = seal.encode(tmp, f); err != nil {
		return err
	}
	// Without the sync, the new name could have an empty file after a crash.
	if err = tmp.Sync(); err != nil {
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// encode writes f to w, in sealed form if s is not nil.
func (s Seal) encode(w io.Writer, f *File) error {
	if s == nil {
		return Encode(w, f)
	}
	var b bytes.Buffer
	if err := Encode(&b, f); err != nil {
		return err
	}
	sealed, err := s(b.Bytes())
	if err != nil {
		return err
	}
	_, err = w.Write(sealed)
	return err
}

// writeThrough writes f to a target that cannot be replaced, such as a pipe.
func writeThrough(path string, f *File, seal Seal) error {
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		err = errors.Join(seal.encode(w, f), w.Close())
	}
	if err != nil {
		return fmt.Errorf("save plan %s: %w", path, err)
	}
	return nil
}

// IsPlan reports whether src looks like a saved plan, of Lockstep or another tool, and not like a state file.
func IsPlan(src []byte) bool { return bytes.HasPrefix(src, []byte(zipMagic)) }

// Encode writes the bytes that [Write] saves without a seal. Equal files give equal bytes.
func Encode(w io.Writer, f *File) error {
	if f.Plan == nil {
		panic("planfile: no plan to write")
	}
	a := newArchive(w)
	a.header(f.Engine)
	data, states, err := encodePlan(f)
	if err != nil {
		return err
	}
	a.add(planName, data)
	for _, s := range states {
		a.add(s.name, s.src)
	}
	if f.Lock != nil {
		a.add(lockName, f.Lock)
	}
	if f.Manifest != nil {
		a.add(manifestName, f.Manifest)
	}
	a.modules(f.Modules)
	a.config(f.Config)
	return a.close()
}

// Decode reads the bytes that [Encode] writes. Its errors say what to do. The error is a [*VersionError] for
// a plan of another version, and wraps errNotPlan for a file that is no plan. The result does not keep src.
func Decode(src []byte, o Options) (*File, error) {
	m, err := openArchive(src, o)
	if err != nil {
		return nil, err
	}
	f, err := decodePlan(m, o)
	if err != nil {
		return nil, fmt.Errorf("the saved plan is damaged: %w; plan again", err)
	}
	f.Engine, f.Lock, f.Config, f.Manifest = m.engine, m.files[lockName], m.config, m.files[manifestName]
	if src := m.files[modulesName]; src != nil {
		if err := json.Unmarshal(src, &f.Modules); err != nil {
			return nil, fmt.Errorf("the saved plan is damaged: %s: %w; plan again", modulesName, err)
		}
	}
	return f, nil
}
