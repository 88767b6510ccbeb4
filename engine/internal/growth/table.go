package growth

var (
	small  = Bound{Kind: Small}
	part   = Bound{Kind: Part}
	made   = Bound{Kind: Made}
	shares = Bound{Kind: Shares}
)

// table has an entry for every built-in function.
var table = map[string]Bound{
	"abs": small, "alltrue": small, "anytrue": small, "can": {Closures: true},
	"ceil": small, "cidrcontains": small, "cidrhost": small, "cidrnetmask": small, "cidrsubnet": small,
	"contains": part, "endswith": small, "fileexists": small, "floor": small,
	"index": part, "issensitive": small, "length": small, "log": small,
	"max": part, "min": part, "parseint": {estimate: parseInt}, "pow": small, "signum": small,
	"startswith": small, "strcontains": small, "sum": part,
	"timeadd": small, "timecmp": small, "timestamp": small, "plantimestamp": small,
	"uuid": small, "uuidv5": small, "bcrypt": {estimate: bcryptCost}, "rsadecrypt": {estimate: rsaKey},
	"md5": small, "sha1": small, "sha256": small, "sha512": small, "base64sha256": small, "base64sha512": small,
	"filemd5": small, "filesha1": small, "filesha256": small, "filesha512": small,
	"filebase64sha256": small, "filebase64sha512": small,

	// Functions that return texts for texts. Functions that read files check the sizes of the files
	// themselves.
	"abspath": made, "basename": part, "dirname": part, "pathexpand": made,
	"file": made, "filebase64": made,
	"base64decode": made, "base64encode": made, "base64gzip": made, "base64gunzip": made,
	"chomp": part, "trim": part, "trimprefix": part, "trimspace": part, "trimsuffix": part, "substr": part,
	"formatdate": made, "lower": made, "title": made, "upper": made, "strrev": made,
	"textdecodebase64": made, "textencodebase64": made, "urldecode": made, "urlencode": made,
	"indent": {estimate: indent}, "replace": {estimate: replace}, "format": {estimate: format}, "formatlist": {estimate: formatList},
	"join": {estimate: join}, "jsonencode": {estimate: written}, "yamlencode": {estimate: yamlEncode},
	"templatefile": made, "templatestring": {Closures: true},

	// Functions that return values for texts.
	"csvdecode": {estimate: decoded(",\n")}, "jsondecode": {estimate: jsonDecode}, "yamldecode": {estimate: decoded(",[]{}:?-\n")},
	"regex": {estimate: regex}, "regexall": {estimate: regexAll}, "split": {estimate: split}, "fileset": made,
	"cidrsubnets": made,

	// Functions that return collections for collections.
	"chunklist": made, "coalesce": {Kind: Part, estimate: unified}, "coalescelist": {Kind: Part, estimate: unified}, "compact": shares, "concat": {Kind: Shares, estimate: unified}, "convert": made,
	"distinct": {Kind: Shares, estimate: distinct}, "element": part, "ephemeralasnull": part, "flatten": shares, "keys": shares,
	"lookup": part, "matchkeys": {Kind: Shares, estimate: matchKeys}, "merge": shares, "nonsensitive": part, "one": part,
	"range": made /* the library makes 1024 numbers at most */, "reverse": shares, "sensitive": part, "setintersection": {Kind: Shares, estimate: sets}, "setproduct": {Kind: Shares, Lists: true, estimate: setProduct},
	"setsubtract": {Kind: Shares, estimate: sets}, "setunion": {Kind: Shares, estimate: sets}, "slice": shares, "sort": shares, "transpose": made,
	"try": {Closures: true}, "values": shares, "zipmap": shares,
	"tobool": part, "tolist": shares, "tomap": shares, "tonumber": part, "toset": {Kind: Shares, estimate: sets}, "tostring": part,
	"type": made,

	// Obsolete functions, whose errors only name their replacements.
	"list": small, "map": small,

	"provider::terraform::encode_tfvars": {estimate: written}, "provider::terraform::encode_expr": {estimate: written},
}
