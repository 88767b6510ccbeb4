package subprocess

import (
	"slices"
	"strings"
)

// unprivileged are the questions that the process of a fork's plan may send. With these questions the process gets
// none of Lockstep's rights, and can store nothing for later processes: its progress is for people only, and
// bounded. A question that is added later must be added here, too.
var unprivileged = []kind{isEnvironment, isFetch, isPackage, isKeep, isMemory, isState, isProtection, isProgress, isResult}

// rights reports whether the programs of a run get any rights. The programs of a fork's plan get none, and
// neither do those that provide the schemas for a snapshot.
func (c *call) rights() bool { return c.order.Action != snapshots && c.order.Job.Snapshot == nil }

// unprivilegedEnv returns the part of a run's environment with which its process finds packages and modules. It
// can contain one secret: a password in the address of a proxy. That secret is not passed to programs.
func unprivilegedEnv(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains([]string{"PATH", "LANG", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"}, strings.ToUpper(name))
	})
}
