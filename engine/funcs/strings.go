package funcs

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

var (
	endsWithFunc    = predicate(strings.HasSuffix, notNull, text("str"), text("suffix"))
	strContainsFunc = predicate(strings.Contains, nil, text("str"), text("substr"))

	urlEncodeFunc = stringFunc(func(args []string) (string, error) {
		return url.QueryEscape(args[0]), nil
	}, text("str"))
)

// startsWithFunc is the function startswith. If the string is unknown but has a known prefix, that is often
// enough for the result.
var startsWithFunc = function.New(&function.Spec{
	Params:       []function.Parameter{maybe(text("str")), text("prefix")},
	Type:         function.StaticReturnType(cty.Bool),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		prefix := args[1].AsString()
		if args[0].IsKnown() {
			return cty.BoolVal(strings.HasPrefix(args[0].AsString(), prefix)), nil
		}
		known := args[0].Range().StringPrefix()
		if len(known) < len(prefix) {
			return cty.UnknownVal(cty.Bool), nil
		}
		return cty.BoolVal(strings.HasPrefix(known, prefix)), nil
	},
})

// replaceFunc is the function replace. A text between slashes is a regular expression.
var replaceFunc = stringFunc(func(args []string) (string, error) {
	str, old, new := args[0], args[1], args[2]
	if len(old) < 2 || old[0] != '/' || old[len(old)-1] != '/' {
		return strings.ReplaceAll(str, old, new), nil
	}
	re, err := regexp.Compile(old[1 : len(old)-1])
	if err != nil {
		return "", err
	}
	return re.ReplaceAllString(str, new), nil
}, text("str"), text("substr"), text("replace"))
