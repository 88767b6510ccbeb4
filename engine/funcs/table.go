package funcs

import (
	"maps"
	"sync"

	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	ctyyaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/lockstep-iac/lockstep/engine/language"
)

// namespace is the name space of built-in functions, for calls like `core::upper`.
const namespace = "core::"

// Table returns all functions that s allows, each under its name and under `core::` and its name. Build it
// once for each run. It is safe for concurrent use if nobody changes the map.
func Table(s Scope) map[string]function.Function {
	s = s.withDefaults()
	own := additions(s)
	maps.Copy(own, fileFunctions(s))
	maps.Copy(own, worldFunctions(s))
	if s.ConsoleMode {
		own["type"] = typeFunc
		delete(own, "plantimestamp")
	}
	return with(with(pureIn[s.Language](), own), templateFunctions(own, s))
}

// pureIn has the functions that depend only on their arguments, under both names, by the version of the language.
// Nobody may change the maps.
var pureIn = map[language.Version]func() map[string]function.Function{
	language.Newest: pureOf(language.Newest),
	language.V1_11:  pureOf(language.V1_11),
}

func pureOf(v language.Version) func() map[string]function.Function {
	return sync.OnceValue(func() map[string]function.Function { return with(nil, of(v, pureFunctions())) })
}

// with returns a copy of t with additional functions, each under its name and under `core::` and its name.
func with(t, more map[string]function.Function) map[string]function.Function {
	out := make(map[string]function.Function, len(t)+2*len(more))
	maps.Copy(out, t)
	for name, f := range more {
		out[name], out[namespace+name] = f, f
	}
	return out
}

// worldFunctions returns the functions that depend on the clock, on randomness or on the run.
func worldFunctions(s Scope) map[string]function.Function {
	t := map[string]function.Function{
		"bcrypt":        bcryptFunc,
		"plantimestamp": planTimestampFunc(s.PlanTimestamp),
		"timestamp":     timestampFunc(s.Now),
		"uuid":          uuidFunc(s.Rand),
	}
	if s.PureOnly {
		for _, name := range impure {
			t[name] = function.Unpredictable(t[name])
		}
	} else if s.Impure != nil {
		for _, name := range impure {
			t[name] = noticed(t[name], s.Impure)
		}
	}
	return t
}

// impure are the names of the functions whose next call may return another result.
var impure = []string{"bcrypt", "timestamp", "uuid"}

// noticed returns a function that calls notice, and then does the same as f.
func noticed(f function.Function, notice func()) function.Function {
	return function.New(&function.Spec{
		Params: f.Params(), VarParam: f.VarParam(), Type: f.ReturnTypeForValues,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			notice()
			return f.Call(args)
		},
	})
}

