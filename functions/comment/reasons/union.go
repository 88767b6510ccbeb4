package reasons

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// A Union is a table of types whose values are stored as JSON, each under the name of its type.
type Union[T any] map[string]reflect.Type

// Encode returns a value as JSON, together with the name of its type. The type must be in the table.
func (u Union[T]) Encode(v T) ([]byte, error) {
	for name, t := range u {
		if reflect.TypeOf(v) == t {
			return json.Marshal(map[string]T{name: v})
		}
	}
	return nil, fmt.Errorf("%T is in no table", v)
}

// An UnknownError reports that a stored value has a type that is not in the table. A different version of
// Lockstep has stored it.
type UnknownError struct{ Kind string }

func (e *UnknownError) Error() string { return fmt.Sprintf("there is no kind %q", e.Kind) }

// Decode decodes JSON that [Union.Encode] has returned. The error wraps an *[UnknownError] if the table does
// not have the type of the value.
func (u Union[T]) Decode(data []byte) (v T, err error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		return v, err
	}
	for name, value := range m {
		t, ok := u[name]
		if !ok {
			return v, &UnknownError{name}
		}
		p := reflect.New(t)
		if err := json.Unmarshal(value, p.Interface()); err != nil {
			return v, err
		}
		return p.Elem().Interface().(T), nil
	}
	return v, fmt.Errorf("there is none")
}
