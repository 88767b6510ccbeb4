package statefile

import (
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// decodeValue is ctyjson.Unmarshal for untrusted text. ctyjson.Unmarshal panics (as of cty 1.19) for a tuple
// that is shorter than its type, and accepts numbers like 1e999999999 that nobody could print.
func decodeValue(src []byte, ty cty.Type) (v cty.Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = cty.NilVal, fmt.Errorf("invalid value: %v", p)
		}
	}()
	if v, err = ctyjson.Unmarshal(src, ty); err != nil {
		return cty.NilVal, err
	}
	return v, cty.Walk(v, func(_ cty.Path, v cty.Value) (bool, error) {
		if v.Type() == cty.Number && !v.IsNull() {
			f := v.AsBigFloat()
			if exp := f.MantExp(nil); f.IsInf() || exp > maxExponent || exp < -maxExponent {
				return false, errors.New("a number is out of range")
			}
		}
		return true, nil
	})
}

// maxExponent is the largest binary exponent of a number: it allows for 10,000 decimal digits.
const maxExponent = 33220
