package cliconfig

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

// parseJSON reads the JSON form of a CLI configuration, such as the file credentials.tfrc.json that
// `terraform login` writes. It is an object whose members are arguments and blocks. A list of objects means
// several blocks with the same name. Labels are levels of nesting.
func parseJSON(src []byte, name string) ([]item, diags.Diagnostics) {
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	r := &jsonReader{d: d, src: src, name: name}
	items, err := r.object()
	if err != nil {
		place := r.place()
		return nil, diags.Errorf(&place, "Invalid CLI configuration", "This is not the JSON that is required here: %v.", err)
	}
	return items, nil
}

type jsonReader struct {
	d    *json.Decoder
	src  []byte
	name string
}

// place returns the reader's present position.
func (r *jsonReader) place() hcl.Range {
	offset := min(int(r.d.InputOffset()), len(r.src))
	before := r.src[:offset]
	pos := hcl.Pos{
		Line:   bytes.Count(before, []byte("\n")) + 1,
		Column: offset - bytes.LastIndexByte(before, '\n'),
		Byte:   offset,
	}
	return hcl.Range{Filename: r.name, Start: pos, End: pos}
}

// object reads the file, whose text must be one JSON object.
func (r *jsonReader) object() ([]item, error) {
	v, err := r.value(0)
	if err == nil && v.kind != bodyKind {
		err = fmt.Errorf("the file must hold an object, not %s", v.kind)
	}
	if err == nil && r.d.More() {
		err = fmt.Errorf("text follows the object")
	}
	return v.body, err
}

func (r *jsonReader) value(depth int) (v value, err error) {
	if depth > maxDepth {
		return v, fmt.Errorf("the nesting is too deep")
	}
	t, err := r.d.Token()
	if err != nil {
		return v, err
	}
	v.place = r.place()
	switch t := t.(type) {
	case string:
		v.kind, v.text = textKind, t
	case json.Number:
		v.kind, v.text = numberKind, t.String()
	case bool:
		v.kind, v.flag = flagKind, t
	case json.Delim:
		if t == '{' {
			v.kind = bodyKind
			v.body, err = r.members(depth)
		} else {
			v.kind = listKind
			v.list, err = r.elements(depth)
		}
	default:
		err = fmt.Errorf("null is no value here")
	}
	return v, err
}

func (r *jsonReader) members(depth int) (items []item, err error) {
	for r.d.More() {
		key, err := r.d.Token()
		if err != nil {
			return nil, err
		}
		it := item{key: key.(string), assigned: true, place: r.place()}
		if it.value, err = r.value(depth + 1); err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	_, err = r.d.Token()
	return items, err
}

func (r *jsonReader) elements(depth int) (list []value, err error) {
	for r.d.More() {
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err = r.d.Token()
	return list, err
}
