package policies

import (
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// missing are OPA's built-in functions that policies cannot call, by the beginning of their names, with the
// reason. Policies also cannot call the functions that OPA marks as nondeterministic, such as those that use
// the network, the environment, the clock or random numbers. That includes such functions of later versions.
var missing = []struct{ prefix, because string }{
	{"http.send", "policies have no network"},
	{"net.lookup_ip_addr", "policies have no network"},
	{"opa.runtime", "policies have no environment"},
	{"time.now_ns", "policies have no clock: a plan is judged alike at any time"},
	{"rand.intn", "policies have no chance: a plan is judged alike each time"},
	{"uuid.rfc4122", "policies have no chance: a plan is judged alike each time"},

	// OPA reads references to other files in a schema without asking. (It asks before it uses the network.)
	{"json.match_schema", "schemas can refer to files"},
	{"json.verify_schema", "schemas can refer to files"},

	// These functions compare with the present time, unless the policy gives them a time.
	{"io.jwt.decode_verify", "policies have no clock: io.jwt.decode and the io.jwt.verify functions need none"},
	{"crypto.x509.parse_and_verify_certificates", "policies have no clock"},

	// A signature contains random numbers, so judgements would differ. A policy has no use for signatures
	// anyway.
	{"io.jwt.encode_sign", "policies cannot sign: they have no network to send a signature by"},
	{"providers.aws.sign_req", "policies cannot sign: they have no network to send a signature by"},

	// These functions can use unlimited time or memory, and do not stop at the time limit. For example, the
	// number of paths in a graph can be exponential, and a shift by 2^40 makes a number of 128 GiB.
	{"graph.reachable_paths", "its result can be exponentially large: use graph.reachable"},
	{"bits.lsh", "its result can be too large for the memory: multiply instead"},
	{"graphql.", "it does not look at the time limit"},
	{"rego.parse_module", "it does not look at the time limit"},

	// These functions exist only in conftest.
	{"parse_config", "it is conftest's own: policies have no files but their data"},
	{"parse_combined_config_files", "it is conftest's own: policies have no files but their data"},
}

// capabilities returns OPA's capabilities without the functions in [missing]. OPA then loads no schemas that
// annotations name, and connects to no network host.
func capabilities(v ast.RegoVersion) *ast.Capabilities {
	c := ast.CapabilitiesForThisVersion(ast.CapabilitiesRegoVersion(v))
	c.Builtins = slices.DeleteFunc(slices.Clone(c.Builtins), func(b *ast.Builtin) bool {
		return b.Nondeterministic || reason(b.Name) != ""
	})
	c.AllowNet = []string{}
	return c
}

func reason(name string) string {
	for _, m := range missing {
		if strings.HasPrefix(name, m.prefix) {
			return m.because
		}
	}
	return ""
}

var undefinedFunction = regexp.MustCompile(`undefined function ([a-z0-9_.]+)`)

// remedy returns a sentence of advice that is added to an error message of OPA's compiler; "" if there is none.
func remedy(message string) string {
	if m := undefinedFunction.FindStringSubmatch(message); m != nil && reason(m[1]) != "" {
		return " (it is not available: " + reason(m[1]) + ")"
	}
	return ""
}
