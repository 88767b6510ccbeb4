package encryption

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// version is the only version of the format.
const version = "v0"

// payload is the stored JSON object. The order of the fields is OpenTofu's.
type payload struct {
	*identity
	Meta    metadata `json:"meta"`
	Data    []byte   `json:"encrypted_data"`
	Version string   `json:"encryption_version"`
}

// identity is the part of a state that stays readable: serial and lineage.
type identity struct {
	Serial  *json.Number `json:"serial"`
	Lineage string       `json:"lineage"`
}

// agrees reports whether the identity in clear matches the identity inside the ciphertext. Parts may be
// missing in clear, as in OpenTofu's first versions.
func (id identity) agrees(inside identity) bool {
	return (id.Serial == nil || inside.Serial != nil && *id.Serial == *inside.Serial) &&
		(id.Lineage == "" || id.Lineage == inside.Lineage)
}

func (id identity) String() string {
	serial := json.Number("none")
	if id.Serial != nil {
		serial = *id.Serial
	}
	return fmt.Sprintf("serial %s, lineage %q", serial, id.Lineage)
}

// IsEncrypted reports whether data, a state or a plan, is encrypted.
func IsEncrypted(data []byte) bool {
	_, ok := parse(data)
	return ok
}

// IsEncryptedPlan reports whether data is an encrypted plan, which has no serial or lineage, unlike an
// encrypted state.
func IsEncryptedPlan(data []byte) bool {
	p, ok := parse(data)
	return ok && *p.identity == identity{}
}

// parse returns the payload in data, and whether data is encrypted. A plain state can contain the same member
// names, but not at its top level.
func parse(data []byte) (payload, bool) {
	p := payload{identity: &identity{}}
	if !bytes.Contains(data, []byte("encryption_version")) {
		return p, false
	}
	if json.Unmarshal(data, &p) != nil {
		return p, false
	}
	return p, p.Version != ""
}

// identityOf reads serial and lineage of a plain state. Both are near its beginning. The rest, which may be
// large, is not parsed.
func identityOf(state []byte) (identity, error) {
	var id identity
	d := json.NewDecoder(bytes.NewReader(state))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return id, fmt.Errorf("it is not a JSON object")
	}
	for found := 0; found < 2 && d.More(); {
		name, err := d.Token()
		if err != nil {
			return id, err
		}
		var into any = new(json.RawMessage)
		switch name {
		case "serial":
			into, found = &id.Serial, found+1
		case "lineage":
			into, found = &id.Lineage, found+1
		}
		if err := d.Decode(into); err != nil && err != io.EOF {
			return id, err
		}
	}
	return id, nil
}
