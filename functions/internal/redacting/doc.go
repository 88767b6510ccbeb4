// Package redacting removes secrets from texts, by value, in whatever form a text has them: quoted
// once or more often, escaped for JSON, HTML or a URL, in base64 or hexadecimal, on lines that are
// indented, wrapped, numbered or marked as a diff, with invisible characters in between, and
// numbers in any spelling.
//
// It searches texts, and not the values before they are written. Values that are known to be secret
// are not written in the first place; the secrets that this package removes come from elsewhere,
// from a provider's error, a line of source, an attribute that no schema marks, and none of these
// is a value any more.
//
// It does not search for each form by itself, since forms can be combined. It reduces both the
// secret and the text to visible characters without blank space, and decodes the text as long as it
// has escapes; each step remembers the origin of its characters in the text. A secret found in any
// step is removed from the text. The work is linear in the text, and does not grow with the number
// of secrets: see index.go.
//
// It refuses to know which values are secret, where texts go, and plans. Start at secrets.go.
package redacting