// pureFunctions returns the functions that depend only on their arguments.
func pureFunctions() map[string]function.Function {
	return map[string]function.Function{
		"abs":              stdlib.AbsoluteFunc,
		"alltrue":          allTrueFunc,
		"anytrue":          anyTrueFunc,
		"base64decode":     base64DecodeFunc,
		"base64encode":     base64EncodeFunc,
		"base64gzip":       base64GzipFunc,
		"base64sha256":     digests["sha256"].base64Func(),
		"base64sha512":     digests["sha512"].base64Func(),
		"basename":         basenameFunc,
		"can":              tryfunc.CanFunc,
		"ceil":             stdlib.CeilFunc,
		"chomp":            stdlib.ChompFunc,
		"chunklist":        stdlib.ChunklistFunc,
		"cidrhost":         cidrHostFunc,
		"cidrnetmask":      cidrNetmaskFunc,
		"cidrsubnet":       cidrSubnetFunc,
		"cidrsubnets":      cidrSubnetsFunc,
		"coalesce":         coalesceFunc,
		"coalescelist":     stdlib.CoalesceListFunc,
		"compact":          stdlib.CompactFunc,
		"concat":           stdlib.ConcatFunc,
		"contains":         containsFunc,
		"convert":          convertFunc,
		"csvdecode":        stdlib.CSVDecodeFunc,
		"dirname":          dirnameFunc,
		"distinct":         distinctFunc,
		"element":          stdlib.ElementFunc,
		"endswith":         endsWithFunc,
		"ephemeralasnull":  ephemeralAsNullFunc,
		"flatten":          stdlib.FlattenFunc,
		"floor":            stdlib.FloorFunc,
		"format":           formatFunc,
		"formatdate":       stdlib.FormatDateFunc,
		"formatlist":       formatListFunc,
		"indent":           indentFunc,
		"index":            indexFunc,
		"issensitive":      isSensitiveFunc,
		"join":             stdlib.JoinFunc,
		"jsondecode":       jsonDecodeFunc,
		"jsonencode":       stdlib.JSONEncodeFunc,
		"keys":             stdlib.KeysFunc,
		"length":           lengthFunc,
		"list":             removedFunc("list", "tolist([ ... ])"),
		"log":              logFunc,
		"lookup":           lookupFunc,
		"lower":            stdlib.LowerFunc,
		"map":              removedFunc("map", "tomap({ ... })"),
		"matchkeys":        matchKeysFunc,
		"max":              stdlib.MaxFunc,
		"md5":              digests["md5"].hexFunc(),
		"merge":            mergeFunc,
		"min":              stdlib.MinFunc,
		"nonsensitive":     nonSensitiveFunc,
		"one":              oneFunc,
		"parseint":         stdlib.ParseIntFunc,
		"pow":              powFunc,
		"range":            stdlib.RangeFunc,
		"regex":            stdlib.RegexFunc,
		"regexall":         stdlib.RegexAllFunc,
		"replace":          replaceFunc,
		"reverse":          stdlib.ReverseListFunc,
		"rsadecrypt":       rsaDecryptFunc,
		"sensitive":        sensitiveFunc,
		"setintersection":  setIntersectionFunc,
		"setproduct":       stdlib.SetProductFunc,
		"setsubtract":      setSubtractFunc,
		"setunion":         setUnionFunc,
		"sha1":             digests["sha1"].hexFunc(),
		"sha256":           digests["sha256"].hexFunc(),
		"sha512":           digests["sha512"].hexFunc(),
		"signum":           stdlib.SignumFunc,
		"slice":            stdlib.SliceFunc,
		"sort":             stdlib.SortFunc,
		"split":            stdlib.SplitFunc,
		"startswith":       startsWithFunc,
		"strcontains":      strContainsFunc,
		"strrev":           stdlib.ReverseFunc,
		"substr":           stdlib.SubstrFunc,
		"sum":              sumFunc,
		"textdecodebase64": textDecodeBase64Func,
		"textencodebase64": textEncodeBase64Func,
		"timeadd":          stdlib.TimeAddFunc,
		"timecmp":          timeCmpFunc,
		"title":            stdlib.TitleFunc,
		"tobool":           conversionFunc(cty.Bool),
		"tolist":           conversionFunc(cty.List(cty.DynamicPseudoType)),
		"tomap":            conversionFunc(cty.Map(cty.DynamicPseudoType)),
		"tonumber":         conversionFunc(cty.Number),
		"toset":            conversionFunc(cty.Set(cty.DynamicPseudoType)),
		"tostring":         conversionFunc(cty.String),
		"transpose":        transposeFunc,
		"trim":             stdlib.TrimFunc,
		"trimprefix":       stdlib.TrimPrefixFunc,
		"trimspace":        stdlib.TrimSpaceFunc,
		"trimsuffix":       stdlib.TrimSuffixFunc,
		"try":              tryfunc.TryFunc,
		"upper":            stdlib.UpperFunc,
		"urlencode":        urlEncodeFunc,
		"uuidv5":           uuidV5Func,
		"values":           stdlib.ValuesFunc,
		"yamldecode":       yamlDecodeFunc,
		"yamlencode":       ctyyaml.YAMLEncodeFunc,
		"zipmap":           zipmapFunc,
	}
}
