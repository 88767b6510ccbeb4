package growth

// small, part and made are kinds of bounds without an estimate. shares has at most the
// elements of all arguments.
var (
	small  = Bound{Kind: Small}
	part   = Bound{Kind: Part}
	made   = Bound{Kind: Made}
	shares = Bound{Kind: Shares, estimate: elements}
)

func makes(estimate func(*call)) Bound  { return Bound{Kind: Made, estimate: estimate} }
func shared(estimate func(*call)) Bound { return Bound{Kind: Shares, estimate: estimate} }

// takes is a bound of which only the time may be too much.
func takes(k Kind, estimate func(*call)) Bound { return Bound{Kind: k, estimate: estimate} }

// times is the bound of a text that is at most n times as long as the argument, which is a
// text of the size allowed, with n so small that both find room.
func times(n int64) Bound { return Bound{Kind: Made} }

// table has every function.
var table = map[string]Bound{
	"abs": small, "alltrue": small, "anytrue": small, "can": {Kind: Made, Closures: true},
	"ceil": small, "cidrcontains": small, "cidrhost": small, "cidrnetmask": small, "cidrsubnet": small,
	"contains": takes(Part, scan), "endswith": small, "fileexists": small, "floor": small,
	"index": takes(Part, scan), "issensitive": small, "length": small, "log": small,
	"max": part, "min": part, "parseint": makes(parseInt), "pow": small, "signum": small,
	"startswith": small, "strcontains": small, "sum": part,
	"timeadd": small, "timecmp": small, "timestamp": small, "plantimestamp": small,
	"uuid": small, "uuidv5": small, "bcrypt": takes(Made, bcryptCost), "rsadecrypt": takes(Made, rsaKey),
	"md5": small, "sha1": small, "sha256": small, "sha512": small, "base64sha256": small, "base64sha512": small,
	"filemd5": small, "filesha1": small, "filesha256": small, "filesha512": small,
	"filebase64sha256": small, "filebase64sha512": small,

	// Texts of texts. Functions that read files check their sizes themselves.
	"abspath": made, "basename": part, "dirname": part, "pathexpand": made,
	"file": made, "filebase64": made,
	"base64decode": times(1), "base64encode": times(2), "base64gzip": times(2), "base64gunzip": made,
	"chomp": part, "trim": part, "trimprefix": part, "trimspace": part, "trimsuffix": part, "substr": part,
	"formatdate": times(3), "lower": times(3), "title": times(3), "upper": times(3), "strrev": times(1),
	"textdecodebase64": times(3), "textencodebase64": times(6), "urldecode": times(1), "urlencode": times(3),
	"indent": makes(indent), "replace": makes(replace), "format": makes(format), "formatlist": makes(formatList),
	"join": makes(join), "jsonencode": makes(jsonEncode), "yamlencode": makes(yamlEncode),
	"templatefile": made, "templatestring": {Kind: Made, Closures: true},

	// Values of texts.
	"csvdecode": makes(csvDecode), "jsondecode": makes(jsonDecode), "yamldecode": makes(yamlDecode),
	"regex": makes(regex), "regexall": makes(regexAll), "split": makes(split), "fileset": made,
	"cidrsubnets": made,

	// Collections of collections.
	"chunklist": makes(chunkList), "coalesce": takes(Part, unified), "coalescelist": takes(Part, unified), "compact": shares, "concat": shares,
	"distinct": takes(Shares, distinct), "element": part, "ephemeralasnull": part, "flatten": shared(flatten), "keys": shares,
	"lookup": part, "matchkeys": takes(Shares, matchKeys), "merge": shared(merged), "nonsensitive": part, "one": part,
	"range": made /* the library makes 1024 numbers at most */, "reverse": shares, "sensitive": part, "setintersection": shared(sets), "setproduct": {Kind: Shares, Lists: true, estimate: setProduct},
	"setsubtract": shared(sets), "setunion": shared(sets), "slice": shares, "sort": shares, "transpose": makes(transpose),
	"try": {Kind: Made, Closures: true}, "values": shares, "zipmap": shares,
	"tobool": part, "tolist": shares, "tomap": shares, "tonumber": part, "toset": shared(sets), "tostring": part,
	"type": made,

	// Obsolete functions, whose errors only name their replacements.
	"list": small, "map": small,

	"provider::terraform::encode_tfvars": makes(jsonEncode), "provider::terraform::encode_expr": makes(jsonEncode),
}
