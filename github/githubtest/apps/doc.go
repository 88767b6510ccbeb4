// Package apps is a GitHub App's identity: its key, the proof of it by a JSON web token, and the
// tokens of its installations, with their repositories, permissions and end. It refuses to
// know what a repository is, beyond its number and its name. Start at [App].
package apps
