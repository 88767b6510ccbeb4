package subprocess

import (
	"slices"
	"strings"
)

// unprivileged are the questions that the process of a fork's plan may ask: it has no rights of ours, whatever it asks for, and
// leaves nothing to later ones. A new question has none, either.
var unprivileged = []kind{isEnvironment, isFetch, isPackage, isKeep, isMemory, isState, isProtection, isResult}

// rights reports whether the programs of a run get any: those of a fork's plan do not, nor those that tell the schemas for a
// snapshot.
func (c *call) rights() bool { return c.order.Action != snapshots && c.order.Job.Snapshot == nil }

// unprivilegedEnv is the part of a run's environment that its process finds packages and modules with: none of it is secret but a
// password in the address of a proxy, which stays in that process.
func unprivilegedEnv(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains([]string{"PATH", "LANG", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"}, strings.ToUpper(name))
	})
}
