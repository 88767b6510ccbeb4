// Package redacting removes secrets from texts. It searches for their values, in every form in which a text may
// have them:
//
//   - quoted once or several times, or escaped for JSON, HTML or a URL
//   - in base64 or hexadecimal
//   - on lines that are indented, wrapped, numbered or marked as a diff
//   - with invisible characters in between
//   - numbers in any spelling
//
// The package searches the finished text. Lockstep itself never writes values that it knows to be secret. The
// secrets that this package removes come from elsewhere: a provider's error, a line of source, an attribute
// that no schema marks as sensitive. Only their text is available.
//
// Forms can be combined, so the package does not search for each form. It reduces both the secret and the text
// to visible characters without blank space, and decodes the text as long as it has escapes. Each step keeps
// the position of each character in the original text. A secret found in any step is removed from the original
// text. The time is proportional to the length of the text, and does not grow with the number of secrets: see
// index.go.
//
// The package does not know which values are secret, where texts go, or what a plan is. Start at secrets.go.
package redacting
