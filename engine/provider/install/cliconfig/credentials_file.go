package cliconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// readCredentials returns the content of the credentials file, with numbers as they are written. A missing
// file counts as empty.
func readCredentials(path string) (map[string]any, error) {
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(bytes.TrimSpace(src)) == 0 {
		return map[string]any{}, nil
	}
	if err != nil {
		return nil, err
	}
	var file map[string]any
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	if err := d.Decode(&file); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if file == nil {
		file = map[string]any{}
	}
	return file, nil
}

// writeCredentials replaces the file in one step. Only its owner may read the file.
func writeCredentials(path string, file map[string]any) error {
	var data bytes.Buffer
	e := json.NewEncoder(&data)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(file); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // dotfiles are often links
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".credentials.*") // readable by its owner alone
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data.Bytes())
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
