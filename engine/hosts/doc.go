// Package hosts makes requests to the hosts from which providers and modules are installed. It discovers
// their services, gets documents and packages, and tries again after errors that may go away. It sends
// requests only where a [Policy] allows.
//
// It does not know the answers of registries and the use of packages. Start at [Client] and [Discovery].
package hosts
