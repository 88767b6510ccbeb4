package funcs

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"
)

var base64EncodeFunc = stringFunc(func(args []string) (string, error) {
	return base64.StdEncoding.EncodeToString([]byte(args[0])), nil
}, text("str"))

var base64DecodeFunc = function.New(&function.Spec{
	Params:       []function.Parameter{maybe(marked(text("str")))},
	Type:         function.StaticReturnType(cty.String),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		v, ms := args[0].Unmark()
		if !v.IsKnown() {
			return cty.UnknownVal(cty.String).WithMarks(ms), nil
		}
		raw, err := base64.StdEncoding.DecodeString(v.AsString())
		if err != nil {
			return cty.NilVal, fmt.Errorf("failed to decode base64 data %s", shown(v.AsString(), ms))
		}
		if !utf8.Valid(raw) {
			return cty.NilVal, errors.New("the result of decoding the provided string is not valid UTF-8")
		}
		return cty.StringVal(string(raw)).WithMarks(ms), nil
	},
})

// base64GzipFunc is the function base64gzip. Its output is stored in states, so it must be identical to
// Terraform's. Terraform flushes before it closes, which adds an empty block to the stream.
var base64GzipFunc = stringFunc(func(args []string) (string, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(args[0])); err != nil {
		return "", fmt.Errorf("write gzip: %w", err)
	}
	if err := z.Flush(); err != nil {
		return "", fmt.Errorf("flush gzip: %w", err)
	}
	if err := z.Close(); err != nil {
		return "", fmt.Errorf("close gzip: %w", err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}, text("str"))

var textEncodeBase64Func = stringFunc(func(args []string) (string, error) {
	enc, name, err := charset(args[1])
	if err != nil {
		return "", err
	}
	raw, err := enc.NewEncoder().Bytes([]byte(args[0]))
	if err != nil {
		return "", function.NewArgErrorf(0, "the given string contains characters that cannot be represented in %s", name)
	}
	return base64.StdEncoding.EncodeToString(raw), nil
}, text("string"), text("encoding"))

var textDecodeBase64Func = stringFunc(func(args []string) (string, error) {
	enc, name, err := charset(args[1])
	if err != nil {
		return "", err
	}
	raw, err := base64.StdEncoding.DecodeString(args[0])
	if err != nil {
		var corrupt base64.CorruptInputError
		if errors.As(err, &corrupt) {
			return "", function.NewArgErrorf(0, "the given value is has an invalid base64 symbol at offset %d", int64(corrupt))
		}
		return "", function.NewArgErrorf(0, "invalid source string: %w", err)
	}
	out, err := enc.NewDecoder().Bytes(raw)
	if err != nil || bytes.ContainsRune(out, utf8.RuneError) {
		return "", function.NewArgErrorf(0, "the given string contains symbols that are not defined for %s", name)
	}
	return string(out), nil
}, text("source"), text("encoding"))

// charset returns the character encoding with an IANA name or alias, and the encoding's main name.
func charset(name string) (encoding.Encoding, string, error) {
	enc, err := ianaindex.IANA.Encoding(name)
	if err != nil || enc == nil {
		return nil, "", function.NewArgErrorf(1, "%q is not a supported IANA encoding name or alias in this Terraform version", name)
	}
	main, err := ianaindex.IANA.Name(enc)
	if err != nil {
		main = name
	}
	return enc, main, nil
}

// shown returns a string for a message: quoted, or a placeholder if its marks forbid to show it.
func shown(s string, ms cty.ValueMarks) string {
	if kind := secret(ms); kind != "" {
		return "(" + kind + " value)"
	}
	return strconv.Quote(s)
}

// secret returns the name of the mark that keeps a value out of messages; "" if there is none.
func secret(ms cty.ValueMarks) string {
	for _, m := range []marks.Mark{marks.Sensitive, marks.Ephemeral} {
		if _, ok := ms[m]; ok {
			return string(m)
		}
	}
	return ""
}
