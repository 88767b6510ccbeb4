// Package apps has the identity of a GitHub App in a fake GitHub: its key, the check of its JSON web tokens,
// and the tokens of its installations, with their repositories, permissions and end. It knows nothing of a
// repository except its ID and its name. Start at [App].
package apps
