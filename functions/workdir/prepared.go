package workdir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/config/inputs"
)

func (d DataDir) preparedPath() string { return filepath.Join(string(d), "modules", "variables.json") }

// HasPrepared reports whether init has recorded values of variables.
func (d DataDir) HasPrepared() bool {
	_, err := os.Stat(d.preparedPath())
	return err == nil
}

// Prepared returns the values of variables that init recorded: the variables that the sources of modules and
// the backend use. If there is no record, or a damaged one, there are no values.
func (d DataDir) Prepared() inputs.Source {
	values := map[string]json.RawMessage{}
	if data, err := os.ReadFile(d.preparedPath()); err != nil || json.Unmarshal(data, &values) != nil {
		return inputs.Source{}
	}
	s, err := inputs.Settings("by the last init", values)
	if err != nil {
		return inputs.Source{}
	}
	return s
}

// RecordPrepared writes the values that [DataDir.Prepared] returns. They are the values that the options and
// the environment of init gave to the variables that init used. No value is secret, because package early
// leaves out sensitive and ephemeral variables. Keys of the encryption are not recorded either.
func (d *Dir) RecordPrepared() error {
	path := d.preparedPath()
	if len(d.used) == 0 {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	values := map[string]ctyjson.SimpleJSONValue{}
	for name, v := range d.used {
		values[name] = ctyjson.SimpleJSONValue{Value: v}
	}
	data, err := json.Marshal(values)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = WriteFile(path, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("record variables: %w", err)
	}
	return nil
}
