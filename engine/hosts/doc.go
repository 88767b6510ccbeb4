// Package hosts talks to the hosts that things are installed from: it discovers their
// services, gets documents and packages, tries again where that may help, and goes
// only where a [Policy] allows.
//
// It refuses to know the answers of registries and the use of packages. Start at
// [Client] and [Discovery].
package hosts
