// Package store keeps the objects of the test providers: as JSON files, where tests
// can see and change them, or in memory.
package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
)

// An Object is what is known of one object.
type Object map[string]any

// Text returns an attribute, or nil if it is not there.
func (o Object) Text(name string) *string {
	if s, ok := o[name].(string); ok {
		return &s
	}
	return nil
}

// A Store is a directory with a file KIND/ID.json for each object; Dir"" keeps the
// objects in memory. IDs are NAME-N and are not used twice.
type Store struct {
	Dir string

	mu     sync.Mutex
	memory map[string]Object
	used   map[string]bool
}

// FromEnv returns the store that LAB_DIR names. It leaves the process's ID there as
// the name of a file in pids, for tests that want to kill it or to see it gone.
func FromEnv() *Store {
	s := &Store{Dir: os.Getenv("LAB_DIR")}
	if s.Dir != "" {
		pids := filepath.Join(s.Dir, "pids")
		if err := os.MkdirAll(pids, 0o755); err != nil {
			panic(err)
		}
		if err := os.WriteFile(filepath.Join(pids, fmt.Sprint(os.Getpid())), nil, 0o644); err != nil {
			panic(err)
		}
	}
	return s
}

// NewID returns an ID that was never used.
func (s *Store) NewID(kind, name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := 1; ; n++ {
		id := fmt.Sprintf("%s-%d", name, n)
		fresh, err := s.claim(kind, id)
		if err != nil || fresh {
			return id, err
		}
	}
}

func (s *Store) claim(kind, id string) (bool, error) {
	if s.Dir == "" {
		if s.used[kind+"/"+id] {
			return false, nil
		}
		if s.used == nil {
			s.used = map[string]bool{}
		}
		s.used[kind+"/"+id] = true
		return true, nil
	}
	dir := filepath.Join(s.Dir, "used", kind)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, err
	}
	f, err := os.OpenFile(filepath.Join(dir, fileName(id)), os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.Close()
}

// Get returns an object, nil if there is none.
func (s *Store) Get(kind, id string) (Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Dir == "" {
		return s.memory[kind+"/"+id], nil
	}
	return s.read(s.path(kind, id))
}

func (s *Store) read(path string) (Object, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var obj Object
	return obj, json.Unmarshal(data, &obj)
}

// Put writes an object.
func (s *Store) Put(kind, id string, obj Object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Dir == "" {
		if s.memory == nil {
			s.memory = map[string]Object{}
		}
		s.memory[kind+"/"+id] = obj
		return nil
	}
	data, err := json.MarshalIndent(obj, "", "  ")
	if err != nil {
		return err
	}
	path := s.path(kind, id)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", append(data, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Delete removes an object; one that is not there is no error.
func (s *Store) Delete(kind, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Dir == "" {
		delete(s.memory, kind+"/"+id)
		return nil
	}
	if err := os.Remove(s.path(kind, id)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Find returns the first object, by ID, that has a name.
func (s *Store) Find(kind, name string) (Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var objects []Object
	for key, obj := range s.memory {
		if strings.HasPrefix(key, kind+"/") {
			objects = append(objects, obj)
		}
	}
	paths, err := filepath.Glob(filepath.Join(s.Dir, kind, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		obj, err := s.read(path)
		if err != nil {
			return nil, err
		}
		objects = append(objects, obj)
	}
	sort.Slice(objects, func(i, j int) bool { return fmt.Sprint(objects[i]["id"]) < fmt.Sprint(objects[j]["id"]) })
	for _, obj := range objects {
		if obj["name"] == name {
			return obj, nil
		}
	}
	return nil, nil
}

func (s *Store) path(kind, id string) string {
	return filepath.Join(s.Dir, kind, fileName(id)+".json")
}

func fileName(id string) string { return strings.NewReplacer("/", "_", "..", "_").Replace(id) }
