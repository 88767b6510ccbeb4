// Package login obtains a token from a host: by OAuth's authorization code with a proof key, which
// comes back to a listener on this machine, or by a token that a person creates on a page of the
// host and types.
//
// It refuses to know terminals, browsers and the place for tokens. Start at [Find].
//
// Source: https://developer.hashicorp.com/terraform/internals/login-protocol
package login
